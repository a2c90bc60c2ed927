//! KataGo's analysis protocol: one JSON query a line in, one JSON answer a line out, many positions
//! at once.
//!
//! A query asks about one or several turns of a game; each is a job with a tree of its own.
//! [`AnalysisEngine`] keeps a number of jobs going side by side and hands the leaves of all of them
//! to the evaluator in one call. What a job finds does not depend on its neighbours: a query gets
//! the same answer alone and in a crowd.
//!
//! Inside: reading a query (`query`, by way of `fields`), the fate of one position (`job`), the
//! answer's numbers (`report`), the loop (`engine`) and the queries that are orders (`action`).

mod action;
mod engine;
mod fields;
mod job;
mod query;
mod report;

pub use engine::{AnalysisEngine, AnalysisOptions};
