//! The positions that kernels and devices are proven on.

use tengen_rules::{BoardSize, GameState, Komi, Rules};

/// The first positions of a game on a board for each tile size of the native pass, board by board.
pub(crate) fn positions() -> Vec<Vec<GameState>> {
    [2, 4, 5, 6, 9].map(first_positions).into()
}

fn first_positions(side: usize) -> Vec<GameState> {
    let size = BoardSize::square(side).expect("2 to 9 are board sizes");
    let komi = Komi::from_points(0.5).expect("half a point is a komi");
    let mut states = vec![GameState::new(size, Rules::tromp_taylor(), komi)];
    for ply in 0..side.min(3) {
        let mut state = states[ply].clone();
        let legal = state.legal_moves();
        let action = legal.iter().nth(ply * side / 2).unwrap_or(size.pass_action());
        // Two passes may end the smallest game: the position before is as good.
        if state.play(size.move_at(action)).is_err() || state.is_over() {
            break;
        }
        states.push(state);
    }
    states
}
