//! Any bytes as queries of the analysis protocol: each answer is a whole one.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/gtp/tests/common/laws.rs"]
#[allow(dead_code, reason = "half of it is for the other protocol")]
mod laws;

fuzz_target!(|bytes: &[u8]| laws::analysis_lines(bytes));
