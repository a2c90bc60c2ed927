//! Laws on random games, beside the naive twin. A small share runs with every `cargo test`,
//! 100,000 games a rule set with `make laws`.

use crate::twin::{End, Lcg, Naive, stones_of};
use tengen_rules::{
    BoardSize, Color, GameState, Komi, Move, Outcome, Point, Rules, Scoring, Symmetry, Tax,
    score_position,
};

/// Small boards, where everything happens in few moves, and a large one now and then.
const SIZES: [(usize, usize); 10] =
    [(1, 1), (2, 1), (1, 6), (2, 2), (3, 2), (3, 3), (3, 3), (4, 4), (5, 4), (5, 5)];

/// One random game under every law.
fn one_game(rules: Rules, size: BoardSize, rng: &mut Lcg) {
    let mut state = GameState::new(size, rules, Komi::default());
    let mut naive = Naive::new(size, rules);
    let mut moves: Vec<Move> = Vec::new();
    let mut hashes = vec![state.situation_hash()];
    let limit = 4 * size.area() + 8;
    while !state.is_over() && moves.len() < limit {
        // Every question about every point is slow, so it is put to some positions.
        if rng.below(4) == 0 {
            compare_legality(&state, &naive);
        }
        let legal: Vec<_> = state.legal_moves().iter().collect();
        let mut action = legal[rng.below(legal.len())];
        // Passes end games early, so they are taken only now and then.
        if action == size.pass_action() && rng.below(4) > 0 {
            action = legal[rng.below(legal.len())];
        }
        let mv = size.move_at(action);
        state.play(mv).unwrap();
        naive.play(mv);
        moves.push(mv);
        hashes.push(state.situation_hash());
        assert_eq!(stones_of(&state), naive.board);
        assert_eq!(Color::BOTH.map(|c| state.captures(c)), naive.captures);
        assert_eq!(state.is_over(), naive.end.is_some(), "{rules} {moves:?}\n{state}");
    }
    compare_end(&state, &naive);
    compare_hash(&state);
    undo_is_replay(&state, &moves, &hashes, rng);
    mirrored(&state, &moves, rng);
}

fn compare_legality(state: &GameState, naive: &Naive) {
    let size = state.size();
    let legal = state.legal_moves();
    for point in size.points() {
        let fast = state.check(Move::Play(point)).is_ok();
        let slow = naive.after(point).is_some();
        assert_eq!(fast, slow, "{}\n{state}", size.vertex(Move::Play(point)));
        assert_eq!(fast, legal.contains(point.index()));
        if state.stone(point).is_some() {
            let (mut chain, liberties) = naive.chain(&naive.board, point);
            assert_eq!(state.liberties(point), liberties.len());
            assert_eq!(state.chain_size(point), chain.len());
            let mut fast = state.chain(point);
            fast.sort_unstable();
            chain.sort_unstable();
            assert_eq!(fast, chain);
        }
    }
}

fn compare_end(state: &GameState, naive: &Naive) {
    let rules = state.rules();
    match naive.end {
        None => assert_eq!(state.outcome(), None),
        Some(End::NoResult) => assert_eq!(state.outcome(), Some(Outcome::NoResult)),
        Some(End::Counted) => assert_eq!(state.outcome(), Some(state.score_now())),
    }
    let sheet = score_position(state, rules, Komi::default(), 0, &[]);
    let lead = naive.area_lead();
    if rules.scoring == Scoring::Area && rules.tax == Tax::None && !rules.button {
        assert_eq!(sheet.black_lead_half_points(), 2 * lead);
        if !rules.friendly_pass {
            assert_eq!(state.score_now(), Outcome::from_black_lead(2 * lead));
        }
    }
    // A board full of taxes and seki never has more points than an untaxed one.
    let most = 2 * (state.size().area() as i32 + naive.captures.iter().sum::<u32>() as i32) + 1;
    assert!(sheet.black_half_points <= most && sheet.white_half_points <= most);
}

/// The incremental hash is that of the stones set up anew, and the bitboards hold the stones.
fn compare_hash(state: &GameState) {
    let size = state.size();
    let of = |color| size.points().filter(|&p| state.stone(p) == Some(color)).collect::<Vec<_>>();
    let [black, white] = Color::BOTH.map(of);
    let (rules, komi, to_play) = (state.rules(), state.komi(), state.to_play());
    let anew = GameState::with_setup(size, rules, komi, &black, &white, to_play).unwrap();
    assert_eq!(anew.hash(), state.hash());
    for (color, points) in [(Color::Black, &black), (Color::White, &white)] {
        let bits: usize = state.stones(0, color).iter().map(|w| w.count_ones() as usize).sum();
        assert_eq!(bits, points.len());
        assert!(points.iter().all(|&p| state.past_stone(0, p) == Some(color)));
    }
}

/// Taking moves back is playing the game again without them: every situation comes back.
fn undo_is_replay(state: &GameState, moves: &[Move], hashes: &[u64], rng: &mut Lcg) {
    let kept = rng.below(moves.len() + 1);
    let mut again = GameState::new(state.size(), state.rules(), state.komi());
    for &mv in &moves[..kept] {
        again.play(mv).unwrap();
    }
    assert_eq!(again.situation_hash(), hashes[kept]);
}

/// A mirrored game has mirrored legal moves and the same score, whatever stones are dead.
fn mirrored(state: &GameState, moves: &[Move], rng: &mut Lcg) {
    let size = state.size();
    let fitting: Vec<_> = Symmetry::all().into_iter().filter(|g| g.valid_for(size)).collect();
    let g = fitting[rng.below(fitting.len())];
    let mut image = GameState::new(size, state.rules(), state.komi());
    for &mv in moves {
        image.play(size.move_at(g.apply_action(size, size.action(mv)))).unwrap();
    }
    let mut legal: Vec<_> = state.legal_moves().iter().map(|a| g.apply_action(size, a)).collect();
    legal.sort_unstable();
    assert_eq!(legal, image.legal_moves().iter().collect::<Vec<_>>());
    let dead: Vec<Point> = size.points().filter(|_| rng.below(8) == 0).collect();
    let dead_image: Vec<Point> = dead.iter().map(|&p| g.apply(size, p)).collect();
    for rules in [state.rules(), Rules::by_name("japanese").unwrap()] {
        let sheet = |state, dead: &[Point]| score_position(state, rules, Komi::default(), 0, dead);
        let (here, there) = (sheet(state, &dead), sheet(&image, &dead_image));
        assert_eq!(here.outcome, there.outcome, "{rules} {dead:?}\n{state}");
        assert_eq!(here.dead.len(), there.dead.len());
    }
}

/// Rule sets by name and by parts that no name has together; each has a long test of its own name.
macro_rules! rule_sets {
    ($($test:ident: $rules:literal,)*) => {
        const RULES: &[&str] = &[$($rules),*];

        mod a_hundred_thousand_games_keep_every_law {
            $(
                #[test]
                #[ignore = "100,000 games: a minute and more"]
                fn $test() {
                    super::long_run($rules);
                }
            )*
        }
    };
}

rule_sets! {
    tromp_taylor: "tromp-taylor",
    chinese: "chinese",
    japanese: "japanese",
    korean: "korean",
    aga: "aga",
    new_zealand: "new-zealand",
    ing: "ing",
    stone_scoring: "stone-scoring",
    aga_button: "aga-button",
    cgos: "cgos",
    simple_ko_suicide_button: "ko=simple,suicide=true,button=true",
    situational_territory_suicide: "ko=situational,scoring=territory,tax=none,suicide=true",
}

/// The games of one rule set, from a seed of its own.
fn long_run(rules: &str) {
    const GAMES: usize = 100_000;
    let began = std::time::Instant::now();
    let seed = RULES.iter().position(|&name| name == rules).unwrap();
    games(rules, GAMES, 1000 + seed as u64);
    println!("{rules}: {GAMES} games, {:.0} s", began.elapsed().as_secs_f64());
}

fn games(rules: &str, count: usize, seed: u64) {
    let rules = Rules::by_name(rules).unwrap();
    let mut rng = Lcg(seed);
    for i in 0..count {
        let (w, h) = if i % 500 == 499 { (9, 9) } else { SIZES[rng.below(SIZES.len())] };
        one_game(rules, BoardSize::new(w, h).unwrap(), &mut rng);
    }
}

#[test]
fn random_games_keep_every_law() {
    for (seed, rules) in (0..).zip(RULES) {
        games(rules, 60, seed);
    }
}

#[test]
fn large_and_narrow_boards_keep_every_law() {
    let mut rng = Lcg(3);
    for (rules, (w, h)) in RULES.iter().zip([(9, 9), (1, 25), (25, 1), (7, 12), (13, 2), (2, 13)]) {
        one_game(Rules::by_name(rules).unwrap(), BoardSize::new(w, h).unwrap(), &mut rng);
    }
}
