//! Games from and to SGF files.

use tengen_record::sgf::parse_collection;

use crate::engine::Engine;
use crate::error::GtpError;

impl Engine {
    /// `loadsgf FILE [N]`: the first game's main line, up to before move N. Anything wrong leaves
    /// the present game as it is; nothing is read past an illegal move.
    pub(crate) fn loadsgf(&mut self, args: &[String]) -> Result<String, GtpError> {
        let (path, limit) = match args {
            [path] => (path, usize::MAX),
            [path, number] => {
                let number: usize = number.parse().map_err(|_| GtpError::Syntax)?;
                (path, number.saturating_sub(1))
            }
            _ => return Err(GtpError::Syntax),
        };
        let bytes = std::fs::read(path).map_err(|_| GtpError::Load)?;
        let first = parse_collection(&bytes).into_iter().next().ok_or(GtpError::Load)?;
        let file = first.map_err(|_| GtpError::Load)?;
        if let Some(moves) = file.late_setup().filter(|&moves| moves < limit) {
            return Err(GtpError::LoadGame(format!("stones are set up after move {moves}")));
        }
        self.game = self.game.load(&file, limit)?;
        Ok(String::new())
    }

    /// `printsgf [FILE]`: the game so far, as the answer or into a file.
    pub(crate) fn printsgf(&mut self, args: &[String]) -> Result<String, GtpError> {
        let text = self.game.to_sgf().to_text();
        match args {
            [] => Ok(text),
            [path] => {
                std::fs::write(path, text).map_err(|e| GtpError::Save(e.to_string()))?;
                Ok(String::new())
            }
            _ => Err(GtpError::Syntax),
        }
    }
}
