//! Whole matches on small boards, with evaluators that know who asks.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::collections::HashMap;
use std::ops::ControlFlow;
use tengen_evaluator::{GateConfig, MatchReport, MatchRunner, Slot, tally_prefix};
use tengen_inference::{EvalError, Evaluation, LeafEvaluator, ScriptedEvaluator, UniformEvaluator};
use tengen_record::{EndReason, GameRecord};
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules, Value};
use tengen_search::SearchConfig;

fn config() -> GateConfig {
    GateConfig {
        pairs: 3,
        visits: 6,
        opening_moves: 2,
        games_in_flight: 4,
        ..GateConfig::default()
    }
}

fn runner(config: &GateConfig, already: &[Slot]) -> MatchRunner {
    let size = BoardSize::square(3).unwrap();
    let komi = Komi::from_points(0.5).unwrap();
    let search = SearchConfig::default();
    let rules = Rules::tromp_taylor();
    let mut runner =
        MatchRunner::new(config, &search, &GameState::new(size, rules, komi), 7, already);
    runner.set_names("new", "old");
    runner
}

/// An evaluator that always wants to pass.
fn passer() -> impl LeafEvaluator {
    ScriptedEvaluator::new(|leaf| {
        let size = leaf.state.size();
        let mut policy = vec![0.0; size.actions()];
        policy[size.pass_action()] = 1.0;
        Ok(Evaluation::new(policy, Value::DRAW))
    })
}

type Games = HashMap<Slot, (f32, GameRecord)>;

fn play(
    runner: &mut MatchRunner,
    a: &mut dyn LeafEvaluator,
    b: &mut dyn LeafEvaluator,
) -> (MatchReport, Games) {
    let mut games = Games::new();
    let report = runner
        .run(a, b, &|| false, &mut |pair, colour, points, record| {
            record.validate().unwrap();
            assert!(games.insert((pair, colour), (points, record)).is_none(), "played twice");
            ControlFlow::Continue(())
        })
        .unwrap();
    (report, games)
}

#[test]
fn candidate_plays_both_colours_equally() {
    let config = config();
    let (report, games) =
        play(&mut runner(&config, &[]), &mut UniformEvaluator, &mut UniformEvaluator);
    assert!(report.complete);
    assert_eq!(games.len(), 6);
    for ((pair, colour), (points, record)) in &games {
        let candidate = if *colour == 0 { Color::Black } else { Color::White };
        assert_eq!(record.players[candidate.index()], "new");
        assert_eq!(record.players[candidate.opponent().index()], "old");
        let won = (record.outcome.value_for(candidate).get() + 1.0) / 2.0;
        assert_eq!(*points, won);
        let twin = &games[&(*pair, 1 - colour)].1;
        let opening = |r: &GameRecord| [r.turns[0].mv, r.turns[1].mv];
        assert_eq!(opening(record), opening(twin), "both games of a pair open alike");
        assert_eq!(record.positions(), 0, "match games are no training samples");
    }
    let as_black = games.keys().filter(|slot| slot.1 == 0).count();
    assert_eq!(as_black, 3);
}

#[test]
fn equal_evaluators_split_every_pair_whose_games_agree() {
    let (_, games) =
        play(&mut runner(&config(), &[]), &mut UniformEvaluator, &mut UniformEvaluator);
    for pair in 0..3 {
        let [(a, black), (b, white)] = [&games[&(pair, 0)], &games[&(pair, 1)]];
        // The nets are the same, so the games are: only the names change sides.
        if black.turns.iter().map(|t| t.mv).eq(white.turns.iter().map(|t| t.mv)) {
            assert_eq!(a + b, 1.0);
        }
    }
}

#[test]
fn each_side_is_asked_only_about_its_own_turns() {
    let config = GateConfig { opening_moves: 0, ..config() };
    let (report, games) = play(&mut runner(&config, &[]), &mut passer(), &mut UniformEvaluator);
    assert!(report.evaluations.iter().all(|&n| n > 0));
    for ((_, colour), (_, record)) in &games {
        let candidate = if *colour == 0 { Color::Black } else { Color::White };
        for (index, turn) in record.turns.iter().enumerate() {
            let policy = &turn.search.as_ref().unwrap().policy;
            if record.color_at(index) == candidate {
                let pass = record.size.pass_action() as u16;
                assert!(policy.iter().any(|&(action, _)| action == pass));
                assert_eq!(record.size.action(turn.mv), usize::from(pass), "the passer passes");
            }
        }
    }
}

#[test]
fn a_stopped_match_is_finished_later_by_the_same_games() {
    let config = config();
    let mut uniform = UniformEvaluator;
    let (_, whole) = play(&mut runner(&config, &[]), &mut uniform, &mut UniformEvaluator);
    let mut first = Games::new();
    let mut stopped = runner(&config, &[]);
    let report = stopped
        .run(&mut uniform, &mut UniformEvaluator, &|| false, &mut |pair, colour, points, record| {
            first.insert((pair, colour), (points, record));
            if first.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert!(!report.complete);
    assert_eq!(stopped.open_slots().len(), 4);
    let done: Vec<Slot> = first.keys().copied().collect();
    let other = GateConfig { games_in_flight: 1, ..config };
    let (report, rest) = play(&mut runner(&other, &done), &mut uniform, &mut UniformEvaluator);
    assert!(report.complete && rest.len() == 4);
    first.extend(rest);
    assert_eq!(first, whole);
    let results: Vec<_> = first.iter().map(|(s, (points, _))| (s.0, s.1, *points)).collect();
    assert_eq!(tally_prefix(&results).games(), 6);
}

#[test]
fn a_match_stops_when_asked_and_reports_errors() {
    let stopped = runner(&config(), &[])
        .run(&mut passer(), &mut passer(), &|| true, &mut |_, _, _, _| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(stopped, MatchReport::default());
    let mut broken = ScriptedEvaluator::new(|_| Err(EvalError::Backend("gone".to_owned())));
    let error = runner(&config(), &[])
        .run(&mut broken, &mut passer(), &|| false, &mut |_, _, _, _| ControlFlow::Continue(()))
        .unwrap_err();
    assert_eq!(error, EvalError::Backend("gone".to_owned()));
}

#[test]
fn endless_games_are_scored_at_the_move_limit() {
    let config = GateConfig { max_moves_factor: 0.5, opening_moves: 0, ..config() };
    let (_, games) = play(&mut runner(&config, &[]), &mut UniformEvaluator, &mut UniformEvaluator);
    for (_, record) in games.values() {
        assert!(record.turns.len() <= 5);
        assert!(record.end == EndReason::MoveLimit || record.turns.len() < 5);
    }
}
