//! `tengen sgf` as its users and their scripts run it.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as tests do

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A scored 5×5 game: Black the left three columns, White the right two and a dead black stone.
const SCORED: &str = "(;GM[1]FF[4]SZ[5]KM[0.5]RU[Japanese]PB[Ann]PW[Bob]RE[B+3.5]\
    ;B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de];B[ec];W[];B[])";

fn tengen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen")).args(args).output().unwrap()
}

/// Exit code, the JSON alone on standard output, standard error.
fn json(args: &[&str]) -> (i32, Value, String) {
    let output = tengen(args);
    let told = String::from_utf8(output.stderr).unwrap();
    let facts = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {told}"));
    (output.status.code().unwrap(), facts, told)
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn info_tells_each_game_or_its_error_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        format!("{SCORED}\n(;SZ[9]\n;B[zz])\n(;SZ[9:13]HA[2]AB[aa][bb](;W[am])(;W[tt];B[cc]))");
    let file = file(folder.path(), "three.sgf", &text);
    let (code, games, _) = json(&["sgf", "info", &file, "--json"]);
    assert_eq!(code, 0);
    let [first, second, third] = games.as_array().unwrap().as_slice() else { panic!("{games}") };
    assert_eq!(first["size"], json!([5, 5]));
    assert_eq!((&first["komi"], &first["rules"]), (&json!(0.5), &json!("japanese")));
    assert_eq!((&first["nodes"], &first["variations"]), (&json!(14), &json!(1)));
    assert_eq!(first["players"], json!({ "black": "Ann", "white": "Bob" }));
    assert_eq!((&first["result"], &first["to_play"]), (&json!("B+3.5"), &json!("B")));
    assert_eq!(first["moves"][11], "W pass");
    assert_eq!(first["properties"]["PB"], "Ann");
    assert_eq!((&second["line"], &second["column"]), (&json!(3), &json!(2)));
    assert!(second["error"].as_str().unwrap().contains("B[zz]"), "{second}");
    assert_eq!((&third["handicap"], &third["to_play"]), (&json!(2), &json!("W")));
    assert_eq!(third["setup"]["black"], json!(["A13", "B12"]));
    assert_eq!((&third["nodes"], &third["variations"]), (&json!(4), &json!(2)));
}

#[test]
fn info_fails_with_one_line_where_nothing_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "none.sgf", ";;)");
    let (code, games, told) = json(&["sgf", "info", &file, "--json"]);
    assert_eq!((code, games[0]["line"].as_u64()), (1, Some(1)));
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(tengen(&["sgf", "info", "no/such/file.sgf"]).status.code(), Some(1));
    assert_eq!(tengen(&["sgf", "info"]).status.code(), Some(2));
}

#[test]
fn score_counts_by_the_rules_asked_for_with_dead_stones_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "scored.sgf", SCORED);
    let score = |args: &[&str]| {
        let all = [&["sgf", "score", file.as_str(), "--json"], args].concat();
        let (code, sheet, _) = json(&all);
        assert_eq!(code, 0);
        sheet
    };
    // Black: 10 points. White: 5 points, a prisoner and the komi.
    let own = score(&["--dead", "e3"]);
    assert_eq!((&own["black"], &own["white"]), (&json!(10.0), &json!(6.5)));
    assert_eq!(
        (&own["winner"], &own["margin"], &own["result"]),
        (&json!("B"), &json!(3.5), &json!("B+3.5"))
    );
    assert_eq!(own["dead"], json!(["E3"]));
    // By area the shared region is nobody's while the stone lives.
    let area = score(&["--rules", "tromp-taylor"]);
    assert_eq!((&area["black"], &area["white"]), (&json!(16.0), &json!(5.5)));
    let komi = score(&["--rules", "tromp-taylor", "--komi", "-3.5", "--dead", "E3"]);
    assert_eq!((&komi["black"], &komi["white"]), (&json!(15.0), &json!(6.5)));
    let early = score(&["--move", "2", "--rules", "tromp-taylor"]);
    assert_eq!((&early["moves"], &early["dead"]), (&json!(2), &json!([])));
    let handicap = score(&["--rules", "chinese", "--handicap", "3", "--dead", "E3"]);
    assert_eq!(handicap["white"], json!(13.5));
    for bad in [
        &["--dead", "A1"],
        &["--dead", "Z9"],
        &["--move", "99"],
        &["--rules", "chess"],
        &["--game", "2"],
    ] {
        let all = [&["sgf", "score", file.as_str()], bad.as_slice()].concat();
        assert_eq!(tengen(&all).status.code(), Some(1), "{bad:?}");
    }
}

#[test]
fn check_walks_every_variation_and_fails_on_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let good = file(folder.path(), "good.sgf", SCORED);
    let (code, report, _) = json(&["sgf", "check", &good, "--json"]);
    assert_eq!((code, &report["ok"], &report["moves"]), (0, &json!(true), &json!(13)));
    file(folder.path(), "bad.sgf", "(;SZ[9];B[aa](;W[bb])(;W[cc]\n;B[cc]))");
    let (code, report, _) = json(&["sgf", "check", folder.path().to_str().unwrap(), "--json"]);
    assert_eq!((code, &report["files"], &report["games"]), (1, &json!(2), &json!(2)));
    let problem = &report["problems"][0];
    assert_eq!(
        (&problem["game"], &problem["node"], &problem["number"]),
        (&json!(1), &json!(4), &json!(3))
    );
    assert_eq!((&problem["move"], &problem["line"]), (&json!("B C7"), &json!(2)));
}

#[test]
fn import_is_resumable_knows_duplicates_and_its_games_come_out_again() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    std::fs::create_dir(&games).unwrap();
    let illegal = "(;SZ[5];B[aa];W[aa])";
    file(&games, "a.sgf", &format!("{SCORED}\n{illegal}\n(;SZ[9];B[ee];W[dd];B[];W[])"));
    file(&games, "b.SGF", &SCORED.replace("Ann", "Anne"));
    let run = folder.path().join("run");
    let (dir, source) = (run.to_str().unwrap(), games.to_str().unwrap());
    let import = || json(&["sgf", "import", source, "--run", dir, "--json"]).1;
    let first = import();
    assert_eq!(
        (&first["stored"], &first["repeated"], &first["refused"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let refusal = &first["refusals"][0];
    assert_eq!((&refusal["game"], &refusal["line"]), (&json!(2), &json!(2)));
    assert!(refusal["error"].as_str().unwrap().contains("A5 is occupied"), "{refusal}");
    let again = import();
    assert_eq!(
        (&again["stored"], &again["known_files"], &again["total"]),
        (&json!(0), &json!(2), &json!(2))
    );

    let out = folder.path().join("out");
    let to = out.to_str().unwrap();
    assert!(tengen(&["sgf", "export", "--run", dir, "--to", to, "--imported"]).status.success());
    let files: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
    assert_eq!(files.len(), 2);
    let (code, report, _) = json(&["sgf", "check", to, "--json"]);
    assert_eq!((code, &report["games"]), (0, &json!(2)));
}
