//! Any bytes as a game that a worker hands in: what passes could have been played as it says.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/fleet/tests/common/laws.rs"]
mod laws;

fuzz_target!(|bytes: &[u8]| {
    laws::any_bytes(bytes);
});
