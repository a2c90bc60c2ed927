//! Games become weights: the optimisation half of the loop (Silver et al. 2017, "Optimisation").
//!
//! The caller pushes game records in the order of the store's sequence ([`Trainer::ingest`]) and
//! asks for steps ([`Trainer::train_step`]); the crate reads no database.
//!
//! * [`Window`] holds the newest games and cuts them to the newest so many target positions;
//!   a batch is drawn from it uniformly, each sample under one of the board's symmetries.
//! * [`alpha_loss`] is the paper's loss over *legal* moves, and burn takes its gradients; those of the
//!   convolutions come from [`TrainingNet`](tengen_network::TrainingNet). [`auxiliary_loss`] adds a
//!   term for each further head that the network has.
//! * [`Momentum`] is the optimiser. The update runs on host tensors, where it is exact to the bit
//!   and its state is two plain files.
//! * [`Trainer`] refuses a step whose numbers are not finite and goes on from good weights.
//! * A checkpoint holds weights, momentum, the random stream and the cursor into the games, so a
//!   run that was interrupted and resumed ends with the same bits as one that was not.

mod adamw;
mod auxiliary;
mod batch;
mod bench;
mod checkpoint;
mod config;
mod error;
#[cfg(test)]
mod fixture;
mod held_out;
mod loss;
mod momentum;
mod optimiser;
mod schedule;
mod sync;
mod tensors;
mod trainer;
mod watch;
mod window;

pub use adamw::AdamW;
pub use auxiliary::{AuxiliaryLoss, AuxiliaryReport, auxiliary_loss};
pub use batch::Batch;
pub use bench::{TrainBench, bench};
pub use config::TrainerConfig;
pub use error::TrainError;
pub use held_out::{HeldOutReport, is_held_out};
pub use loss::{AlphaLoss, alpha_loss};
pub use momentum::{Momentum, is_decayed, is_statistic};
pub use optimiser::OptimiserKind;
pub use schedule::{learning_rate, window_capacity};
pub use trainer::{StepReport, Trainer};
pub use watch::{BlockNorms, block_facts, block_norms};
pub use window::{Draw, Window};
