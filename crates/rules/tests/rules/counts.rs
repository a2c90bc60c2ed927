//! Whole spaces counted: legal positions and the game graph, in `counts.json`.

use serde_json::Value as Json;
use std::collections::HashMap;
use tengen_rules::{BoardSize, Color, GameState, Komi, Move, Point, Rules};

fn facts(kind: &str) -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/facts/counts.json");
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let all: Vec<Json> = serde_json::from_str(&text).unwrap();
            all.into_iter().filter(|case| case["kind"] == kind).collect()
        }
        Err(error) => {
            println!("skipped: counts.json: {error}");
            Vec::new()
        }
    }
}

/// Every legal position of a board with `to_play` to move.
fn positions(size: BoardSize, suicide: bool, to_play: Color) -> Vec<GameState> {
    let rules = Rules { suicide, ..Rules::by_name("ko=simple").unwrap() };
    let mut found = Vec::new();
    for mut code in 0..3u64.pow(size.area() as u32) {
        let mut stones: [Vec<Point>; 2] = Default::default();
        for point in size.points() {
            if let 1 | 2 = code % 3 {
                stones[(code % 3 - 1) as usize].push(point);
            }
            code /= 3;
        }
        let [black, white] = &stones;
        found.extend(GameState::with_setup(size, rules, Komi::default(), black, white, to_play));
    }
    found
}

fn check_legal_positions(areas: std::ops::RangeInclusive<usize>) {
    for case in facts("legal positions") {
        let side = |key: &str| case["input"][key].as_u64().unwrap() as usize;
        let size = BoardSize::new(side("width"), side("height")).unwrap();
        if areas.contains(&size.area()) {
            let count = positions(size, false, Color::Black).len();
            assert_eq!(count.to_string(), case["expected"].as_str().unwrap(), "{}", case["id"]);
        }
    }
}

#[test]
fn legal_positions_are_as_many_as_tromp_and_farneback_found() {
    check_legal_positions(1..=8);
}

#[test]
#[ignore = "half a million set-ups a board"]
fn legal_positions_of_larger_boards_are_as_many_too() {
    check_legal_positions(9..=12);
}

/// The positions that one stone of either colour leads to, from every legal position.
fn graph(size: BoardSize, suicide: bool) -> Vec<Vec<usize>> {
    let ids: HashMap<String, usize> = positions(size, suicide, Color::Black)
        .iter()
        .enumerate()
        .map(|(id, state)| (state.to_string(), id))
        .collect();
    let mut edges = vec![Vec::new(); ids.len()];
    for color in Color::BOTH {
        for state in positions(size, suicide, color) {
            for action in state.legal_moves().iter().filter(|&a| a != size.pass_action()) {
                let mut next = state.clone();
                next.play(Move::Play(Point::from_index(action))).unwrap();
                edges[ids[&state.to_string()]].push(ids[&next.to_string()]);
            }
        }
    }
    edges
}

#[test]
fn the_game_graph_of_three_by_three_has_as_many_edges_as_elsewhere() {
    for case in facts("game graph edges") {
        let size = BoardSize::square(3).unwrap();
        for (suicide, key) in
            [(true, "edges_multi_stone_suicide_allowed"), (false, "edges_no_suicide")]
        {
            let graph = graph(size, suicide);
            assert_eq!(graph.len() as u64, case["expected"]["nodes"]);
            let edges: usize = graph.iter().map(Vec::len).sum();
            assert_eq!(edges as u64, case["expected"][key], "suicide {suicide}");
        }
    }
}

#[test]
#[ignore = "two thousand million paths"]
fn the_games_of_one_by_four_are_as_many_as_elsewhere() {
    for case in facts("number of games") {
        let graph = graph(BoardSize::new(1, 4).unwrap(), true);
        assert_eq!(
            graph.iter().map(Vec::len).sum::<usize>() as u64,
            case["expected"]["graph_edges"]
        );
        let paths = simple_paths(&graph, 0, 0);
        assert_eq!(paths.to_string(), case["expected"]["games"].as_str().unwrap());
    }
}

/// Paths from a position that visit none twice, the empty one included.
fn simple_paths(graph: &[Vec<usize>], at: usize, visited: u64) -> u64 {
    let visited = visited | 1 << at;
    let open = graph[at].iter().filter(|&&next| visited >> next & 1 == 0);
    1 + open.map(|&next| simple_paths(graph, next, visited)).sum::<u64>()
}
