//! What the network sees, drawn.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Chance, empty, play};
use tengen_features::{FeatureSet, encode, encode_nhwc};
use tengen_rules::{Color, GameState, Komi, Rules, Symmetry};

fn planes_of(state: &GameState, symmetry: Symmetry) -> Vec<f32> {
    let mut planes = vec![f32::NAN; 17 * state.size().area()];
    encode(FeatureSet::Agz, state, symmetry, &mut planes);
    planes
}

/// One plane as rows of `#` (one) and `.` (zero).
fn draw(planes: &[f32], plane: usize, width: usize, height: usize) -> String {
    let area = width * height;
    planes[plane * area..][..area]
        .chunks(width)
        .map(|row| row.iter().map(|&x| if x == 1.0 { '#' } else { '.' }).collect::<String>())
        .collect::<Vec<_>>()
        .join("/")
}

#[test]
fn four_moves_around_the_centre() {
    let mut game = empty(5, 5);
    play(&mut game, "C3 C4 D4 B4");
    let planes = planes_of(&game, Symmetry::IDENTITY);
    let drawn: Vec<String> = (0..17).map(|p| draw(&planes, p, 5, 5)).collect();

    let nothing = "...../...../...../...../.....";
    let black_two = "...../...#./..#../...../.....";
    let black_one = "...../...../..#../...../.....";
    let white_two = "...../.##../...../...../.....";
    let white_one = "...../..#../...../...../.....";
    let own = [black_two, black_two, black_one, black_one, nothing, nothing, nothing, nothing];
    let theirs = [white_two, white_one, white_one, nothing, nothing, nothing, nothing, nothing];
    assert_eq!(drawn[..8], own);
    assert_eq!(drawn[8..16], theirs);
    assert_eq!(drawn[16], "#####/#####/#####/#####/#####", "Black to play");
}

#[test]
fn a_captured_stone_stays_in_the_past() {
    // White's corner stone is taken by B5; White is to play.
    let mut game = empty(5, 5);
    play(&mut game, "A4 A5 B5");
    let planes = planes_of(&game, Symmetry::IDENTITY);
    assert_eq!(draw(&planes, 0, 5, 5), "...../...../...../...../.....");
    assert_eq!(draw(&planes, 1, 5, 5), "#..../...../...../...../.....");
    assert_eq!(draw(&planes, 8, 5, 5), ".#.../#..../...../...../.....");
    assert_eq!(draw(&planes, 9, 5, 5), "...../#..../...../...../.....");
    assert_eq!(draw(&planes, 16, 5, 5), "...../...../...../...../.....", "White to play");
}

#[test]
fn missing_history_is_zero() {
    let size = empty(5, 5).size();
    let black = [size.point(2, 2), size.point(1, 3)];
    let white = [size.point(0, 0)];
    let komi = Komi::from_points(0.5).unwrap();
    let rules = Rules::tromp_taylor();
    let mut game = GameState::with_setup(size, rules, komi, &black, &white, Color::White).unwrap();
    for plies in 0..8 {
        let planes = planes_of(&game, Symmetry::IDENTITY);
        for ago in plies + 1..8 {
            for first in [0, 8] {
                let plane = &planes[(first + ago) * 25..][..25];
                assert!(plane.iter().all(|&x| x == 0.0), "{ago} plies ago after {plies} moves");
            }
        }
        let seen: f32 = planes[..16 * 25].iter().sum();
        assert!(seen >= 3.0 * (plies + 1) as f32, "each board that was is shown");
        play(&mut game, ["E1", "E2", "E3", "E4", "D1", "D2", "D3", "D4"][plies]);
    }
}

#[test]
fn bitboards_agree_with_reading_point_by_point() {
    for (width, height) in [(2, 2), (5, 5), (3, 7), (9, 9), (13, 13)] {
        let mut game = empty(width, height);
        let mut chance = Chance((width * 100 + height) as u64);
        for _ in 0..60 {
            if game.is_over() {
                break;
            }
            for symmetry in Symmetry::all().into_iter().filter(|s| s.valid_for(game.size())) {
                let fast = planes_of(&game, symmetry);
                let naive = read_point_by_point(&game, symmetry);
                assert!(fast == naive, "{width}x{height}, symmetry {}", symmetry.index());
                assert!(channels_last(&game, symmetry) == naive);
            }
            let legal: Vec<usize> = game.legal_moves().iter().collect();
            let mv = game.size().move_at(legal[chance.below(legal.len())]);
            game.play(mv).unwrap();
        }
    }
}

/// The definition, at its slowest.
fn read_point_by_point(game: &GameState, symmetry: Symmetry) -> Vec<f32> {
    let size = game.size();
    let mut planes = vec![0.0; 17 * size.area()];
    for point in size.points() {
        let to = symmetry.apply(size, point).index();
        for ago in 0..game.history_len().min(8) {
            match game.past_stone(ago, point) {
                Some(color) if color == game.to_play() => planes[ago * size.area() + to] = 1.0,
                Some(_) => planes[(8 + ago) * size.area() + to] = 1.0,
                None => {}
            }
        }
        planes[16 * size.area() + to] = f32::from(u8::from(game.to_play() == Color::Black));
    }
    planes
}

/// `encode_nhwc`, brought back to planes first.
fn channels_last(game: &GameState, symmetry: Symmetry) -> Vec<f32> {
    let area = game.size().area();
    let mut last = vec![f32::NAN; 17 * area];
    encode_nhwc(FeatureSet::Agz, game, symmetry, &mut last);
    (0..17 * area).map(|i| last[(i % area) * 17 + i / area]).collect()
}
