//! The tree: select, expand, backup.
//!
//! A simulation is two halves, so that batching is the caller's business: [`Tree::select`] walks
//! from the root to a leaf and hands it out as a [`PendingLeaf`]; whoever holds it gets it
//! evaluated and gives it back to [`Tree::expand_and_backup`] (or [`Tree::abandon`]). Leaves may be
//! held side by side: virtual loss steers the next selection elsewhere. There are no threads, no
//! network and no input or output here, and every random draw comes from a generator handed in.
//!
//! Words are those of the AlphaGo Zero paper: an edge stores its visits N, the sum of values W and
//! the prior P; Q = W / N is the mean value for the player who moves along the edge. Values change
//! sign at each ply, and that is the only place where perspective changes.
//!
//! | verb | does |
//! |---|---|
//! | [`Tree::select`] | walk by PUCT (or the Gumbel root) to a leaf; exact results of finished games are backed up at once |
//! | [`Tree::expand_and_backup`] | give the leaf its edges, carry the value to the root |
//! | [`Tree::add_root_noise`] | Dirichlet noise (or Gumbel draws) on the root's legal moves |
//! | [`Tree::root`] | what the search thinks, as plain numbers |
//! | [`Tree::variation`] | the line expected after a root move |
//! | [`Tree::advance`] | make the move, keep its subtree |
//! | [`choose_move`], [`choose_best`], [`policy_target`] | from visits to the move played and the target learned |
//! | [`run_search`], [`search_move`] | the plain loop for one tree and one evaluator |
//! | [`bench()`] | how fast all of it is |
//!
//! ```
//! use tengen_inference::{Leaf, LeafEvaluator, UniformEvaluator};
//! use tengen_rules::{BoardSize, GameState, Komi, Rules};
//! use tengen_search::{SearchConfig, Selected, Tree};
//!
//! let komi = Komi::from_points(7.5)?;
//! let game = GameState::new(BoardSize::square(5)?, Rules::tromp_taylor(), komi);
//! let mut tree = Tree::new(game, &SearchConfig::default());
//! while tree.simulations() < 50 {
//!     if let Selected::Leaf(leaf) = tree.select() {
//!         let answers = UniformEvaluator.evaluate(&[Leaf::new(leaf.state())])?;
//!         tree.expand_and_backup(leaf, &answers[0]);
//!     }
//! }
//! assert_eq!(tree.root().visits, 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
mod backup;
mod bench;
mod config;
mod driver;
mod gumbel;
mod limits;
mod noise;
mod policy;
mod puct;
mod reuse;
mod select;
mod stats;
mod transposition;
mod tree;
mod utility;
mod variation;

pub use bench::{BenchReport, bench};
pub use config::SearchConfig;
pub use driver::{run_search, search_move};
pub use limits::MoveLimits;
pub use policy::{choose_best, choose_move, policy_target};
pub use select::{PendingLeaf, Selected};
pub use stats::{ChildStats, RootStats};
pub use tree::Tree;
