//! Devices from the command line: what a build has, it uses; what it lacks, it says how to get.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use common::{config, json, tengen};

#[test]
fn a_missing_device_is_one_clear_error_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    let (config, run) = (config.to_str().unwrap(), run.to_str().unwrap());
    for command in [
        &["loop", "--config", config, "--run", run, "--device", "cuda:250"][..],
        &["gtp", "--device", "cuda:250"],
        &["match", "uniform", "uniform", "--device", "cuda:250"],
        &["bench", "inference", "--device", "cuda:250"],
        &["bench", "train", "--device", "cuda:250"],
    ] {
        let output = tengen(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with("error: the device cuda:250 failed: "), "{message}");
        assert!(
            message.contains("scripts/libtorch.sh") || message.contains("nvidia-smi"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let output = tengen(&["gtp", "--device", "tpu"]);
    assert_eq!(output.status.code(), Some(2), "no device of any build is a matter of usage");
}

#[test]
fn doctor_tells_whether_libtorch_is_there_and_what_it_computes() {
    let folder = tempfile::tempdir().unwrap();
    let facts = json(&["doctor", "--dir", folder.path().to_str().unwrap(), "--json"]);
    let named = |name: &str| {
        let checks = facts["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).cloned()
    };
    assert_eq!(named("libtorch").unwrap()["ok"], cfg!(feature = "libtorch"), "{facts}");
    let computed = named("device libtorch:cpu f32");
    assert_eq!(computed.is_some(), cfg!(feature = "libtorch"));
    if let Some(check) = computed {
        assert_eq!(check["ok"], true, "{check}");
        assert!(check["found"].as_str().unwrap().starts_with("computed"), "{check}");
    }
}

#[test]
#[cfg(feature = "libtorch")]
fn a_run_generates_trains_and_gates_on_libtorch_and_goes_on_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (config, run) = (config(folder.path()), folder.path().join("run"));
    let (config, run) = (config.to_str().unwrap(), run.to_str().unwrap());
    let go_on = |steps: &str, device: &str| {
        let output = tengen(&[
            "loop",
            "--config",
            config,
            "--run",
            run,
            "--until-steps",
            steps,
            "--device",
            device,
        ]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        json(&["status", "--run", run, "--json"])
    };
    let status = go_on("12", "libtorch:cpu");
    assert_eq!(status["steps"], 12);
    assert!(status["games"].as_u64().unwrap() > 0);
    assert_eq!(status["networks"].as_array().unwrap().len(), 2, "the first net and a candidate");
    // Devices are a box's own business: the same run, the same digest.
    let later = go_on("24", "cpu");
    assert_eq!(later["steps"], 24);
    assert_eq!(json(&["store", "fsck", "--run", run, "--json"])["ok"], true);

    let matches = folder.path().join("matches");
    let first = format!("{run}:first");
    let result = json(&[
        "match",
        run,
        &first,
        "--games",
        "4",
        "--visits",
        "4",
        "--size",
        "5",
        "--dir",
        matches.to_str().unwrap(),
        "--device",
        "libtorch:cpu",
        "--json",
    ]);
    let games = ["wins", "losses", "draws", "no_results"].map(|k| result[k].as_u64().unwrap());
    assert_eq!(games.iter().sum::<u64>(), 4);

    let bench = json(&[
        "bench",
        "inference",
        "--size",
        "5",
        "--blocks",
        "1",
        "--channels",
        "8",
        "--seconds",
        "0.2",
        "--device",
        "libtorch:cpu",
        "--compare-native",
        "--json",
    ]);
    assert_eq!(bench["backend"], "libtorch");
    assert!(bench["native"]["apart"]["worst_difference"].as_f64().unwrap() <= 1e-4, "{bench}");
}
