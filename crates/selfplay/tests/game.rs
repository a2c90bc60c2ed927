//! Laws of a single self-play game.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use common::*;
use tengen_inference::{Evaluation, LeafEvaluator, ScriptedEvaluator, UniformEvaluator};
use tengen_record::{EndReason, GameRecord, decode, encode};
use tengen_rules::{Move, Outcome, Symmetry, Value};
use tengen_search::SearchConfig;
use tengen_selfplay::{SelfPlayConfig, play_game};

fn play(config: &SelfPlayConfig, search: &SearchConfig, seed: u64) -> GameRecord {
    play_game(&mut hashed(), config, search, &settings(4), seed, players()).unwrap()
}

#[test]
fn the_same_seed_and_evaluations_give_the_same_game() {
    for leaves_per_step in [1, 4] {
        let config = SelfPlayConfig { leaves_per_step, ..config() };
        let games: Vec<GameRecord> = (0..6).map(|s| play(&config, &search(), s)).collect();
        for (seed, game) in games.iter().enumerate() {
            assert_eq!(&play(&config, &search(), seed as u64), game);
        }
        assert!(games.windows(2).any(|pair| pair[0].turns != pair[1].turns), "seeds matter");
    }
}

#[test]
fn a_small_evaluator_plays_the_same_game_in_more_calls() {
    let config = SelfPlayConfig { leaves_per_step: 4, ..config() };
    let mut narrow = hashed().with_max_batch(NonZeroUsize::new(3).unwrap());
    let game = play_game(&mut narrow, &config, &search(), &settings(4), 7, players()).unwrap();
    assert_eq!(game, play(&config, &search(), 7));
}

#[test]
fn every_record_validates_and_survives_the_codec() {
    for seed in 0..12 {
        let config = SelfPlayConfig {
            opening_policy_moves: 3,
            leaves_per_step: 1 + seed as usize % 3,
            reuse_tree: seed % 2 == 0,
            ..config()
        };
        let game = play(&config, &search(), seed);
        game.validate().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(decode(&encode(&game)).unwrap(), game);
    }
    let mut uniform = UniformEvaluator;
    let evaluator: &mut dyn LeafEvaluator = &mut uniform;
    let game = play_game(evaluator, &config(), &search(), &settings(3), 1, players()).unwrap();
    game.validate().unwrap();
}

#[test]
fn only_full_searches_are_targets() {
    let config = SelfPlayConfig { reuse_tree: false, ..config() };
    let (mut full, mut cheap) = (0, 0);
    for seed in 0..10 {
        for turn in play(&config, &search(), seed).turns {
            let search = turn.search.expect("no opening moves here");
            let visits = if search.is_target { 12 } else { 4 };
            assert_eq!(search.visits, visits, "seed {seed}");
            let counted: u32 = search.policy.iter().map(|&(_, w)| u32::from(w)).sum();
            assert_eq!(counted, visits, "the target is the visits");
            *(if search.is_target { &mut full } else { &mut cheap }) += 1;
        }
    }
    let share = f64::from(full) / f64::from(full + cheap);
    assert!((0.15..0.35).contains(&share), "{full} of {}", full + cheap);
    let all = SelfPlayConfig { full_search_fraction: 1.0, ..config };
    let game = play(&all, &search(), 3);
    assert_eq!(game.positions(), game.turns.len());
}

#[test]
fn cheap_searches_have_no_noise() {
    // With noise as the only randomness, games without full searches are all the same.
    let still = SelfPlayConfig {
        full_search_fraction: f64::MIN_POSITIVE,
        temperature: 0.0,
        max_moves_factor: 1.0,
        ..config()
    };
    let first = play(&still, &search(), 1);
    assert!((2..6).all(|seed| play(&still, &search(), seed).turns == first.turns));
    let noisy = SelfPlayConfig { full_search_fraction: 1.0, ..still };
    let first = play(&noisy, &search(), 1);
    assert!((2..6).any(|seed| play(&noisy, &search(), seed).turns != first.turns));
}

/// The hashed opinion, as a network would give it: over the board as turned by the symmetry.
fn turning(seen: Arc<Mutex<[usize; 8]>>) -> ScriptedEvaluator {
    ScriptedEvaluator::new(move |leaf| {
        let own = opinion(leaf);
        let size = leaf.state.size();
        let mut logits = vec![-50.0; size.actions()];
        for (action, &prior) in own.policy.iter().enumerate() {
            logits[leaf.symmetry.apply_action(size, action)] = prior.max(1e-20).ln();
        }
        seen.lock().unwrap()[leaf.symmetry.index()] += 1;
        Evaluation::from_logits(leaf, &logits, own.value.get())
    })
}

#[test]
fn rotated_leaves_give_unrotated_policies() {
    let seen = Arc::new(Mutex::new([0; 8]));
    let config = SelfPlayConfig { temperature: 0.0, ..config() };
    let turned =
        play_game(&mut turning(seen.clone()), &config, &search(), &settings(4), 5, players())
            .unwrap();
    let seen = *seen.lock().unwrap();
    assert!(seen.iter().all(|&n| n > 0), "every symmetry is used: {seen:?}");
    // An evaluator that understands symmetries gives the same game as one that ignores them.
    assert_eq!(turned.turns, play(&config, &search(), 5).turns);
}

#[test]
fn symmetry_can_be_switched_off() {
    let config = SelfPlayConfig { symmetry: false, ..config() };
    let mut identity_only = ScriptedEvaluator::new(|leaf| {
        assert_eq!(leaf.symmetry, Symmetry::IDENTITY);
        Ok(opinion(leaf))
    });
    play_game(&mut identity_only, &config, &search(), &settings(4), 5, players()).unwrap();
}

#[test]
fn a_game_without_end_is_scored_at_the_move_limit() {
    let config = SelfPlayConfig { max_moves_factor: 0.5, ..config() };
    let mut limited = 0;
    for seed in 0..6 {
        let game = play(&config, &search(), seed);
        assert!(game.turns.len() <= 8);
        let last = game.validate().unwrap();
        if game.end == EndReason::MoveLimit {
            limited += 1;
            assert_eq!(game.turns.len(), 8);
            assert_eq!(game.outcome, last.score_now());
        }
    }
    assert!(limited > 0);
}

#[test]
fn the_loser_resigns_only_when_allowed() {
    // Black is always winning, by anyone's account.
    let black_wins = || {
        ScriptedEvaluator::new(|leaf| {
            let sign = if leaf.state.to_play().index() == 0 { 1.0 } else { -1.0 };
            Ok(Evaluation { value: Value::new(0.99 * sign), ..opinion(leaf) })
        })
    };
    let play = |config: &SelfPlayConfig, seed| {
        play_game(&mut black_wins(), config, &search(), &settings(5), seed, players()).unwrap()
    };
    let off = play(&config(), 1);
    assert_ne!(off.end, EndReason::Resignation);
    let on = SelfPlayConfig { resign: true, resign_disabled_fraction: 0.0, ..config() };
    let game = play(&SelfPlayConfig { resign_below: -0.5, ..on.clone() }, 1);
    assert_eq!(game.end, EndReason::Resignation);
    assert_eq!(game.outcome, Outcome::Resignation { winner: tengen_rules::Color::Black });
    assert_eq!(game.turns.len(), 5, "White's third search in a row, on move 6, gives up");
    game.validate().unwrap();
    let kept = SelfPlayConfig { resign_disabled_fraction: 1.0, resign_below: -0.5, ..on };
    assert_ne!(play(&kept, 1).end, EndReason::Resignation);
}

#[test]
fn opening_moves_come_from_the_raw_policy_without_a_search() {
    let config = SelfPlayConfig { opening_policy_moves: 4, ..config() };
    let openings: Vec<usize> = (0..30)
        .map(|seed| {
            let game = play(&config, &search(), seed);
            let opening = game.turns.iter().take_while(|t| t.search.is_none()).count();
            assert!(game.turns[opening..].iter().all(|t| t.search.is_some()));
            opening
        })
        .collect();
    assert!(openings.iter().all(|&n| n <= 4));
    assert!((0..=4).all(|n| openings.contains(&n)), "{openings:?}");
}

/// A 6×6 run once ended half of its games by pass, pass from the empty board: the opening drew the
/// pass, White's search answered rightly, and the network learned to pass on empty boards.
#[test]
fn an_opening_never_passes_however_much_the_network_wants_to() {
    let config = SelfPlayConfig { opening_policy_moves: 6, ..config() };
    for seed in 0..20 {
        let mut passer = ScriptedEvaluator::new(|leaf| {
            let mut answer = opinion(leaf);
            answer.policy.iter_mut().for_each(|p| *p *= 0.01);
            *answer.policy.last_mut().unwrap() += 0.99;
            Ok(answer)
        });
        let game =
            play_game(&mut passer, &config, &search(), &settings(4), seed, players()).unwrap();
        let opening = game.turns.iter().take_while(|turn| turn.search.is_none());
        assert!(opening.clone().all(|turn| turn.mv != Move::Pass), "seed {seed}");
        assert!(opening.count() <= 6);
    }
}

#[test]
fn a_gumbel_root_plays_games_that_validate_and_repeat() {
    for leaves_per_step in [1, 3] {
        let gumbel = SearchConfig { gumbel: true, gumbel_considered: 4, ..search() };
        let config = SelfPlayConfig {
            leaves_per_step,
            full_search_fraction: 0.5,
            cheap_visits: 1,
            ..config()
        };
        for seed in 0..4 {
            let game = play(&config, &gumbel, seed);
            game.validate().unwrap();
            assert_eq!(play(&config, &gumbel, seed), game);
        }
    }
}
