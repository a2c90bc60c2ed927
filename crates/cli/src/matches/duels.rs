//! Matches whose games are played one by one, with a GTP program in them or by the clock: each
//! thread has its own players and plays its own pairs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use tengen_analysis::ParallelSearch;
use tengen_evaluator::{DuelPlan, Program, Seat, draw_openings, duel};
use tengen_inference::LeafEvaluator;
use tengen_rules::Move;
use tengen_search::SearchConfig;

use super::contender::{Contender, opening_evaluators};
use super::folder::StoredGame;
use crate::parts::gate::MatchPlan;
use crate::stop::Stop;

/// Games in a row without a result after which a match is given up.
const MAX_FAULTS_IN_A_ROW: u32 = 5;

/// Plays the slots that are not in `done`, like [`crate::parts::gate::play_with_book`]; `limit` is
/// a program's time for one answer.
#[allow(clippy::too_many_arguments, reason = "one call, from the command that has them all")]
pub fn play(
    plan: &MatchPlan<'_>,
    a: &Contender,
    b: &Contender,
    book: &[Vec<Move>],
    done: &[(u32, u8)],
    limit: Duration,
    stop: &Stop,
    on_game: &mut dyn FnMut(StoredGame) -> Result<ControlFlow<()>>,
) -> Result<()> {
    // Players that think by the clock must not wait for each other's cores.
    let wanted = if plan.clock.is_some() { 1 } else { plan.threads };
    let threads = wanted.clamp(1, plan.gate.pairs.max(1) as usize) as u32;
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<StoredGame>();
        let mut workers = Vec::new();
        for thread in 0..threads {
            let slots: Vec<(u32, u8)> = (0..plan.gate.pairs)
                .filter(|pair| pair % threads == thread)
                .flat_map(|pair| [(pair, 0), (pair, 1)])
                .filter(|slot| !(done.contains(slot) || plan.one_colour && slot.1 == 0))
                .collect();
            let (sender, ended) = (sender.clone(), &ended);
            workers.push(scope.spawn(move || -> Result<()> {
                let worker = thread as usize;
                let mut sides =
                    [Side::new(plan, a, 0, worker, limit)?, Side::new(plan, b, 1, worker, limit)?];
                let mut policies = opening_evaluators(a, b, worker)?;
                let mut faults = 0;
                for slot in slots {
                    if stop.now() || ended.load(Ordering::Relaxed) {
                        break;
                    }
                    let opening = opening(plan, &mut policies, book, slot.0)?;
                    let game = one_game(plan, slot, &opening, &mut sides, [a.name(), b.name()])?;
                    faults = if game.fault.is_some() { faults + 1 } else { 0 };
                    let last = game.fault.clone().unwrap_or_default();
                    if sender.send(game).is_err() {
                        break;
                    }
                    if faults >= MAX_FAULTS_IN_A_ROW {
                        ended.store(true, Ordering::Relaxed);
                        bail!("{faults} games in a row have no result; the last: {last}");
                    }
                }
                Ok(())
            }));
        }
        drop(sender);
        let mut result = Ok(());
        for game in receiver {
            // A game that ran on after the verdict is kept too: it was played.
            match on_game(game) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => ended.store(true, Ordering::Relaxed),
                Err(error) => {
                    ended.store(true, Ordering::Relaxed);
                    result = Err(error);
                }
            }
        }
        for worker in workers {
            worker.join().map_err(|_| anyhow!("a match thread panicked"))??;
        }
        result
    })
}

fn opening(
    plan: &MatchPlan<'_>,
    policies: &mut [Box<dyn LeafEvaluator>; 2],
    book: &[Vec<Move>],
    pair: u32,
) -> Result<Vec<Move>> {
    if !book.is_empty() {
        return Ok(book[pair as usize % book.len()].clone());
    }
    let [ours, theirs] = policies;
    let drawn =
        draw_openings(&mut **ours, &mut **theirs, plan.start, plan.gate, plan.seed, &[pair])?;
    Ok(drawn.into_iter().next().unwrap_or_default())
}

/// A seat of one thread: an evaluator, or a program that is started anew after a fault.
enum Side<'a> {
    House(Box<dyn LeafEvaluator>),
    Clock { threads: ParallelSearch, time: Duration },
    Program { command: &'a str, limit: Duration, running: Option<Program> },
}

impl<'a> Side<'a> {
    fn new(
        plan: &MatchPlan<'_>,
        contender: &'a Contender,
        side: usize,
        worker: usize,
        limit: Duration,
    ) -> Result<Side<'a>> {
        Ok(match (contender, plan.clock) {
            (Contender::House(player), None) => Side::House(player.evaluator_of(worker)?),
            (Contender::House(player), Some(clock)) => {
                let threads = clock.threads[side].max(1);
                // Each search takes the devices in turn for its own threads.
                let evaluators = (0..threads).map(|i| player.evaluator_of(worker * threads + i));
                let threads = ParallelSearch::new(evaluators.collect::<Result<_>>()?, 0)?;
                Side::Clock { threads, time: clock.time }
            }
            (Contender::Program(command), _) => Side::Program { command, limit, running: None },
        })
    }

    fn seat(&mut self, plan: &MatchPlan<'_>) -> Result<Seat<'_>> {
        Ok(match self {
            Side::House(evaluator) => Seat::Search(&mut **evaluator),
            Side::Clock { threads, time } => Seat::Clock { threads, time: *time },
            Side::Program { command, limit, running } => {
                let program = match running.take() {
                    Some(program) => program,
                    None => Program::start(command, plan.start.rules(), *limit)?,
                };
                Seat::Program(running.insert(program))
            }
        })
    }

    fn restart(&mut self) {
        if let Side::Program { running, .. } = self {
            *running = None;
        }
    }
}

fn one_game(
    plan: &MatchPlan<'_>,
    slot: (u32, u8),
    opening: &[Move],
    sides: &mut [Side<'_>; 2],
    names: [String; 2],
) -> Result<StoredGame> {
    // One of the two is a program, and has no visits of ours.
    let house = sides.iter().position(|side| matches!(side, Side::House(_))).unwrap_or(0);
    let search = SearchConfig {
        visits: plan.visits[house],
        dirichlet_fraction: 0.0,
        root_policy_temperature: 1.0,
        forced_playouts: 0.0,
        ..plan.search.clone()
    };
    let max_moves = (plan.start.size().area() as f64 * plan.gate.max_moves_factor).ceil() as usize;
    let duel_plan = DuelPlan {
        start: plan.start,
        opening,
        search: &search,
        max_moves: max_moves.max(1),
        seed: plan.seed,
        names,
    };
    let [first, second] = sides;
    let game = duel(&duel_plan, slot, [first.seat(plan)?, second.seat(plan)?])?;
    if game.fault.is_some() {
        sides.iter_mut().for_each(Side::restart);
    }
    Ok(StoredGame::of_duel(slot, game))
}
