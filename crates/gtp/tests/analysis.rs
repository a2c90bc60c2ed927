//! KataGo's analysis protocol, as its clients speak it.
#![allow(clippy::unwrap_used)]

use std::io::Cursor;
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use tengen_gtp::{AnalysisEngine, AnalysisOptions};
use tengen_inference::{
    EvalError, LeafEvaluator, RolloutEvaluator, ScriptedEvaluator, UniformEvaluator,
};
use tengen_search::SearchConfig;

fn engine_with(evaluator: Box<dyn LeafEvaluator>) -> AnalysisEngine {
    let search = SearchConfig { visits: 50, ..SearchConfig::default() };
    let options = AnalysisOptions { score_games: 2, ..AnalysisOptions::default() };
    AnalysisEngine::new(evaluator, search, options)
}

fn rollouts() -> Box<dyn LeafEvaluator> {
    Box::new(RolloutEvaluator::new(NonZeroUsize::MIN, 1))
}

/// The answers of a fresh engine to some queries.
fn ask(queries: &[Value]) -> Vec<Value> {
    let text: String = queries.iter().map(|query| format!("{query}\n")).collect();
    let mut out = Vec::new();
    engine_with(rollouts()).run(Cursor::new(text), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn query(id: &str, changes: Value) -> Value {
    let mut query = json!({
        "id": id, "moves": [], "rules": "tromp-taylor", "komi": 7.5,
        "boardXSize": 5, "boardYSize": 5,
    });
    for (name, value) in changes.as_object().unwrap() {
        query[name] = value.clone();
    }
    query
}

#[test]
fn an_answer_has_the_fields_clients_read() {
    let asked = query(
        "foo",
        json!({
            "initialStones": [["B", "B2"], ["B", "D4"]], "moves": [["W", "C3"], ["B", "(0,0)"]],
            "maxVisits": 60, "includePolicy": true, "includeOwnership": true,
            "includeMovesOwnership": true, "includePVVisits": true,
        }),
    );
    let answers = ask(&[asked]);
    assert_eq!(answers.len(), 1, "{answers:?}");
    let answer = &answers[0];
    assert_eq!(answer["id"], "foo");
    assert_eq!(answer["turnNumber"], 2);
    assert_eq!(answer["isDuringSearch"], false);
    let root = &answer["rootInfo"];
    assert_eq!(root["visits"], 60);
    assert_eq!(root["currentPlayer"], "W");
    for field in ["winrate", "utility", "scoreLead", "scoreSelfplay", "scoreStdev", "rawWinrate"] {
        assert!(root[field].is_number(), "{field}: {root}");
    }
    assert_eq!(root["thisHash"].as_str().unwrap().len(), 32);
    let policy = answer["policy"].as_array().unwrap();
    assert_eq!(policy.len(), 26);
    assert_eq!(policy[0], -1, "a stone lies there");
    let sum: f64 = policy.iter().map(|p| p.as_f64().unwrap()).filter(|p| *p >= 0.0).sum();
    assert!((sum - 1.0).abs() < 1e-4);
    let ownership = answer["ownership"].as_array().unwrap();
    assert_eq!(ownership.len(), 25);
    assert!(ownership.iter().all(|o| o.as_f64().unwrap().abs() <= 1.0));
    let moves = answer["moveInfos"].as_array().unwrap();
    let visits: u64 = moves.iter().map(|m| m["visits"].as_u64().unwrap()).sum();
    assert_eq!(visits, 59, "the root's own evaluation is the sixtieth");
    for (order, info) in moves.iter().enumerate() {
        assert_eq!(info["order"], order);
        assert_eq!(info["pv"][0], info["move"]);
        assert_eq!(info["pvVisits"][0], info["visits"]);
        assert_eq!(info["ownership"].as_array().unwrap().len(), 25);
        for field in ["winrate", "lcb", "prior", "utility", "utilityLcb", "scoreLead", "weight"] {
            assert!(info[field].is_number(), "{field}: {info}");
        }
    }
}

#[test]
fn a_query_gets_the_same_answer_alone_and_in_a_crowd() {
    let asked = query("it", json!({ "moves": [["B", "C3"]], "analyzeTurns": [0, 1] }));
    let alone = ask(std::slice::from_ref(&asked));
    let mut crowd: Vec<Value> = (0..20)
        .map(|n| query(&format!("n{n}"), json!({ "komi": n, "maxVisits": 10 + n })))
        .collect();
    crowd.insert(7, asked);
    let mut found: Vec<Value> =
        ask(&crowd).into_iter().filter(|answer| answer["id"] == "it").collect();
    found.sort_by_key(|answer| answer["turnNumber"].as_u64());
    assert_eq!(found, alone);
    assert_eq!(alone[0]["rootInfo"]["currentPlayer"], "B");
    assert_eq!(alone[1]["rootInfo"]["currentPlayer"], "W");
}

#[test]
fn batches_are_shared_by_all_queries_in_flight() {
    let script = ScriptedEvaluator::new(|leaf| {
        UniformEvaluator.evaluate(&[*leaf]).map(|mut answers| answers.remove(0))
    });
    let (sizes, seen) = std::sync::mpsc::channel();
    struct Watch(ScriptedEvaluator, std::sync::mpsc::Sender<usize>);
    impl LeafEvaluator for Watch {
        fn max_batch(&self) -> NonZeroUsize {
            NonZeroUsize::MAX
        }
        fn evaluate(
            &mut self,
            leaves: &[tengen_inference::Leaf<'_>],
        ) -> Result<Vec<tengen_inference::Evaluation>, EvalError> {
            self.1.send(leaves.len()).unwrap();
            self.0.evaluate(leaves)
        }
    }
    let mut engine = engine_with(Box::new(Watch(script, sizes)));
    for n in 0..8 {
        engine.take(&query(&n.to_string(), json!({ "komi": n })).to_string());
    }
    while !engine.is_idle() {
        engine.step();
    }
    assert!(seen.try_iter().any(|size| size > 32), "8 queries of 8 leaves each");
    assert_eq!(engine.take_answers().len(), 8);
}

#[test]
fn an_error_names_its_field_and_leaves_the_others_running() {
    let cases = [
        (json!({ "rules": "marsian" }), "rules"),
        (json!({ "rules": 7 }), "rules"),
        (json!({ "rules": null }), "rules"),
        (json!({ "komi": 0.3 }), "komi"),
        (json!({ "komi": 500 }), "komi"),
        (json!({ "boardXSize": 0 }), "boardXSize"),
        (json!({ "boardYSize": 26 }), "boardYSize"),
        (json!({ "boardYSize": "9" }), "boardYSize"),
        (json!({ "moves": null }), "moves"),
        (json!({ "moves": [["B"]] }), "moves"),
        (json!({ "moves": [["X", "A1"]] }), "moves"),
        (json!({ "moves": [["B", "F9"]] }), "moves"),
        (json!({ "moves": [["B", "A1"], ["W", "A1"]] }), "moves"),
        (json!({ "initialStones": [["B", "A1"], ["W", "A1"]] }), "initialStones"),
        (json!({ "initialPlayer": "green" }), "initialPlayer"),
        (json!({ "analyzeTurns": [1] }), "analyzeTurns"),
        (json!({ "analyzeTurns": [0], "priorities": [1, 2] }), "priorities"),
        (json!({ "maxVisits": 0 }), "maxVisits"),
        (json!({ "maxVisits": "many" }), "maxVisits"),
        (json!({ "includePolicy": 1 }), "includePolicy"),
        (json!({ "avoidMoves": [{ "player": "B", "moves": ["A1"] }] }), "avoidMoves"),
        (json!({ "allowMoves": 3 }), "allowMoves"),
        (json!({ "overrideSettings": { "maxTime": "soon" } }), "overrideSettings"),
        (json!({ "reportDuringSearchEvery": -1 }), "reportDuringSearchEvery"),
        (json!({ "whiteHandicapBonus": "2N" }), "whiteHandicapBonus"),
    ];
    let mut queries = vec![query("good", json!({}))];
    for (index, (changes, _)) in cases.iter().enumerate() {
        queries.push(query(&index.to_string(), changes.clone()));
    }
    let answers = ask(&queries);
    for (index, (changes, field)) in cases.iter().enumerate() {
        let id = index.to_string();
        let own: Vec<&Value> = answers.iter().filter(|a| a["id"] == id.as_str()).collect();
        assert_eq!(own.len(), 1, "{changes}: {own:?}");
        assert!(own[0]["error"].is_string(), "{changes}: {}", own[0]);
        assert_eq!(own[0]["field"], *field, "{changes}: {}", own[0]);
    }
    let good: Vec<&Value> = answers.iter().filter(|a| a["id"] == "good").collect();
    assert!(good[0]["rootInfo"].is_object());
    let illegal = ask(&[query("x", json!({ "moves": [["B", "A1"], ["W", "A1"]] }))]);
    assert_eq!(illegal[0]["error"], "Illegal move 1: A1");
}

#[test]
fn unknown_fields_and_settings_are_warnings() {
    let asked = query(
        "w",
        json!({ "boardxsize": 3, "overrideSettings": { "sldjfslkjf": 1, "maxVisits": 10 } }),
    );
    let answers = ask(&[asked]);
    let warned: Vec<&str> = answers.iter().filter_map(|a| a["field"].as_str()).collect();
    assert_eq!(warned, ["boardxsize", "overrideSettings"]);
    assert_eq!(answers[1]["warning"], "Unknown config params: sldjfslkjf");
    assert_eq!(answers[2]["rootInfo"]["visits"], 10);
}

#[test]
fn only_one_job_fails_when_the_evaluator_cannot_take_its_board() {
    let small = ScriptedEvaluator::new(|leaf| {
        if leaf.state.size().width() > 5 {
            return Err(EvalError::Backend("too large a board".to_owned()));
        }
        UniformEvaluator.evaluate(&[*leaf]).map(|mut answers| answers.remove(0))
    });
    let mut engine = engine_with(Box::new(small));
    engine.take(&query("big", json!({ "boardXSize": 9, "boardYSize": 9 })).to_string());
    engine.take(&query("small", json!({})).to_string());
    while !engine.is_idle() {
        engine.step();
    }
    let answers: Vec<Value> =
        engine.take_answers().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["id"], "big");
    assert!(answers[0]["error"].as_str().unwrap().contains("too large"));
    assert_eq!(answers[1]["rootInfo"]["visits"], 50);
}

#[test]
fn avoided_moves_stay_out_and_allowed_ones_alone_come_in() {
    let answers = ask(&[
        query("a", json!({ "avoidMoves": [{ "player": "B", "moves": ["C3"], "untilDepth": 1 }] })),
        query("b", json!({ "allowMoves": [{ "player": "B", "moves": ["C3"], "untilDepth": 1 }] })),
    ]);
    for answer in &answers {
        let moves = answer["moveInfos"].as_array().unwrap();
        let has = moves.iter().any(|info| info["move"] == "C3");
        match answer["id"].as_str().unwrap() {
            "a" => assert!(!has && moves.len() > 1),
            _ => assert!(has && moves.len() == 1),
        }
    }
}

#[test]
fn values_are_reported_for_the_side_asked() {
    let rows = json!([["B", "A1"], ["B", "B1"], ["B", "C3"], ["B", "D2"], ["B", "B4"]]);
    let ask_as = |side: &str| {
        let settings = json!({ "reportAnalysisWinratesAs": side });
        let asked = query(
            "p",
            json!({ "initialStones": rows, "initialPlayer": "W", "komi": 0.5, "maxVisits": 200,
                    "overrideSettings": settings, "includeOwnership": true }),
        );
        ask(&[asked]).remove(0)
    };
    let [black, white, mover] = ["BLACK", "WHITE", "SIDETOMOVE"].map(ask_as);
    let rate = |answer: &Value| answer["rootInfo"]["winrate"].as_f64().unwrap();
    let lead = |answer: &Value| answer["rootInfo"]["scoreLead"].as_f64().unwrap();
    assert!(rate(&black) > 0.5 && lead(&black) > 0.0, "{}", black["rootInfo"]);
    assert!((rate(&black) + rate(&white) - 1.0).abs() < 1e-9);
    assert_eq!(lead(&black), -lead(&white));
    assert_eq!(mover, white);
}

#[test]
fn orders_are_echoed_and_end_what_they_name() {
    let mut engine = engine_with(rollouts());
    let endless = |id: &str| query(id, json!({ "maxVisits": 10_000_000 })).to_string();
    engine.take(&endless("one"));
    engine.take(&endless("two"));
    (0..3).for_each(|_| engine.step());
    assert!(engine.take_answers().is_empty());
    let order = json!({ "id": "t", "action": "terminate", "terminateId": "one" });
    engine.take(&order.to_string());
    engine.step();
    let answers = engine.take_answers();
    assert_eq!(serde_json::from_str::<Value>(&answers[0]).unwrap(), order);
    let last: Value = serde_json::from_str(&answers[1]).unwrap();
    assert_eq!((&last["id"], &last["isDuringSearch"]), (&json!("one"), &json!(false)));
    assert!(last["rootInfo"]["visits"].as_u64().unwrap() > 1);
    assert!(!engine.is_idle());

    engine.take(&endless("three"));
    engine.take(&json!({ "id": "t", "action": "terminate_all", "turnNumbers": [5] }).to_string());
    engine.take(&json!({ "id": "t", "action": "terminate_all" }).to_string());
    engine.step();
    assert!(engine.is_idle());
    let answers = engine.take_answers();
    let unsearched: Value = serde_json::from_str(&answers[2]).unwrap();
    let expected =
        json!({ "id": "three", "isDuringSearch": false, "noResults": true, "turnNumber": 0 });
    assert_eq!(unsearched, expected);

    for (action, added) in
        [("query_version", "version"), ("query_models", "models"), ("clear_cache", "action")]
    {
        engine.take(&json!({ "id": "q", "action": action }).to_string());
        let answer: Value = serde_json::from_str(&engine.take_answers()[0]).unwrap();
        assert!(!answer[added].is_null() && answer["id"] == "q", "{answer}");
    }
    engine.take(r#"{"id":"q","action":"dance"}"#);
    assert!(engine.take_answers()[0].contains("\"field\":\"action\""));
}

#[test]
fn urgent_turns_come_first_and_reports_come_during_the_search() {
    let mut options = AnalysisOptions { parallel: 1, score_games: 0, ..Default::default() };
    options.model = "m".to_owned();
    let search = SearchConfig { visits: 20, ..SearchConfig::default() };
    let mut engine = AnalysisEngine::new(Box::new(UniformEvaluator), search, options);
    let moves = json!([["B", "A1"], ["W", "B2"]]);
    let turns = json!({ "moves": moves, "analyzeTurns": [0, 1, 2], "priorities": [1, 3, 2],
                        "reportDuringSearchEvery": 0.001, "maxVisits": 3000 });
    engine.take(&query("q", turns).to_string());
    while !engine.is_idle() {
        engine.step();
    }
    let answers: Vec<Value> =
        engine.take_answers().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = answers.iter().filter(|a| a["isDuringSearch"] == false);
    let order: Vec<u64> = last.map(|a| a["turnNumber"].as_u64().unwrap()).collect();
    assert_eq!(order, [1, 2, 0]);
    assert!(answers.iter().any(|a| a["isDuringSearch"] == true));
    assert!(answers.iter().all(|a| a["rootInfo"]["scoreLead"].is_null()), "switched off");
}

#[test]
fn a_finished_game_can_be_looked_at() {
    let moves = json!([["B", "C3"], ["W", "pass"], ["B", "pass"]]);
    let answers = ask(&[query("over", json!({ "moves": moves }))]);
    assert_eq!(answers[0]["rootInfo"]["currentPlayer"], "W");
    assert!(!answers[0]["moveInfos"].as_array().unwrap().is_empty());
}
