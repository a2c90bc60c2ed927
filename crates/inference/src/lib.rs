//! The seam between those who need positions judged and those who judge them.
//!
//! A search collects [`Leaf`]s; a [`LeafEvaluator`] answers each with an [`Evaluation`]: priors
//! over the legal moves and a value for the player to move. Nothing here knows a tree or a tensor,
//! so a search is tested without a network and a network without a search.
//!
//! The promises of the seam, which every evaluator keeps and every caller may lean on:
//!
//! - one answer a leaf, in the order asked; otherwise an error and no answers at all;
//! - priors lie on the legal moves alone, sum to 1, and stand in the board's own orientation: the
//!   symmetry a leaf was looked at through is undone before the answer leaves;
//! - the value is for the player to move at the leaf.
//!
//! Evaluators are wrapped, not flagged: a cache or a counter is an evaluator around another.

mod batch;
mod cache;
mod count;
mod error;
mod evaluation;
mod leaf;
mod rollout;
mod scripted;
mod softmax;
mod split;
mod uniform;

pub use batch::{check_batch, evaluate_by_size, evaluate_in_batches};
pub use cache::{CacheStats, CachedEvaluator};
pub use count::{CountingEvaluator, EvalStats};
pub use error::EvalError;
pub use evaluation::Evaluation;
pub use leaf::{Leaf, LeafEvaluator};
pub use rollout::RolloutEvaluator;
pub use scripted::ScriptedEvaluator;
pub use softmax::masked_softmax;
pub use split::SplitEvaluator;
pub use uniform::UniformEvaluator;
