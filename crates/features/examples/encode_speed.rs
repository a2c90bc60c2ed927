//! How long a position takes to encode, beside a signature of what was written: mean over the
//! positions of random games, the fastest of several looks at each, so that a busy machine shows
//! little; turned by all symmetries in turn, channels last.

use std::time::Instant;

use tengen_features::{FeatureSet, encode_globals, encode_nhwc};
use tengen_rules::{BoardSize, GameState, Komi, Rules, Symmetry};

/// Passes over the positions.
const PASSES: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("set    board  kind    positions  µs/position  signature");
    for side in [9, 19] {
        for (kind, sparse) in [("random", false), ("spread", true)] {
            let positions = positions(side, sparse)?;
            for set in FeatureSet::ALL {
                measure(set, side, kind, &positions);
            }
        }
    }
    Ok(())
}

fn measure(set: FeatureSet, side: usize, kind: &str, positions: &[GameState]) {
    let mut planes = vec![0.0; set.planes() * side * side];
    let mut globals = vec![0.0; set.globals()];
    let (mut fastest, mut signature) = (vec![f64::MAX; positions.len()], 0u64);
    for _ in 0..PASSES {
        signature = 0xcbf2_9ce4_8422_2325;
        for (index, state) in positions.iter().enumerate() {
            let symmetry = Symmetry::all()[index % 8];
            let began = Instant::now();
            encode_nhwc(set, state, symmetry, &mut planes);
            encode_globals(set, state, &mut globals);
            fastest[index] = fastest[index].min(began.elapsed().as_secs_f64());
            for x in planes.iter().chain(&globals) {
                signature = (signature ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    println!(
        "{:<6} {side:>2}×{side:<2}  {kind}  {:>9}  {:>11.2}  {signature:016x}",
        set.name(),
        positions.len(),
        1e6 * fastest.iter().sum::<f64>() / positions.len() as f64,
    );
}

/// Every position of random games of up to two thirds of the area. Uniformly random games are full
/// of short chains; where `sparse`, stones keep off points beside two stones of one colour where
/// they can, which is a little more like Go.
fn positions(side: usize, sparse: bool) -> Result<Vec<GameState>, Box<dyn std::error::Error>> {
    let size = BoardSize::square(side)?;
    let (mut chance, mut found) = (1u64, Vec::new());
    let mut draw = |n: usize| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (chance >> 33) as usize % n
    };
    for _ in 0..if side == 9 { 20 } else { 6 } {
        let komi = Komi::from_points(7.5)?;
        let mut state = GameState::new(size, Rules::tromp_taylor(), komi);
        for _ in 0..size.area() * 2 / 3 {
            let legal: Vec<usize> =
                state.legal_moves().iter().filter(|&a| a < size.area()).collect();
            if legal.is_empty() {
                break;
            }
            let mut action = legal[draw(legal.len())];
            for _ in 0..if sparse { 8 } else { 0 } {
                let point = tengen_rules::Point::from_index(action);
                let crowd = size.neighbours(point).filter(|&n| state.stone(n).is_some());
                if crowd.count() < 2 {
                    break;
                }
                action = legal[draw(legal.len())];
            }
            state.play(size.move_at(action))?;
            found.push(state.clone());
        }
    }
    Ok(found)
}
