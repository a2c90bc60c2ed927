//! One game with a GTP program in it, under a referee of our own.

use std::time::{Duration, Instant};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tengen_analysis::{AnalysisError, Limits, ParallelSearch};
use tengen_inference::LeafEvaluator;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{Color, GameState, Move, Outcome};
use tengen_search::{SearchConfig, Tree, choose_move, run_search};

use crate::game::{stones, thought};
use crate::opening::stream;
use crate::program::Reply;
use crate::{Program, ProgramFault, Slot};

/// Who sits at the board.
pub enum Seat<'a> {
    /// Our search on an evaluator, one thread, by visits.
    Search(&'a mut dyn LeafEvaluator),
    /// Our search on many threads, by the clock: its games differ from run to run.
    Clock {
        /// The threads.
        threads: &'a mut ParallelSearch,
        /// For each move.
        time: Duration,
    },
    /// A foreign program.
    Program(&'a mut Program),
}

/// What a duel is played by.
#[derive(Clone, Debug)]
pub struct DuelPlan<'a> {
    /// The first position.
    pub start: &'a GameState,
    /// Moves both sides find on the board.
    pub opening: &'a [Move],
    /// Our search, its visits included.
    pub search: &'a SearchConfig,
    /// The game is scored as it stands after so many moves.
    pub max_moves: usize,
    /// The seed of the match.
    pub seed: u64,
    /// For the record: the candidate's name and the base's.
    pub names: [String; 2],
}

/// A game that came to an end, or to a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// The game; after a fault its end is [`EndReason::Forfeit`] and it has no result.
    pub record: GameRecord,
    /// What went wrong, if something did.
    pub fault: Option<ProgramFault>,
    /// Seconds that the candidate and the base thought.
    pub seconds: [f64; 2],
    /// Moves that they chose; those of the opening are nobody's.
    pub moves: [u32; 2],
}

/// Plays `slot` of a match: `seats[0]` is the candidate, Black where the slot's colour is 0.
///
/// The referee is the rules crate: an illegal move is a fault and loses nothing for the other side
/// either, a resignation is a loss, two passes are scored by area. Then each program is asked who
/// won; if it disagrees the game is disputed and has no result. A broken program is a
/// [`fault`](Duel::fault), never a win.
///
/// # Errors
/// The search's: those are ours to mend, not the opponent's fault.
pub fn duel(plan: &DuelPlan<'_>, slot: Slot, seats: [Seat<'_>; 2]) -> Result<Duel, AnalysisError> {
    let mut game = DuelGame {
        state: plan.start.clone(),
        turns: Vec::new(),
        seats,
        rng: stream(plan.seed, u64::from(slot.0) << 1 | u64::from(slot.1)),
        candidate: if slot.1 == 0 { Color::Black } else { Color::White },
        seconds: [0.0; 2],
        moves: [0; 2],
    };
    let ended = game.play(plan)?;
    let (end, outcome, fault) = match ended {
        Ok((end, outcome)) => (end, outcome, None),
        Err(fault) => (EndReason::Forfeit, Outcome::NoResult, Some(fault)),
    };
    let [ours, theirs] = plan.names.clone();
    let black_is_candidate = game.candidate == Color::Black;
    let record = GameRecord {
        size: plan.start.size(),
        rules: plan.start.rules(),
        komi: plan.start.komi(),
        setup_black: stones(plan.start, Color::Black),
        setup_white: stones(plan.start, Color::White),
        first_to_play: plan.start.to_play(),
        seed: plan.seed,
        players: if black_is_candidate { [ours, theirs] } else { [theirs, ours] },
        config_digest: String::new(),
        turns: game.turns,
        outcome,
        end,
    };
    Ok(Duel { record, fault, seconds: game.seconds, moves: game.moves })
}

type Ended = Result<(EndReason, Outcome), ProgramFault>;

struct DuelGame<'a> {
    state: GameState,
    turns: Vec<Turn>,
    seats: [Seat<'a>; 2],
    rng: ChaCha8Rng,
    candidate: Color,
    seconds: [f64; 2],
    moves: [u32; 2],
}

impl DuelGame<'_> {
    fn play(&mut self, plan: &DuelPlan<'_>) -> Result<Ended, AnalysisError> {
        if let Err(fault) = self.open(plan) {
            return Ok(Err(fault));
        }
        while !self.state.is_over() {
            if self.turns.len() >= plan.max_moves {
                return Ok(Ok((EndReason::MoveLimit, self.state.score_now())));
            }
            let side = usize::from(self.state.to_play() != self.candidate);
            let began = Instant::now();
            let reply = self.ask(side, plan.search)?;
            self.seconds[side] += began.elapsed().as_secs_f64();
            self.moves[side] += 1;
            match reply {
                Ok((Reply::Move(mv), search)) => {
                    if let Err(fault) = self.make(side, mv, search) {
                        return Ok(Err(fault));
                    }
                }
                Ok((Reply::Resign, _)) => {
                    let winner = self.state.to_play().opponent();
                    return Ok(Ok((EndReason::Resignation, Outcome::Resignation { winner })));
                }
                Err(fault) => return Ok(Err(fault)),
            }
        }
        let outcome = self.state.score_now();
        for seat in &mut self.seats {
            if let Seat::Program(program) = seat
                && let Err(fault) = program.confirm(&outcome)
            {
                return Ok(Err(fault));
            }
        }
        Ok(Ok((EndReason::TwoPasses, outcome)))
    }

    /// Sets every program up and shows it the opening.
    fn open(&mut self, plan: &DuelPlan<'_>) -> Result<(), ProgramFault> {
        let seed = self.rng.random::<u64>();
        for seat in &mut self.seats {
            if let Seat::Program(program) = seat {
                program.new_game(plan.start, seed)?;
            }
        }
        for &mv in plan.opening {
            self.announce(None, mv)?;
            self.state.play(mv).expect("openings are legal from the start position");
            self.turns.push(Turn { mv, search: None });
        }
        Ok(())
    }

    /// A move of whoever sits at `side`.
    fn ask(
        &mut self,
        side: usize,
        search: &SearchConfig,
    ) -> Result<Result<(Reply, Option<SearchRecord>), ProgramFault>, AnalysisError> {
        let color = self.state.to_play();
        let tree = match &mut self.seats[side] {
            Seat::Program(program) => {
                return Ok(program.genmove(color, &self.state).map(|reply| (reply, None)));
            }
            Seat::Search(evaluator) => {
                let mut tree = Tree::new(self.state.clone(), search);
                run_search(&mut tree, &mut **evaluator, search.visits, &mut self.rng)?;
                tree
            }
            Seat::Clock { threads, time } => {
                let tree = Tree::new(self.state.clone(), search);
                let seed = self.rng.random();
                threads.start(tree, Limits::time(*time), seed);
                let tree = threads.wait()?;
                if tree.is_root_expanded() {
                    tree
                } else {
                    // So little time that nothing was seen: one look is the least to move by.
                    threads.start(tree, Limits::visits(1), seed);
                    threads.wait()?
                }
            }
        };
        let root = tree.root();
        let mv = self.state.size().move_at(choose_move(&root, 0.0, &mut self.rng));
        Ok(Ok((Reply::Move(mv), thought(&root, search))))
    }

    /// Makes a move that `side` chose, if the referee lets it, and tells the other side.
    fn make(
        &mut self,
        side: usize,
        mv: Move,
        search: Option<SearchRecord>,
    ) -> Result<(), ProgramFault> {
        if let Err(reason) = self.state.check(mv) {
            let command = match &self.seats[side] {
                Seat::Program(program) => program.command().to_owned(),
                Seat::Search(_) | Seat::Clock { .. } => String::from("tengen"),
            };
            return Err(ProgramFault::IllegalMove {
                command,
                vertex: self.state.size().vertex(mv),
                number: self.turns.len() + 1,
                reason: reason.to_string(),
            });
        }
        self.announce(Some(side), mv)?;
        self.state.play(mv).expect("checked above");
        self.turns.push(Turn { mv, search });
        Ok(())
    }

    /// Tells a move to the programs that did not choose it themselves.
    fn announce(&mut self, chooser: Option<usize>, mv: Move) -> Result<(), ProgramFault> {
        let (color, vertex) = (self.state.to_play(), self.state.size().vertex(mv));
        for (index, seat) in self.seats.iter_mut().enumerate() {
            if let Seat::Program(program) = seat
                && chooser != Some(index)
            {
                program.play(color, &vertex)?;
            }
        }
        Ok(())
    }
}
