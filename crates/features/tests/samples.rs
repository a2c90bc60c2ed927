//! Laws of a training sample.

#![allow(clippy::unwrap_used)]

mod common;

use common::random_record;
use tengen_features::{FeatureError, FeatureSet, GameLabels, Sample};
use tengen_record::GameRecord;
use tengen_rules::{Color, Outcome, Symmetry};

fn sample_at(
    record: &GameRecord,
    target: usize,
    symmetry: Symmetry,
) -> Result<Sample, FeatureError> {
    let labels = GameLabels::of(record).unwrap();
    tengen_features::sample_at(FeatureSet::Agz, record, &labels, target, symmetry)
}

fn samples_of(record: &GameRecord) -> Result<Vec<Sample>, FeatureError> {
    tengen_features::samples_of(FeatureSet::Agz, record)
}

#[test]
fn inputs_and_policy_rotate_together() {
    for (width, height, seed) in [(5, 5, 1), (9, 9, 2), (4, 6, 3)] {
        let record = random_record(width, height, 40, seed);
        let size = record.size;
        for target in 0..record.positions() {
            let plain = sample_at(&record, target, Symmetry::IDENTITY).unwrap();
            for symmetry in Symmetry::all().into_iter().filter(|s| s.valid_for(size)) {
                let turned = sample_at(&record, target, symmetry).unwrap();
                for action in 0..size.actions() {
                    let to = symmetry.apply_action(size, action);
                    assert_eq!(turned.policy[to], plain.policy[action]);
                    assert_eq!(turned.legal[to], plain.legal[action]);
                }
                for point in size.points() {
                    let to = symmetry.apply(size, point).index();
                    for plane in (0..17).map(|p| p * size.area()) {
                        assert_eq!(turned.planes[plane + to], plain.planes[plane + point.index()]);
                    }
                }
                assert_eq!((turned.value, turned.weight), (plain.value, plain.weight));
                never_points_at_a_stone(&turned, size.area());
            }
        }
    }
}

/// Under any one orientation, π lies on legal moves and legal moves on empty points.
fn never_points_at_a_stone(sample: &Sample, area: usize) {
    let sum: f32 = sample.policy.iter().sum();
    assert!((sum - 1.0).abs() < 1e-5, "π sums to {sum}");
    for point in 0..area {
        let stone = sample.planes[point] + sample.planes[8 * area + point];
        assert!(stone == 0.0 || sample.legal[point] == 0.0);
        assert!(sample.legal[point] == 1.0 || sample.policy[point] == 0.0);
    }
    assert_eq!(sample.legal[area], 1.0, "pass is legal until the game is over");
}

#[test]
fn value_sign_is_for_the_player_to_move() {
    let mut record = random_record(5, 5, 12, 7);
    for (winner, black_sees) in [(Color::Black, 1.0), (Color::White, -1.0)] {
        record.outcome = Outcome::Resignation { winner };
        for sample in samples_of(&record).unwrap() {
            let black_to_play = sample.planes[16 * 25] == 1.0;
            assert_eq!(sample.value, if black_to_play { black_sees } else { -black_sees });
        }
    }
    record.outcome = Outcome::Draw;
    assert!(samples_of(&record).unwrap().iter().all(|sample| sample.value == 0.0));
}

#[test]
fn no_plane_sees_the_future() {
    let long = random_record(6, 6, 30, 11);
    let whole = samples_of(&long).unwrap();
    for cut in 1..long.turns.len() {
        // The game as it stood before its turn `cut`, then that turn answered by a pass.
        let mut short = GameRecord { turns: long.turns[..=cut].to_vec(), ..long.clone() };
        short.turns[cut].mv = tengen_rules::Move::Pass;
        let seen = samples_of(&short).unwrap();
        for (seen, whole) in seen.iter().zip(&whole) {
            let inputs = |sample: &Sample| (sample.planes.clone(), sample.globals.clone());
            assert_eq!(inputs(seen), inputs(whole), "what came after turn {cut} shows before it");
            assert_eq!((&seen.policy, &seen.legal), (&whole.policy, &whole.legal));
        }
    }
}

#[test]
fn sample_at_and_samples_of_are_the_same_samples() {
    let record = random_record(7, 7, 33, 5);
    let all = samples_of(&record).unwrap();
    assert_eq!(all.len(), record.positions());
    for (index, sample) in all.iter().enumerate() {
        assert_eq!(*sample, sample_at(&record, index, Symmetry::IDENTITY).unwrap());
    }
    let past = sample_at(&record, all.len(), Symmetry::IDENTITY);
    assert_eq!(past, Err(FeatureError::NoSuchTarget { index: all.len(), targets: all.len() }));
}

#[test]
fn bad_policies_and_misshapen_symmetries_are_refused() {
    let mut record = random_record(4, 6, 9, 13);
    let quarter_turn = Symmetry::all().into_iter().find(|s| !s.valid_for(record.size)).unwrap();
    assert!(matches!(sample_at(&record, 0, quarter_turn), Err(FeatureError::Symmetry { .. })));
    for policy in [vec![], vec![(3, 0)], vec![(25, 1)], vec![(u16::MAX, 9)]] {
        record.turns[0].search.as_mut().unwrap().policy = policy;
        let refusal = sample_at(&record, 0, Symmetry::IDENTITY);
        assert!(matches!(refusal, Err(FeatureError::Policy { turn: 0, .. })), "{refusal:?}");
    }
}
