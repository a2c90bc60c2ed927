//! The engines on standard input and output.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

fn converse(args: &[&str], input: &str) -> String {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    engine.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn both_engines_play_without_a_net() {
    for net in ["uniform", "rollouts"] {
        let answers = converse(
            &["gtp", "--net", net, "--visits", "20", "--size", "5"],
            "query_boardsize\ngenmove b\nquit\n",
        );
        assert!(answers.starts_with("= 5\n\n= ") && answers.ends_with("\n\n=\n\n"), "{answers}");
        let query = r#"{"id":"a","moves":[],"rules":"chinese","boardXSize":5,"boardYSize":5}"#;
        let answer = converse(&["analysis", "--net", net, "--visits", "20"], query);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["rootInfo"]["visits"], 20, "{answer}");
    }
}
