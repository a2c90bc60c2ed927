//! What a game's end and its later searches say about a position, by hand.

#![allow(clippy::unwrap_used)]

mod common;

use common::{play, random_record};
use tengen_features::{FeatureSet, GameLabels, Sample, sample_at, samples_of};
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Outcome, Rules, Symmetry};

/// 3×3, Black down the middle and White down the left: each move but the fourth a search that
/// is sure of one action.
fn walls() -> GameRecord {
    let size = BoardSize::square(3).unwrap();
    let mut state = GameState::new(size, Rules::tromp_taylor(), Komi::from_points(0.5).unwrap());
    let mut turns = Vec::new();
    for (index, vertex) in "B3 A3 B2 A2 B1 A1 pass pass".split_whitespace().enumerate() {
        let mv = size.parse_vertex(vertex).unwrap();
        let search = SearchRecord {
            policy: vec![(size.action(mv) as u16, 9)],
            root_value: 0.5,
            visits: 9,
            is_target: true,
            weight: 1.0,
        };
        turns.push(Turn { mv, search: (index != 3).then_some(search) });
        play(&mut state, vertex);
    }
    GameRecord {
        turns,
        outcome: state.outcome().unwrap(),
        end: EndReason::TwoPasses,
        ..GameRecord { komi: state.komi(), size, ..random_record(3, 3, 0, 1) }
    }
}

#[test]
fn ownership_and_score_are_the_players_to_move() {
    let record = walls();
    let mut state = record.initial_state().unwrap();
    record.turns.iter().for_each(|turn| state.play(turn.mv).unwrap());
    let sheet = tengen_rules::score_position(&state, record.rules, record.komi, 0, &[]);
    let lead = sheet.black_lead_half_points() as f32 / 2.0;
    for sample in samples_of(FeatureSet::Agz, &record).unwrap() {
        let sign = if sample.planes[16 * 9] == 1.0 { 1.0 } else { -1.0 };
        assert_eq!(sample.score, Some(sign * lead));
        assert_eq!(sample.value, (sign * lead).signum());
        for (point, owner) in sample.ownership.unwrap().into_iter().enumerate() {
            let black = match sheet.owner[point] {
                Some(Color::Black) => 1.0,
                Some(Color::White) => -1.0,
                None => 0.0,
            };
            assert_eq!(owner, sign * black, "point {point}");
        }
    }
}

#[test]
fn no_label_is_invented_for_a_board_that_was_not_counted() {
    let counted = walls();
    let score = |record: &GameRecord| GameLabels::of(record).unwrap().score(Color::Black);
    assert!(score(&counted).is_some());
    let winner = Color::Black;
    for (end, outcome) in [
        (EndReason::Resignation, Outcome::Resignation { winner }),
        (EndReason::Time, Outcome::Time { winner }),
        (EndReason::Forfeit, Outcome::Forfeit { winner }),
        (EndReason::MoveLimit, Outcome::NoResult),
        (EndReason::Reported, counted.outcome),
        // A result that the board does not come to.
        (EndReason::TwoPasses, Outcome::Score { winner, margin_half_points: 1 }),
    ] {
        let record = GameRecord { end, outcome, ..counted.clone() };
        assert_eq!(score(&record), None, "{end:?}");
        let samples = samples_of(FeatureSet::Agz, &record).unwrap();
        assert!(samples.iter().all(|s| s.ownership.is_none() && s.score.is_none()));
        assert_eq!(samples[0].short_term.is_none(), outcome == Outcome::NoResult);
    }
}

#[test]
fn the_opponents_policy_is_the_next_turns_search() {
    let record = walls();
    let samples = samples_of(FeatureSet::Agz, &record).unwrap();
    // Targets are turns 0, 1, 2, 4, 5, 6, 7; turn 3 was not searched and nothing follows turn 7.
    let next: Vec<Option<usize>> = samples
        .iter()
        .map(|s| s.opponent_policy.as_ref().map(|p| p.iter().position(|&x| x == 1.0).unwrap()))
        .collect();
    let action = |turn: usize| Some(record.size.action(record.turns[turn].mv));
    assert_eq!(next, [action(1), action(2), None, action(5), action(6), action(7), None]);
}

#[test]
fn short_term_values_by_hand() {
    let record = walls();
    let samples = samples_of(FeatureSet::Agz, &record).unwrap();
    let winner = record.outcome.winner().unwrap();
    // The last search, 0.5 for White; then the result.
    let last = samples.last().unwrap().short_term.unwrap();
    let result = if winner == Color::White { 1.0 } else { -1.0 };
    for (found, turns) in last.into_iter().zip([6.0, 16.0, 50.0]) {
        let now = 1.0 / (1.0 + turns * 9.0 / 361.0);
        assert!((found - (now * 0.5 + (1.0 - now) * result) as f32).abs() < 1e-6, "{last:?}");
    }
    // The one before sees Black's 0.5 first, then White's with the sign turned.
    let before = samples[samples.len() - 2].short_term.unwrap();
    for (found, later) in before.into_iter().zip(last).zip([6.0, 16.0, 50.0]).map(|((b, l), t)| {
        let now = 1.0 / (1.0 + t * 9.0 / 361.0);
        (b, (now * 0.5) as f32 - (1.0 - now) as f32 * l)
    }) {
        assert!((found - later).abs() < 1e-6);
    }
}

#[test]
fn labels_on_the_board_turn_with_the_planes() {
    let mut record = random_record(5, 5, 30, 4);
    let mut state = record.initial_state().unwrap();
    record.turns.iter().for_each(|turn| state.play(turn.mv).unwrap());
    (record.outcome, record.end) = (state.score_now(), EndReason::MoveLimit);
    let labels = GameLabels::of(&record).unwrap();
    let at = |target, symmetry| -> Sample {
        sample_at(FeatureSet::Agz, &record, &labels, target, symmetry).unwrap()
    };
    for target in 0..record.positions() {
        let plain = at(target, Symmetry::IDENTITY);
        for symmetry in Symmetry::all() {
            let turned = at(target, symmetry);
            assert_eq!((turned.score, turned.short_term), (plain.score, plain.short_term));
            let pairs = [(&turned.ownership, &plain.ownership)];
            for (turned, plain) in
                pairs.into_iter().chain([(&turned.opponent_policy, &plain.opponent_policy)])
            {
                let (Some(turned), Some(plain)) = (turned, plain) else {
                    assert_eq!(turned, plain);
                    continue;
                };
                for (action, &x) in plain.iter().enumerate() {
                    assert_eq!(turned[symmetry.apply_action(record.size, action)], x);
                }
            }
        }
    }
}
