//! The three parts of the main job. Each meets the others only in the store, so that one process
//! can run all of them, or three processes one each.

pub mod gate;
pub mod generate;
pub mod outlook;
pub mod starts;
pub mod tenure;
pub mod train;
