//! The engine: its parts, the table of its commands, and the loop around them.

use std::io::{self, BufRead, Write};

use tengen_inference::LeafEvaluator;
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};
use tengen_search::SearchConfig;

use crate::clock::Clock;
use crate::error::GtpError;
use crate::game::Game;
use crate::line::Line;

/// Who the engine is, and what it plays until told otherwise.
#[derive(Clone, Debug)]
pub struct EngineInfo {
    /// The answer to `name`.
    pub name: String,
    /// The answer to `version`: release and network.
    pub version: String,
    /// The board before the first `boardsize`.
    pub size: BoardSize,
    /// The rules before the first `kata-set-rules`.
    pub rules: Rules,
    /// The komi before the first `komi`.
    pub komi: Komi,
    /// Seed of every draw; the same lines get the same answers while no clock runs.
    pub seed: u64,
    /// Resign when the win rate after the search is below this, in 0 to 1. `None` (default): never,
    /// because the value of a young network is no ground for giving up. AlphaGo resigned below 0.1.
    pub resign_below: Option<f32>,
}

impl Default for EngineInfo {
    /// Tengen on 19×19 by Tromp–Taylor rules and 7.5 points komi.
    fn default() -> Self {
        EngineInfo {
            name: "Tengen".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            size: BoardSize::square(19).expect("19 is within 1 to 25"),
            rules: Rules::tromp_taylor(),
            komi: Komi::from_half_points(15).expect("7.5 is within 1000 points"),
            seed: 0,
            resign_below: None,
        }
    }
}

/// A GTP engine: feed it lines, it gives answers.
pub struct Engine {
    pub(crate) evaluator: Box<dyn LeafEvaluator>,
    pub(crate) search: SearchConfig,
    pub(crate) info: EngineInfo,
    pub(crate) game: Game,
    pub(crate) clock: Clock,
    /// Searches made so far: each has a seed of its own.
    pub(crate) searches: u64,
    done: bool,
}

type Handler = fn(&mut Engine, &[String]) -> Result<String, GtpError>;

/// Every command, sorted by name.
const COMMANDS: &[(&str, Handler)] = &[
    ("boardsize", Engine::boardsize),
    ("clear_board", Engine::clear_board),
    ("final_score", Engine::final_score),
    ("final_status_list", Engine::final_status_list),
    ("fixed_handicap", Engine::fixed_handicap),
    ("genmove", Engine::genmove),
    ("get_komi", Engine::get_komi),
    ("kata-get-rules", Engine::kata_get_rules),
    ("kata-set-rules", Engine::kata_set_rules),
    ("kgs-time_settings", Engine::kgs_time_settings),
    ("known_command", Engine::known_command),
    ("komi", Engine::komi),
    ("list_commands", Engine::list_commands),
    ("list_stones", Engine::list_stones),
    ("loadsgf", Engine::loadsgf),
    ("name", |engine, _| Ok(engine.info.name.clone())),
    ("place_free_handicap", Engine::place_free_handicap),
    ("play", Engine::play),
    ("printsgf", Engine::printsgf),
    ("protocol_version", |_, _| Ok("2".to_owned())),
    ("query_boardsize", Engine::query_boardsize),
    ("quit", Engine::quit),
    ("reg_genmove", Engine::reg_genmove),
    ("set_free_handicap", Engine::set_free_handicap),
    ("showboard", Engine::showboard),
    ("time_left", Engine::time_left),
    ("time_settings", Engine::time_settings),
    ("undo", Engine::undo),
    ("version", |engine, _| Ok(engine.info.version.clone())),
];

fn handler(name: &str) -> Option<Handler> {
    COMMANDS.iter().find(|(known, _)| *known == name).map(|&(_, handler)| handler)
}

impl Engine {
    /// An engine that thinks with `evaluator` and plays by `info` until told otherwise.
    pub fn new(evaluator: Box<dyn LeafEvaluator>, search: SearchConfig, info: EngineInfo) -> Self {
        let game = Game::new(info.size, info.rules, info.komi);
        let clock = Clock::default();
        Engine { evaluator, search, info, game, clock, searches: 0, done: false }
    }

    /// The answer to one line, its terminating empty line included; `None` for a line without a
    /// command.
    pub fn handle(&mut self, line: &str) -> Option<String> {
        let line = Line::parse(line)?;
        let result = match handler(&line.name) {
            Some(handler) => handler(self, &line.args),
            None => Err(GtpError::UnknownCommand),
        };
        Some(line.answer(&result))
    }

    /// Answers line by line, flushing each answer, until `quit` or the end of the input.
    ///
    /// # Errors
    /// When reading or writing fails; a controller that closes its end is a normal end.
    pub fn run(&mut self, mut reader: impl BufRead, mut writer: impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        while !self.done {
            bytes.clear();
            if reader.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            // A line that is no UTF-8 is still a line: it gets its answer.
            let Some(answer) = self.handle(&String::from_utf8_lossy(&bytes)) else { continue };
            match writer.write_all(answer.as_bytes()).and_then(|()| writer.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                written => written?,
            }
        }
        Ok(())
    }

    /// Whether `quit` was answered.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The position reached.
    pub fn state(&self) -> &GameState {
        self.game.state()
    }

    fn quit(&mut self, _: &[String]) -> Result<String, GtpError> {
        self.done = true;
        Ok(String::new())
    }

    fn known_command(&mut self, args: &[String]) -> Result<String, GtpError> {
        Ok(args.first().is_some_and(|name| handler(name).is_some()).to_string())
    }

    fn list_commands(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n"))
    }
}

/// A colour as GTP writes it, in either case.
pub(crate) fn color(text: &str) -> Result<Color, GtpError> {
    match text.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Color::Black),
        "w" | "white" => Ok(Color::White),
        _ => Err(GtpError::Color(text.chars().take(20).collect())),
    }
}
