//! The engines on standard input and output.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use tengen_network::{NetworkConfig, NetworkMeta, save_network};

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

#[test]
fn threads_search_together_and_one_gives_the_same_lines_the_same_answers() {
    let query = r#"{"id":"a","moves":[],"rules":"chinese","boardXSize":5,"boardYSize":5}"#;
    let lines = "genmove b\ngenmove w\nkata-raw-nn 0\nquit\n";
    let play = |threads: &str| {
        let args =
            ["gtp", "--net", "uniform", "--visits", "60", "--size", "5", "--threads", threads];
        converse(&args, lines)
    };
    assert_eq!(play("1"), play("1"));
    assert_eq!(play("2").matches("= ").count(), 3, "two moves and what the network says");
    let answer = converse(&["analysis", "--visits", "40", "--threads", "3"], query);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["rootInfo"]["visits"], 40, "{answer}");
    let none = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(["gtp", "--net", "uniform", "--threads", "0"])
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("--threads 0"));
}

#[test]
fn a_network_with_heads_for_points_is_asked_for_them() {
    let config = NetworkConfig {
        blocks: 1,
        channels: 4,
        ownership: true,
        score: true,
        ..NetworkConfig::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let weights = config.init_weights(1).unwrap();
    let id = save_network(folder.path(), &config, &weights, &NetworkMeta::default()).unwrap();
    let net = folder.path().join(id.file_name());
    let net = net.to_str().unwrap();
    let query = r#"{"id":"a","moves":[],"rules":"chinese","boardXSize":5,"boardYSize":5}"#;
    for threads in ["1", "2"] {
        let args = ["analysis", "--net", net, "--visits", "20", "--threads", threads];
        let answer: Value = serde_json::from_str(&converse(&args, query)).unwrap();
        assert_eq!(answer["rootInfo"]["scoreSource"], "network", "{answer}");
        let args = ["gtp", "--net", net, "--visits", "20", "--size", "5", "--threads", threads];
        let answers = converse(&args, "kata-raw-nn 0\ngenmove b\nquit\n");
        assert!(answers.contains("whiteOwnership\n"), "{answers}");
    }
}
