//! The switches of self-play inside a running job, what it shows, and what each switch is worth.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

mod common;

use std::path::{Path, PathBuf};

use common::{config, json, loop_until, run_loop, tengen};
use serde_json::Value;

/// The tiny config with every switch of self-play on.
fn all_switches(folder: &Path) -> PathBuf {
    let path = config(folder);
    let starts = folder.join("starts.txt");
    std::fs::write(&starts, "C3 D3\nC3 C4 D4\n").unwrap();
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("full_search_fraction = 1.0", "full_search_fraction = 0.7\nsurprise_weight = 0.5")
        .replace("[trainer]", "[trainer]\ndraw_by_weight = true")
        .replace("[run]", "[run]\nsgf_every = 2")
        .replace(
            "[selfplay]",
            &format!(
                "[selfplay]\nsoft_resign = true\nresign = true\nresign_false_positives = 0.05\n\
                 end_when_settled = true\nfork_fraction = 0.3\nstart_fraction = 0.3\n\
                 first_visits = 0.5\nvisits_growth_games = 20\ncache_positions = 500\n\
                 start_positions = {starts:?}"
            ),
        );
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_switch_on_gives_the_same_run_twice_and_a_sound_store() {
    let folder = tempfile::tempdir().unwrap();
    let config = all_switches(folder.path());
    let facts = ["one", "two"].map(|name| {
        let run = folder.path().join(name);
        run_loop(&config, &run, "12");
        let dir = run.to_str().unwrap().to_owned();
        let check = json(&["store", "fsck", "--run", &dir, "--json"]);
        assert_eq!(check["ok"], true, "{check}");
        let status = json(&["status", "--run", &dir, "--json"]);
        let last = &status["selfplay"];
        assert!(last["evaluations_per_s"].as_f64().unwrap() > 0.0, "{status}");
        assert!(last["hit_rate"].as_f64().unwrap() > 0.0, "{status}");
        assert!(last["resign_measured_games"].is_u64() && last["resign_threshold"].is_null());
        (json(&["store", "stats", "--run", &dir, "--json"]), status["networks"].clone())
    });
    assert_eq!(facts[0], facts[1]);
    let written = std::fs::read_dir(folder.path().join("one/sgf/selfplay")).unwrap().count() as u64;
    let games = facts[0].0["games"].as_u64().unwrap();
    assert!(written > 0 && written <= games / 2 + 1, "{written} files of {games} games");
}

#[test]
fn a_run_can_be_watched_while_it_plays_and_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_loop(&config(folder.path()), &run, "6");
    let dir = run.to_str().unwrap();
    let seen = json(&["watch", "--run", dir, "--once", "--json"]);
    assert_eq!(seen["board"].as_array().unwrap().len(), 5);
    let live: Vec<PathBuf> = std::fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "game"))
        .collect();
    live.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let seen = json(&["watch", "--run", dir, "--once", "--json"]);
    assert_eq!(seen["live"], false);
    assert!(seen["result"].is_string() && seen["value_for_black"].is_number(), "{seen}");
    let output = tengen(&["watch", "--run", dir, "--once"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["A B C D E", "value for Black", "policy:", "result"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    let nothing = tengen(&["watch", "--run", folder.path().to_str().unwrap(), "--once"]);
    assert_eq!(nothing.status.code(), Some(1));
}

#[test]
fn a_broken_file_of_starts_is_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let config = all_switches(folder.path());
    std::fs::write(folder.path().join("starts.txt"), "C3 C3\n").unwrap();
    let output = loop_until(&config, &folder.path().join("run"), "3");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("selfplay.start_positions") && told.contains("line 1"), "{told}");
}

#[test]
fn an_ablation_plays_each_variant_once_and_goes_on_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let dir = folder.path().join("ablation");
    let ask = |more: &[&str]| {
        let (config, dir) = (config.to_str().unwrap(), dir.to_str().unwrap());
        let mut args = vec!["ablate", "--config", config, "--dir", dir, "--games", "8"];
        args.extend(["--switch", "reuse", "--match-games", "4", "--visits", "4", "--json"]);
        args.extend(more);
        json(&args)
    };
    let first = ask(&[]);
    let rows = |facts: &Value| facts["variants"].as_array().unwrap().clone();
    assert_eq!(rows(&first).len(), 2);
    for row in rows(&first) {
        assert!(row["run"]["games"].as_u64().unwrap() >= 8, "{row}");
    }
    let found = &rows(&first)[1]["match"];
    let games: u64 = ["wins", "losses", "draws"].iter().map(|k| found[k].as_u64().unwrap()).sum();
    assert!((1..=4).contains(&games), "{found}");
    assert!(found["elo_low"].as_f64() <= found["elo_high"].as_f64());
    assert_eq!(ask(&[]), first, "nothing is left to do");

    let more = ask(&["--variant", "gumbel:search.gumbel=true"]);
    assert_eq!(rows(&more)[..2], rows(&first)[..], "what was done stays");
    assert_eq!(rows(&more).len(), 3);
    let table = std::fs::read_to_string(dir.join("ablation.md")).unwrap();
    assert!(table.contains("| gumbel | `search.gumbel=true` |"), "{table}");

    let other = ["--config", config.to_str().unwrap(), "--dir", dir.to_str().unwrap()];
    let output =
        tengen(&[&["ablate"], &other[..], &["--games", "9", "--switch", "reuse"]].concat());
    assert_eq!(output.status.code(), Some(1), "another budget needs another folder");
}
