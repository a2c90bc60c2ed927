//! Analysis that streams while the search goes on.

use std::fmt::Write;
use std::time::{Duration, Instant};

use tengen_inference::LeafEvaluator;
use tengen_rules::{Color, GameState};
use tengen_search::{SearchConfig, Tree};

use crate::engine::{Engine, Session};
use crate::error::GtpError;
use crate::estimate::{Estimate, Estimates, Judge};
use crate::info::{Perspective, move_infos, win_rate};
use crate::live::Live;
use crate::searcher::Goal;
use crate::think::{Decision, Wish};
use crate::wanted::Wanted;

/// Longest line of a move, as in KataGo's own default.
const LINE_LIMIT: usize = 16;

/// Time a report may take for new random games.
const SCORE_TIME: Duration = Duration::from_millis(20);

/// The two formats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Leela Zero's: whole numbers in ten-thousandths.
    Leela,
    /// KataGo's: fractions, and more of them.
    Kata,
}

/// Writes reports of one search at their times.
struct Reporter {
    dialect: Dialect,
    wanted: Wanted,
    state: GameState,
    /// Random games a move where the network can't judge; none for no estimates at all.
    games: u32,
    seed: u64,
    estimates: Estimates,
    next: Option<Instant>,
}

impl Reporter {
    fn new(engine: &Engine, dialect: Dialect, wanted: Wanted, state: GameState) -> Reporter {
        let next = wanted.interval.map(|interval| Instant::now() + interval);
        let games = if dialect == Dialect::Kata { engine.info.score_games } else { 0 };
        let (seed, estimates) = (engine.info.seed, Estimates::default());
        Reporter { dialect, wanted, state, games, seed, estimates, next }
    }

    /// A report, if it is time for one.
    fn tick(&mut self, tree: &Tree, evaluator: &mut dyn LeafEvaluator, live: &mut dyn Live) {
        let (Some(next), Some(interval)) = (self.next, self.wanted.interval) else { return };
        if Instant::now() >= next && tree.is_root_expanded() {
            self.send(tree, evaluator, live);
            self.next = Some(Instant::now() + interval);
        }
    }

    /// A report now; none before the first visit, because an empty line would end the answer.
    fn send(&mut self, tree: &Tree, evaluator: &mut dyn LeafEvaluator, live: &mut dyn Live) {
        let line = self.line(tree, evaluator);
        if line != "\n" {
            live.send(&line);
        }
    }

    /// Whether the tree has something to say of this position.
    fn is_about(&self, tree: &Tree) -> bool {
        tree.is_root_expanded()
            && tree.root_state().size() == self.state.size()
            && tree.root_state().situation_hash() == self.state.situation_hash()
    }

    /// How long until the next report.
    fn idle_time(&self) -> Duration {
        let until = |next: Instant| next.saturating_duration_since(Instant::now());
        self.next.map_or(Duration::from_secs(3600), until)
    }

    /// The report as a line.
    fn line(&mut self, tree: &Tree, evaluator: &mut dyn LeafEvaluator) -> String {
        let size = self.state.size();
        let mut infos = move_infos(tree, LINE_LIMIT, self.wanted.min_moves > 0);
        let visited = infos.iter().filter(|info| info.visits > 0).count();
        infos.truncate(visited.max(self.wanted.min_moves).min(self.wanted.max_moves));
        if self.games > 0 {
            let mut judge = Judge { evaluator, games: self.games, seed: self.seed };
            let moves = infos.iter().map(|info| (info.action, self.games));
            self.estimates.add(&self.state, moves, &mut judge, Some(SCORE_TIME));
        }
        let side = Perspective::SideToMove;
        let to_play = self.state.to_play();
        let mut out = String::new();
        for (order, info) in infos.iter().enumerate() {
            if order > 0 {
                out.push(' ');
            }
            let vertex = size.vertex(size.move_at(info.action));
            let _ = write!(out, "info move {vertex} visits {}", info.visits);
            match self.dialect {
                Dialect::Leela => {
                    let whole = |rate: f64| (rate * 10_000.0).round() as i64;
                    let (rate, prior) = (whole(info.win_rate), whole(info.prior));
                    let lcb = whole(info.lcb);
                    let _ = write!(out, " winrate {rate} prior {prior} lcb {lcb}");
                }
                Dialect::Kata => {
                    let _ = write!(
                        out,
                        " edgeVisits {} utility {:.6} winrate {:.6}",
                        info.visits,
                        2.0 * info.win_rate - 1.0,
                        info.win_rate
                    );
                    if let Some(estimate) = self.estimates.moves.get(&info.action) {
                        push_scores(&mut out, estimate, side, to_play);
                    }
                    if self.wanted.no_result {
                        out.push_str(" noResultValue 0.000000");
                    }
                    let _ = write!(
                        out,
                        " prior {:.6} lcb {:.6} utilityLcb {:.6} weight {:.6}",
                        info.prior,
                        info.lcb,
                        2.0 * info.lcb - 1.0,
                        f64::from(info.visits)
                    );
                }
            }
            let _ = write!(out, " order {order} pv");
            for &(action, _) in &info.line {
                let _ = write!(out, " {}", size.vertex(size.move_at(action)));
            }
            for (asked, name) in
                [(self.wanted.pv_visits, "pvVisits"), (self.wanted.pv_edge_visits, "pvEdgeVisits")]
            {
                if asked && self.dialect == Dialect::Kata {
                    let _ = write!(out, " {name}");
                    info.line.iter().for_each(|(_, visits)| {
                        let _ = write!(out, " {visits}");
                    });
                }
            }
            if self.wanted.moves_ownership
                && let Some(estimate) = self.estimates.moves.get(&info.action)
            {
                push_ownership(&mut out, "movesOwnership", estimate, side, to_play);
            }
        }
        if self.dialect == Dialect::Kata {
            self.push_root(&mut out, tree);
        }
        out.push('\n');
        out
    }

    fn push_root(&self, out: &mut String, tree: &Tree) {
        let (side, to_play) = (Perspective::SideToMove, self.state.to_play());
        if self.wanted.root_info {
            let root = tree.root();
            let rate = win_rate(root.value);
            // The root's own evaluation is a visit to KataGo.
            let visits = root.visits + 1;
            let _ = write!(
                out,
                " rootInfo visits {visits} utility {:.6} winrate {rate:.6}",
                2.0 * rate - 1.0
            );
            if let Some(estimate) = &self.estimates.root {
                push_scores(out, estimate, side, to_play);
            }
            let _ = write!(out, " weight {:.6}", f64::from(visits));
        }
        if self.wanted.ownership
            && let Some(estimate) = &self.estimates.root
        {
            push_ownership(out, "ownership", estimate, side, to_play);
        }
    }
}

fn push_scores(out: &mut String, estimate: &Estimate, side: Perspective, to_play: Color) {
    let lead = side.points(to_play, estimate.lead());
    let deviation = estimate.deviation();
    let _ = write!(
        out,
        " scoreMean {lead:.6} scoreStdev {deviation:.6} scoreLead {lead:.6} scoreSelfplay {lead:.6}"
    );
}

fn push_ownership(
    out: &mut String,
    name: &str,
    estimate: &Estimate,
    side: Perspective,
    to_play: Color,
) {
    let _ = write!(out, " {name}");
    for owned in estimate.ownership() {
        let _ = write!(out, " {:.4}", side.points(to_play, owned));
    }
}

impl Engine {
    pub(crate) fn lz_analyze(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.analyze(Dialect::Leela, args, session)
    }

    pub(crate) fn kata_analyze(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.analyze(Dialect::Kata, args, session)
    }

    pub(crate) fn lz_genmove_analyze(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.analyze_move(Dialect::Leela, args, Wish::default(), true, session)
    }

    pub(crate) fn kata_genmove_analyze(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.analyze_move(Dialect::Kata, args, Wish::default(), true, session)
    }

    pub(crate) fn kata_search_analyze(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        self.analyze_move(Dialect::Kata, args, Wish::default(), false, session)
    }

    pub(crate) fn kata_search_analyze_cancellable(
        &mut self,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let wish = Wish { cancellable: true, ..Wish::default() };
        self.analyze_move(Dialect::Kata, args, wish, false, session)
    }

    /// Searches until a new line comes, reporting all the while. Without a stream to come from, it
    /// ends after the visits of a move, with one report.
    fn analyze(
        &mut self,
        dialect: Dialect,
        args: &[String],
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let wanted = Wanted::parse(self.game.size, args)?;
        let player = wanted.player.unwrap_or(self.state().to_play());
        let state = self.game.open_state_for(player)?;
        let limited = !wanted.limits.is_empty();
        let config = SearchConfig { gumbel: false, ..self.search.clone() };
        let mut tree = if limited {
            Tree::new(state.clone(), &config).with_limits(wanted.limits.clone())
        } else {
            self.tree_for(&state, &config)
        };
        let mut rng = self.next_rng();
        let mut reporter = Reporter::new(self, dialect, wanted, state);
        session.begin();
        let is_endless = session.live.is_endless();
        let goal = if is_endless { Goal::NONE } else { Goal { visits: config.visits, time: None } };
        while !session.live.stopped() {
            tree = self.searcher.grow(tree, goal, &mut rng, &mut |tree, evaluator| {
                reporter.tick(tree, evaluator, session.live);
                !session.live.stopped()
            })?;
            if !is_endless {
                reporter.send(&tree, &mut *self.searcher.evaluator, session.live);
                break;
            }
            // Stopped, or as large as a tree may grow.
            session.live.wait(reporter.idle_time());
            reporter.tick(&tree, &mut *self.searcher.evaluator, session.live);
        }
        if !limited {
            self.tree = Some(tree);
        }
        Ok(String::new())
    }

    /// Searches for a move as `genmove` would, reporting all the while.
    fn analyze_move(
        &mut self,
        dialect: Dialect,
        args: &[String],
        wish: Wish,
        make: bool,
        session: &mut Session<'_>,
    ) -> Result<String, GtpError> {
        let wanted = Wanted::parse(self.game.size, args)?;
        let player = wanted.player.unwrap_or(self.state().to_play());
        let state = self.game.state_for(player)?;
        if !wanted.limits.is_empty() {
            return Err(GtpError::Unavailable("avoid and allow are for analysis without a move"));
        }
        let mut reporter = Reporter::new(self, dialect, wanted, state);
        session.begin();
        let decision = self.think(player, wish, session, &mut |tree, evaluator, live| {
            reporter.tick(tree, evaluator, live);
        })?;
        if reporter.next.is_some()
            && let Some(tree) = self.tree.as_ref().filter(|tree| reporter.is_about(tree))
        {
            reporter.send(tree, &mut *self.searcher.evaluator, session.live);
        }
        if make {
            self.make(player, &decision)?;
        }
        Ok(match decision {
            Decision::Cancelled => "play cancelled".to_owned(),
            decided => format!("play {}", self.word(&decided)),
        })
    }
}
