//! The engine: its parts, and the loop around its commands.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use tengen_analysis::{AnalysisError, ParallelSearch};
use tengen_inference::LeafEvaluator;
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};
use tengen_search::{SearchConfig, Tree};

use crate::clock::Clock;
use crate::commands::{Handler, handler};
use crate::error::GtpError;
use crate::game::Game;
use crate::line::Line;
use crate::live::{Collected, Console, Input, Live};
use crate::searcher::Searcher;

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
    /// Seed of every draw; the same lines get the same answers while no clock runs, nothing is
    /// pondered and one thread searches.
    pub seed: u64,
    /// Resign when the win rate after the search is below this, in 0 to 1, for
    /// [`resign_turns`](Self::resign_turns) turns. `None` (default): never, because the value of a
    /// young network is no ground for giving up. AlphaGo resigned below 0.1.
    pub resign_below: Option<f32>,
    /// Own turns in a row that must look lost before resigning. Default 3.
    pub resign_turns: u32,
    /// Think on the opponent's time. Default false.
    pub ponder: bool,
    /// Random games behind each move's score in analysis, and four times as many behind the
    /// position's, where the network has no heads for score and ownership; 0 leaves both out.
    /// Default 16.
    pub score_games: u32,
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
            resign_turns: 3,
            ponder: false,
            score_games: 16,
        }
    }
}

/// A GTP engine: feed it lines, it gives answers.
pub struct Engine {
    pub(crate) searcher: Searcher,
    pub(crate) search: SearchConfig,
    pub(crate) info: EngineInfo,
    pub(crate) game: Game,
    pub(crate) clock: Clock,
    /// What the last search found, for as long as its position is the game's.
    pub(crate) tree: Option<Tree>,
    /// Searches made so far: each has a seed of its own.
    pub(crate) searches: u64,
    /// Turns in a row that looked lost, by colour.
    pub(crate) lost_turns: [u32; 2],
    /// The most time for a move, whatever the clock says.
    pub(crate) max_time: Option<Duration>,
    /// Time spent on generating moves.
    pub(crate) thought: Duration,
    /// Whether the last command leaves something to ponder.
    pub(crate) may_ponder: bool,
    pub(crate) done: bool,
}

impl Engine {
    /// An engine that thinks with `evaluator` and plays by `info` until told otherwise.
    pub fn new(evaluator: Box<dyn LeafEvaluator>, search: SearchConfig, info: EngineInfo) -> Self {
        Engine {
            searcher: Searcher { evaluator, threads: None },
            search,
            game: Game::new(info.size, info.rules, info.komi),
            info,
            clock: Clock::default(),
            tree: None,
            searches: 0,
            lost_turns: [0; 2],
            max_time: None,
            thought: Duration::ZERO,
            may_ponder: false,
            done: false,
        }
    }

    /// Lets a thread for each of `evaluators` search, all on one tree; that of [`new`](Self::new)
    /// then only answers what is asked of the network itself. Which thread comes first is the
    /// machine's affair: two searches of a position may differ.
    ///
    /// # Errors
    /// Without an evaluator, and where the system gives no threads.
    pub fn with_threads(
        mut self,
        evaluators: Vec<Box<dyn LeafEvaluator>>,
    ) -> Result<Engine, AnalysisError> {
        // Each thread selects what it evaluates itself.
        self.searcher.threads = Some(ParallelSearch::new(evaluators, 0)?);
        Ok(self)
    }

    /// The answer to one line, its terminating empty line included; `None` for a line without a
    /// command. Analysis without an end runs for as many visits as a move gets.
    pub fn handle(&mut self, line: &str) -> Option<String> {
        let mut collected = Collected::default();
        let rest = self.answer(line, &mut collected)?;
        Some(collected.0 + &rest)
    }

    /// Answers line by line, flushing each answer, until `quit` or the end of the input. A thread
    /// reads ahead, so that analysis and pondering stop as soon as a line comes.
    ///
    /// # Errors
    /// When reading or writing fails; a controller that closes its end is a normal end.
    pub fn run(
        &mut self,
        reader: impl BufRead + Send + 'static,
        mut writer: impl Write,
    ) -> io::Result<()> {
        let mut input = Input::read(reader);
        while !self.done {
            let mut console = Console { input: &mut input, writer: &mut writer, failed: None };
            self.ponder(&mut console);
            let Some(bytes) = console.input.next()? else { break };
            // A line that is no UTF-8 is still a line: it gets its answer.
            let line = String::from_utf8_lossy(&bytes);
            if let Some(answer) = self.answer(&line, &mut console) {
                console.send(&answer);
            }
            match console.failed {
                Some(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                Some(error) => return Err(error),
                None => {}
            }
        }
        Ok(())
    }

    /// What is still to be sent when a line has been dealt with.
    fn answer(&mut self, line: &str, live: &mut dyn Live) -> Option<String> {
        let line = Line::parse(line)?;
        self.may_ponder = false;
        match handler(&line.name) {
            Some(Handler::Plain(handle)) => Some(line.answer(&handle(self, &line.args))),
            Some(Handler::Live(handle)) => {
                let mut session = Session { live, id: &line.id, begun: false };
                let result = handle(self, &line.args, &mut session);
                match (session.begun, result) {
                    (false, result) => Some(line.answer(&result)),
                    (true, Ok(last)) if last.is_empty() => Some("\n".to_owned()),
                    (true, Ok(last)) => Some(format!("{last}\n\n")),
                    // The `=` is out already; the text can't be taken for a move.
                    (true, Err(error)) => Some(format!("error {error}\n\n")),
                }
            }
            None => Some(line.answer::<GtpError>(&Err(GtpError::UnknownCommand))),
        }
    }

    /// Whether `quit` was answered.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The position reached.
    pub fn state(&self) -> &GameState {
        self.game.state()
    }
}

/// A running command's way to its controller: an answer may come in several lines over time.
pub(crate) struct Session<'a> {
    pub live: &'a mut dyn Live,
    id: &'a str,
    begun: bool,
}

impl Session<'_> {
    /// Opens the answer, before its first line.
    pub fn begin(&mut self) {
        self.live.send(&format!("={}\n", self.id));
        self.begun = true;
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
