//! Searches made again tell a game of the network that is named from one that is not.
#![allow(clippy::unwrap_used)]

mod common;

use common::plan;
use tengen_fleet::{Plan, Recheck, recheck};
use tengen_inference::{Evaluation, Leaf, LeafEvaluator, ScriptedEvaluator};
use tengen_record::GameRecord;
use tengen_rules::Value;
use tengen_search::SearchConfig;
use tengen_selfplay::play_game;

/// An evaluator with opinions of its own, which follow from `taste` and the moves so far.
fn opinionated(taste: u64) -> Box<dyn LeafEvaluator> {
    Box::new(ScriptedEvaluator::new(move |leaf: &Leaf<'_>| {
        let size = leaf.state.size();
        let legal = leaf.state.legal_moves();
        let liking = |action: usize| {
            let mixed = (action as u64 + 1).wrapping_mul(taste).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            1.0 + 8.0 * (mixed >> 40) as f32 / (1 << 24) as f32
        };
        let mut policy = vec![0.0; size.actions()];
        legal.iter().for_each(|action| policy[action] = liking(action));
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|prior| *prior /= sum);
        let value = if taste.is_multiple_of(2) { 0.4 } else { -0.4 };
        let black = leaf.state.to_play() == tengen_rules::Color::Black;
        Ok(Evaluation::new(policy, Value::new(if black { value } else { -value })))
    }))
}

/// Games of nine with a good many visits, as in earnest.
fn games(plan: &Plan, taste: u64) -> Vec<GameRecord> {
    let play = |seed| {
        let names = ["a".to_owned(), "a".to_owned()];
        let Plan { settings, selfplay, search, .. } = plan;
        play_game(&mut *opinionated(taste), selfplay, search, settings, seed, names).unwrap()
    };
    (0..6).map(play).collect()
}

fn mean(checks: &[Recheck]) -> (f64, f64) {
    let n = checks.len() as f64;
    let sum = |part: fn(&Recheck) -> f64| checks.iter().map(part).sum::<f64>() / n;
    (sum(|check| check.value_gap), sum(|check| check.policy_gap))
}

/// As honest games of Gumbel's root once were told of as doubtful, eight of nine.
#[test]
fn honest_games_of_gumbels_root_are_not_doubtful() {
    let mut plan = plan();
    plan.search = SearchConfig { visits: 16, gumbel: true, ..plan.search };
    plan.selfplay.full_search_fraction = 1.0;
    for game in games(&plan, 2) {
        let own = recheck(&game, &plan, &mut *opinionated(2), 8).unwrap();
        let other = recheck(&game, &plan, &mut *opinionated(7), 8).unwrap();
        assert!(own.value_gap < 0.3 && own.policy_gap == 0.0, "{own:?}");
        assert!(other.value_gap > 0.3, "{other:?}");
    }
}

#[test]
fn the_named_network_agrees_with_its_game_and_another_does_not() {
    let mut plan = plan();
    plan.search = SearchConfig { visits: 64, ..plan.search };
    plan.selfplay.full_search_fraction = 0.5;
    let games = games(&plan, 2);
    let against = |taste| {
        let look = |game| recheck(game, &plan, &mut *opinionated(taste), 8).unwrap();
        games.iter().map(look).filter(|check| check.positions > 0).collect::<Vec<_>>()
    };
    let (own, other) = (mean(&against(2)), mean(&against(7)));
    println!("value and policy: own {own:?}, other {other:?}");
    assert!(own.0 < 0.15 && own.1 < 0.5, "{own:?}");
    assert!(other.0 > 2.0 * own.0 && other.1 > own.1, "{own:?} {other:?}");
    let all = against(2);
    assert!(all.iter().all(|check| check.positions <= 8));
}
