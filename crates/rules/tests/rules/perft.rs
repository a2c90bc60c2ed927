//! Exact move-path counts; deeper ones stand in `facts.rs`.

use tengen_rules::{BoardSize, GameState, Komi, Rules, perft};

fn counts(width: usize, height: usize, rules: &str, depth: usize) -> Vec<u64> {
    let size = BoardSize::new(width, height).unwrap();
    perft(&GameState::new(size, Rules::by_name(rules).unwrap(), Komi::default()), depth)
}

#[test]
fn three_by_three_tromp_taylor() {
    assert_eq!(counts(3, 3, "tromp-taylor", 6), [1, 10, 91, 738, 5281, 33384, 180768]);
}

#[test]
fn three_by_one_simple_ko_without_suicide() {
    let expected = [1, 4, 11, 22, 41, 66, 106, 176, 288, 460, 752, 1236, 1996];
    assert_eq!(counts(3, 1, "ko=simple,suicide=false", 12), expected);
}
