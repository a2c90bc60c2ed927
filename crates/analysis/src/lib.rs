//! One position searched by many threads: for play under a clock, pondering and analysis.
//!
//! The tree of `tengen-search` knows no threads; this crate puts one behind a lock. Selecting and
//! backing up take microseconds and happen under the lock; evaluations take milliseconds and happen
//! outside it, so the threads hardly ever meet. Leaves go through a queue: whoever is free takes as
//! many as its evaluator holds, and their answers come back in any order. Virtual loss
//! ([`virtual_loss`](tengen_search::SearchConfig::virtual_loss)) keeps the threads apart in the tree.
//!
//! [`ParallelSearch`] owns the threads, one an evaluator. It is started with a tree and [`Limits`],
//! watched while it runs, and gives the tree back when the limits are met or when it is told to
//! stop; that answer comes at once, whatever the evaluators are doing. Pondering is a search
//! without limits, stopped when the opponent has moved.
//!
//! Which thread comes first is the machine's affair: with more than one thread two searches of a
//! position may differ. With one thread and limits on visits alone they don't.
//!
//! ```
//! use tengen_analysis::{Limits, ParallelSearch};
//! use tengen_inference::{LeafEvaluator, UniformEvaluator};
//! use tengen_rules::{BoardSize, GameState, Komi, Rules};
//! use tengen_search::{SearchConfig, Tree};
//!
//! let komi = Komi::from_points(7.5)?;
//! let game = GameState::new(BoardSize::square(5)?, Rules::tromp_taylor(), komi);
//! let evaluators: Vec<Box<dyn LeafEvaluator>> =
//!     vec![Box::new(UniformEvaluator), Box::new(UniformEvaluator)];
//! let mut search = ParallelSearch::new(evaluators, 0)?;
//! search.start(Tree::new(game, &SearchConfig::default()), Limits::visits(500), 1);
//! let tree = search.wait()?;
//! assert_eq!(tree.root().visits, 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod limits;
mod parallel;
mod session;
mod worker;

pub use error::AnalysisError;
pub use limits::Limits;
pub use parallel::{ParallelSearch, Stopper};
