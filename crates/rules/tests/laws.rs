//! Laws on random games, with a slow naive twin that floods the board at each question.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::collections::HashSet;
use tengen_rules::{BoardSize, Color, GameState, KoRule, Komi, Move, Point, Rules, Symmetry};

/// A plain linear congruential generator: the crate needs no random dependency for its tests.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

type Stones = Vec<Option<Color>>;

fn stones_of(state: &GameState) -> Stones {
    state.size().points().map(|p| state.stone(p)).collect()
}

/// The twin: whole boards in a set, floods for everything.
struct Naive {
    size: BoardSize,
    rules: Rules,
    board: Stones,
    to_play: Color,
    seen: HashSet<(Stones, Option<Color>)>,
    before: Option<Stones>,
    passed: bool,
}

impl Naive {
    fn new(size: BoardSize, rules: Rules) -> Naive {
        let board = vec![None; size.area()];
        let mut naive = Naive {
            size,
            rules,
            board,
            to_play: Color::Black,
            seen: HashSet::new(),
            before: None,
            passed: false,
        };
        naive.remember();
        naive
    }

    fn key(&self, board: Stones, to_play: Color) -> (Stones, Option<Color>) {
        (board, (self.rules.ko == KoRule::Situational).then_some(to_play))
    }

    fn remember(&mut self) {
        let key = self.key(self.board.clone(), self.to_play);
        self.seen.insert(key);
    }

    fn chain(&self, board: &Stones, start: Point) -> (Vec<Point>, HashSet<Point>) {
        let (mut chain, mut liberties, mut next) = (vec![start], HashSet::new(), 0);
        while next < chain.len() {
            for n in self.size.neighbours(chain[next]) {
                if board[n.index()].is_none() {
                    liberties.insert(n);
                } else if board[n.index()] == board[start.index()] && !chain.contains(&n) {
                    chain.push(n);
                }
            }
            next += 1;
        }
        (chain, liberties)
    }

    fn after(&self, point: Point) -> Option<Stones> {
        let mut board = self.board.clone();
        if board[point.index()].is_some() {
            return None;
        }
        board[point.index()] = Some(self.to_play);
        for n in self.size.neighbours(point) {
            if board[n.index()] == Some(self.to_play.opponent()) {
                let (chain, liberties) = self.chain(&board, n);
                if liberties.is_empty() {
                    chain.iter().for_each(|p| board[p.index()] = None);
                }
            }
        }
        let (own, liberties) = self.chain(&board, point);
        if liberties.is_empty() {
            if own.len() == 1 || !self.rules.suicide {
                return None;
            }
            own.iter().for_each(|p| board[p.index()] = None);
        }
        let repeats = match self.rules.ko {
            KoRule::Simple => !self.passed && self.before.as_ref() == Some(&board),
            _ => self.seen.contains(&self.key(board.clone(), self.to_play.opponent())),
        };
        (!repeats).then_some(board)
    }

    fn play(&mut self, mv: Move) {
        let before = self.board.clone();
        self.passed = mv == Move::Pass;
        if let Move::Play(point) = mv {
            self.board = self.after(point).unwrap();
        }
        self.before = Some(before);
        self.to_play = self.to_play.opponent();
        self.remember();
    }
}

fn games(each: impl Fn(&GameState, &Naive)) {
    for (i, rules) in ["tromp-taylor", "aga", "chinese", "cgos", "new-zealand"].iter().enumerate() {
        for (j, (w, h)) in [(2, 2), (3, 3), (5, 4), (1, 6), (9, 9)].into_iter().enumerate() {
            let size = BoardSize::new(w, h).unwrap();
            let rules = Rules::by_name(rules).unwrap();
            let mut rng = Lcg((i * 100 + j) as u64);
            for _ in 0..4 {
                let mut state = GameState::new(size, rules, Komi::default());
                let mut naive = Naive::new(size, rules);
                while !state.is_over() && state.move_number() < 150 {
                    each(&state, &naive);
                    let legal: Vec<_> = state.legal_moves().iter().collect();
                    // Passes end games early, so they are taken only now and then.
                    let mut action = legal[rng.below(legal.len())];
                    if action == size.pass_action() && rng.below(4) > 0 {
                        action = legal[rng.below(legal.len())];
                    }
                    state.play(size.move_at(action)).unwrap();
                    naive.play(size.move_at(action));
                }
            }
        }
    }
}

#[test]
fn the_fast_board_agrees_with_the_naive_twin() {
    games(|state, naive| {
        let size = state.size();
        assert_eq!(stones_of(state), naive.board);
        let legal = state.legal_moves();
        for point in size.points() {
            let fast = state.check(Move::Play(point)).is_ok();
            assert_eq!(
                fast,
                naive.after(point).is_some(),
                "{}\n{state}",
                size.vertex(Move::Play(point))
            );
            assert_eq!(fast, legal.contains(point.index()));
            if state.stone(point).is_some() {
                let (chain, liberties) = naive.chain(&naive.board, point);
                assert_eq!(state.liberties(point), liberties.len());
                assert_eq!(state.chain_size(point), chain.len());
                assert_eq!(
                    state.chain(point).iter().collect::<HashSet<_>>(),
                    chain.iter().collect()
                );
            }
        }
    });
}

#[test]
fn the_hash_is_that_of_the_stones_set_up_anew() {
    games(|state, _| {
        let size = state.size();
        let of =
            |color| size.points().filter(|&p| state.stone(p) == Some(color)).collect::<Vec<_>>();
        let (black, white) = (of(Color::Black), of(Color::White));
        let (rules, komi, to_play) = (state.rules(), state.komi(), state.to_play());
        let anew = GameState::with_setup(size, rules, komi, &black, &white, to_play).unwrap();
        assert_eq!(anew.hash(), state.hash());
        for (color, points) in [(Color::Black, &black), (Color::White, &white)] {
            let bits: usize = state.stones(0, color).iter().map(|w| w.count_ones() as usize).sum();
            assert_eq!(bits, points.len());
        }
    });
}

#[test]
fn a_mirrored_game_has_mirrored_legal_moves_and_the_same_score() {
    let size = BoardSize::square(5).unwrap();
    for g in Symmetry::all() {
        let mut rng = Lcg(g.index() as u64);
        let mut state = GameState::new(size, Rules::tromp_taylor(), Komi::default());
        let mut image = state.clone();
        while !state.is_over() && state.move_number() < 120 {
            let legal: Vec<_> = state.legal_moves().iter().collect();
            let mut mirrored: Vec<_> = legal.iter().map(|&a| g.apply_action(size, a)).collect();
            mirrored.sort_unstable();
            assert_eq!(mirrored, image.legal_moves().iter().collect::<Vec<_>>());
            assert_eq!(state.score_now(), image.score_now());
            let action = legal[rng.below(legal.len())];
            state.play(size.move_at(action)).unwrap();
            image.play(size.move_at(g.apply_action(size, action))).unwrap();
        }
    }
}
