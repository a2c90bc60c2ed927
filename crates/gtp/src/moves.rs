//! Moves: played, thought of, taken back.

use tengen_rules::Move;

use crate::engine::{Engine, Session, color};
use crate::error::GtpError;
use crate::think::{Decision, Wish};

impl Engine {
    pub(crate) fn play(&mut self, args: &[String]) -> Result<String, GtpError> {
        let [who, vertex] = args else { return Err(GtpError::Syntax) };
        let (who, mv) = (color(who)?, self.game.size.parse_vertex(vertex)?);
        let before = self.game.state_for(who)?;
        self.game.play(who, mv)?;
        self.follow(&before, mv);
        self.may_ponder = true;
        Ok(String::new())
    }

    pub(crate) fn undo(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.game.undo()?;
        Ok(String::new())
    }

    /// GNU Go's undo of several moves: all of them, or none.
    pub(crate) fn gg_undo(&mut self, args: &[String]) -> Result<String, GtpError> {
        let count = match args {
            [] => 1,
            [count] => count.parse::<usize>().map_err(|_| GtpError::Syntax)?,
            _ => return Err(GtpError::Syntax),
        };
        if count > self.game.moves().len() {
            return Err(GtpError::Undo);
        }
        (0..count).try_for_each(|_| self.game.undo())?;
        Ok(String::new())
    }

    pub(crate) fn genmove(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.move_and_play(args, Wish::default(), session)
    }

    /// `genmove` that goes on taking dead stones instead of passing.
    pub(crate) fn kgs_genmove_cleanup(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.move_and_play(args, Wish { cleanup: true, ..Wish::default() }, session)
    }

    /// `genmove` for regression tests: the board stays as it is.
    pub(crate) fn reg_genmove(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.search_only(args, Wish::default(), session)
    }

    /// The same under KataGo's name; its colour may be left out.
    pub(crate) fn kata_search(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.search_only(&self.with_color(args), Wish::default(), session)
    }

    /// The same, given up as soon as a line comes.
    pub(crate) fn kata_search_cancellable(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let wish = Wish { cancellable: true, ..Wish::default() };
        self.search_only(&self.with_color(args), wish, session)
    }

    fn with_color(&self, args: &[String]) -> Vec<String> {
        let to_play = || self.state().to_play().letter().to_string();
        if args.is_empty() { vec![to_play()] } else { args.to_vec() }
    }

    fn move_and_play(
        &mut self,
        args: &[String],
        wish: Wish,
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let who = color(who)?;
        let decision = self.think(who, wish, session, &mut |_, _, _| {})?;
        self.make(who, &decision)?;
        Ok(self.word(&decision))
    }

    fn search_only(
        &mut self,
        args: &[String],
        wish: Wish,
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let [who] = args else { return Err(GtpError::Syntax) };
        let decision = self.think(color(who)?, wish, session, &mut |_, _, _| {})?;
        Ok(self.word(&decision))
    }

    /// Plays what was decided.
    pub(crate) fn make(
        &mut self,
        who: tengen_rules::Color,
        decision: &Decision,
    ) -> Result<(), GtpError> {
        let Decision::Move(mv) = *decision else { return Ok(()) };
        let before = self.game.state_for(who)?;
        self.game.play(who, mv)?;
        self.follow(&before, mv);
        self.may_ponder = true;
        Ok(())
    }

    /// A decision as an answer.
    pub(crate) fn word(&self, decision: &Decision) -> String {
        match *decision {
            Decision::Resign => "resign".to_owned(),
            Decision::Cancelled => "cancelled".to_owned(),
            Decision::Move(mv) => self.game.size.vertex(mv),
        }
    }

    /// `gogui-play_sequence B C3 W D4 …`: all of the moves, or none.
    pub(crate) fn gogui_play_sequence(&mut self, args: &[String]) -> Result<String, GtpError> {
        let mut game = self.game.clone();
        for (who, mv) in self.pairs(args)? {
            game.play(who, mv)?;
        }
        self.game = game;
        Ok(String::new())
    }

    /// Colour and vertex, over and over.
    pub(crate) fn pairs(
        &self,
        args: &[String],
    ) -> Result<Vec<(tengen_rules::Color, Move)>, GtpError> {
        if !args.len().is_multiple_of(2) {
            return Err(GtpError::Syntax);
        }
        let pair = |pair: &[String]| Ok((color(&pair[0])?, self.game.size.parse_vertex(&pair[1])?));
        args.chunks(2).map(pair).collect()
    }
}
