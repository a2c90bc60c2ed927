//! Small games for the tests: random play whose policy targets a network can learn.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tengen_record::{EndReason, GameRecord, SearchRecord, Turn};
use tengen_rules::{BoardSize, Color, GameState, Komi, Rules};

/// A game of `moves` random legal moves on a square board. Every second turn is a target, whose
/// policy prefers a pass: 3 to 1 against the first legal point, whose place the symmetries hide.
pub(crate) fn game(seed: u64, board: usize, moves: usize) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let size = BoardSize::square(board).unwrap();
    let komi = Komi::from_points(0.5).unwrap();
    let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
    let mut turns = Vec::new();
    for turn in 0..moves {
        let legal: Vec<usize> = state.legal_moves().iter().collect();
        let points = legal.len() - 1;
        let action = if points == 0 {
            size.pass_action()
        } else {
            legal[rng.random_range(0..points as u32) as usize]
        };
        let mut policy = vec![(size.pass_action() as u16, 3)];
        if points > 0 {
            policy.insert(0, (legal[0] as u16, 1));
        }
        let search = SearchRecord {
            policy,
            root_value: 0.0,
            visits: 4,
            is_target: turn % 2 == 0,
            weight: 1.0,
        };
        turns.push(Turn { mv: size.move_at(action), search: Some(search) });
        state.play(size.move_at(action)).unwrap();
        if state.is_over() {
            break;
        }
    }
    GameRecord {
        size,
        rules: Rules::tromp_taylor(),
        komi,
        setup_black: Vec::new(),
        setup_white: Vec::new(),
        first_to_play: Color::Black,
        seed,
        players: ["a".to_owned(), "b".to_owned()],
        config_digest: String::new(),
        turns,
        outcome: state.score_now(),
        end: EndReason::MoveLimit,
    }
}
