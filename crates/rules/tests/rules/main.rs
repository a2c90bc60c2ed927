//! The rules against positions drawn by hand, against a naive twin, and against other programs.

#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

mod counts;
mod facts;
mod facts_scoring;
mod ladders;
mod laws;
mod perft;
mod play;
mod rule_parts;
mod scans;
mod scoring;
mod twin;
