//! Any bytes as a GTP session: each line has its answer, and the game stays one.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/gtp/tests/common/laws.rs"]
#[allow(dead_code, reason = "half of it is for the other protocol")]
mod laws;

/// Sessions may write files: they do so in an empty folder of this process.
fn enter_scratch() {
    let folder = std::env::temp_dir().join(format!("tengen-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written to");
    std::env::set_current_dir(&folder).expect("a folder just made can be entered");
}

fuzz_target!(init: enter_scratch(), |bytes: &[u8]| laws::gtp_session(bytes));
