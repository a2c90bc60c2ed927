//! What a target weighs, and who gives up when.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::*;
use tengen_inference::{Evaluation, ScriptedEvaluator};
use tengen_record::{EndReason, GameRecord, SearchRecord};
use tengen_rules::{Color, Value};
use tengen_selfplay::{
    Conditions, GameDefinition, ResignStudy, SelfPlayConfig, game_seed, play_game, play_under,
};

fn play(evaluator: &mut ScriptedEvaluator, config: &SelfPlayConfig, seed: u64) -> GameRecord {
    play_game(evaluator, config, &search(), &settings(4), seed, players()).unwrap()
}

fn targets(game: &GameRecord) -> Vec<&SearchRecord> {
    game.turns.iter().filter_map(|t| t.search.as_ref()).filter(|s| s.is_target).collect()
}

/// Black wins by this much in everybody's eyes.
fn black_ahead(by: f32) -> ScriptedEvaluator {
    ScriptedEvaluator::new(move |leaf| {
        let sign = if leaf.state.to_play() == Color::Black { 1.0 } else { -1.0 };
        Ok(Evaluation { value: Value::new(by * sign), ..opinion(leaf) })
    })
}

#[test]
fn surprise_moves_weight_between_the_targets_of_a_game_and_nothing_else() {
    let all = SelfPlayConfig { full_search_fraction: 1.0, ..config() };
    let weighed = SelfPlayConfig { surprise_weight: 0.5, ..all.clone() };
    for seed in 0..6 {
        let (plain, game) = (play(&mut hashed(), &all, seed), play(&mut hashed(), &weighed, seed));
        game.validate().unwrap();
        let weights: Vec<f32> = targets(&game).iter().map(|s| s.weight).collect();
        let sum: f32 = weights.iter().sum();
        assert!((sum - weights.len() as f32).abs() < 1e-3, "{sum} of {}", weights.len());
        assert!(weights.iter().all(|&w| w >= 0.5), "half is shared evenly: {weights:?}");
        assert!(weights.iter().any(|&w| w > 1.05) && weights.iter().any(|&w| w < 0.95));
        let mut levelled = game.clone();
        let searches = levelled.turns.iter_mut().filter_map(|t| t.search.as_mut());
        searches.for_each(|s| s.weight = 1.0);
        assert_eq!(levelled, plain, "the moves and all else are the same");
    }
}

#[test]
fn a_game_as_good_as_decided_is_played_on_cheaply_to_its_true_end() {
    let config = SelfPlayConfig {
        full_search_fraction: 1.0,
        reuse_tree: false,
        soft_resign: true,
        soft_resign_turns: 4,
        ..config()
    };
    let game = play(&mut black_ahead(0.999), &config, 1);
    game.validate().unwrap();
    assert_ne!(game.end, EndReason::Resignation);
    let found = targets(&game);
    assert!(found.len() > 8);
    for (turn, search) in found.iter().enumerate() {
        match turn {
            0..4 => assert_eq!((search.visits, search.weight), (12, 1.0), "turn {turn}"),
            _ if search.root_value.abs() > 0.99 => {
                assert!(search.visits < 12, "turn {turn}: {search:?}");
                assert!(search.weight < 0.5, "turn {turn}: {search:?}");
            }
            // Finished games near the root may speak for the side that is behind.
            _ => {}
        }
    }
    assert!(found.iter().any(|s| s.visits <= 5 && s.weight < 0.2), "{found:?}");
    let even = play(&mut black_ahead(0.5), &config, 1);
    assert!(targets(&even).iter().filter(|s| s.root_value.abs() < 0.9).all(|s| s.visits == 12));
}

/// minigo#966: all games of a process once shared one draw.
#[test]
fn playing_on_regardless_is_drawn_for_each_game_by_itself() {
    let all = SelfPlayConfig { resign: true, resign_disabled_fraction: 0.0, ..config() };
    let most = SelfPlayConfig { resign_disabled_fraction: 0.1, ..all.clone() };
    let (mut resigned, mut played_on) = (0, 0);
    for counter in 0..300 {
        let seed = game_seed(5, counter);
        let [all, most] = [&all, &most].map(|config| play(&mut black_ahead(0.99), config, seed));
        if all.end == EndReason::Resignation {
            resigned += 1;
            played_on += u32::from(most.end != EndReason::Resignation);
        }
        assert_eq!(most.turns[..all.turns.len()], all.turns, "the same game until then");
    }
    assert!(resigned > 150, "{resigned}");
    let share = f64::from(played_on) / f64::from(resigned);
    assert!((0.05..0.16).contains(&share), "about a tenth: {played_on} of {resigned}");
}

/// leela-zero#397: games that should have been won were resigned because an immature network said
/// so. Here Black is called lost at each turn and wins half of the games.
#[test]
fn false_resignations_are_measured_and_move_the_threshold() {
    let config = SelfPlayConfig {
        resign: true,
        resign_disabled_fraction: 0.5,
        resign_false_positives: 0.05,
        ..config()
    };
    let mut study = ResignStudy::new(&config);
    assert_eq!(study.threshold(), None, "nobody resigns uncalibrated");
    let game = GameDefinition::new(&config, &search(), &settings(4));
    let game = Arc::new(game.under(Conditions::default()).unwrap());
    for counter in 0..300 {
        let seed = game_seed(6, counter);
        let record =
            play_under(&mut black_ahead(-0.97), Arc::clone(&game), seed, players()).unwrap();
        assert_ne!(record.end, EndReason::Resignation);
        study.add(&record);
    }
    let report = study.report();
    assert!((120..180).contains(&report.measured_games), "half are measured: {report:?}");
    assert!(report.false_positives * 20 <= report.measured_games, "{report:?}");
    // With the threshold left at -0.9, many would have been given up by their winner.
    let fixed = SelfPlayConfig { resign_false_positives: 0.0, ..config.clone() };
    let mut unmoved = ResignStudy::new(&fixed);
    for counter in 0..300 {
        let seed = game_seed(6, counter);
        unmoved.add(&play(
            &mut black_ahead(-0.97),
            &SelfPlayConfig { resign_disabled_fraction: 1.0, ..fixed.clone() },
            seed,
        ));
    }
    let unmoved = unmoved.report();
    assert_eq!(unmoved.threshold, Some(-0.9));
    assert!(unmoved.false_positives > report.false_positives, "{unmoved:?} {report:?}");
}
