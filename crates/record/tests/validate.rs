//! What an honest record passes and a doctored one does not.
#![allow(clippy::unwrap_used)]

mod common;

use common::random_game;
use tengen_record::{EndReason, GameRecord, MAX_TURNS, RecordError, Turn};
use tengen_rules::{Color, Move, Outcome};

fn honest() -> GameRecord {
    (0..)
        .map(|seed| random_game(seed, 4, 4, 200))
        .find(|g| g.end == EndReason::TwoPasses && g.turns[0].search.is_some())
        .unwrap()
}

fn refusal(edit: impl FnOnce(&mut GameRecord)) -> String {
    let mut record = honest();
    record.validate().unwrap();
    edit(&mut record);
    record.validate().unwrap_err().to_string()
}

#[test]
fn replay_gives_each_position_before_its_move() {
    let record = honest();
    let mut expected = record.initial_state().unwrap();
    let mut count = 0;
    for (index, (before, turn)) in record.replay().enumerate() {
        assert_eq!(before.situation_hash(), expected.situation_hash());
        assert_eq!(before.to_play(), record.color_at(index));
        expected.play(turn.mv).unwrap();
        count += 1;
    }
    assert_eq!(count, record.turns.len());
    assert_eq!(expected.outcome(), Some(record.outcome));
    let targets = record.turns.iter().filter(|t| t.search.as_ref().is_some_and(|s| s.is_target));
    assert_eq!(record.positions(), targets.count());
}

#[test]
fn a_move_onto_a_stone_is_refused_with_its_turn() {
    let text = refusal(|r| {
        let first = r.turns.iter().position(|t| t.mv != Move::Pass).unwrap();
        let mv = r.turns[first].mv;
        r.turns.insert(first + 1, Turn { mv, search: None });
    });
    assert!(text.starts_with("turn "), "{text}");
}

#[test]
fn a_result_that_the_board_denies_is_refused() {
    let text = refusal(|r| {
        r.outcome = Outcome::Score { winner: Color::White, margin_half_points: 999 };
    });
    assert!(text.contains("the board scores"), "{text}");
    assert!(refusal(|r| r.end = EndReason::MoveLimit).contains("passed"));
    assert!(refusal(|r| r.end = EndReason::Resignation).contains("passed"));
    let cut_short = |r: &mut GameRecord| {
        r.turns.pop();
        r.end = EndReason::Resignation;
    };
    assert!(refusal(cut_short).contains("no resignation"));
    assert!(refusal(|r| r.end = EndReason::Time).contains("is a score"));
    let unchecked = |r: &mut GameRecord| {
        r.turns[0].search.as_mut().unwrap().is_target = true;
        r.end = EndReason::Reported;
    };
    assert!(refusal(unchecked).contains("can't be recomputed"));
    assert!(refusal(|r| drop(r.turns.pop())).contains("not over"));
}

#[test]
fn numbers_no_search_can_give_are_refused() {
    fn search(r: &mut GameRecord) -> &mut tengen_record::SearchRecord {
        r.turns[0].search.as_mut().unwrap()
    }
    assert!(refusal(|r| search(r).root_value = f32::NAN).contains("root value NaN"));
    assert!(refusal(|r| search(r).root_value = 1.5).contains("root value 1.5"));
    assert!(refusal(|r| search(r).weight = -1.0).contains("weight"));
    assert!(refusal(|r| search(r).weight = f32::INFINITY).contains("weight"));
    assert!(refusal(|r| search(r).policy.clear()).contains("sum to 0"));
    assert!(refusal(|r| search(r).policy.reverse()).contains("out of order"));
    assert!(refusal(|r| search(r).policy = vec![(17, 1)]).contains("not legal"));
}

#[test]
fn oversized_parts_are_refused_before_the_replay() {
    let mut record = honest();
    record.turns = vec![Turn { mv: Move::Pass, search: None }; MAX_TURNS + 1];
    assert!(matches!(record.validate(), Err(RecordError::TooLarge { what: "turns", .. })));
    let mut record = honest();
    record.players[1] = "x".repeat(5_000);
    assert!(matches!(record.validate(), Err(RecordError::TooLarge { .. })));
}

#[test]
fn a_game_cut_short_may_be_scored_as_it_stands() {
    let mut record = random_game(3, 5, 5, 10);
    assert_eq!(record.end, EndReason::MoveLimit);
    let last = record.validate().unwrap();
    record.outcome = last.score_now();
    record.validate().unwrap();
    record.outcome = Outcome::Score { winner: Color::White, margin_half_points: 777 };
    assert!(record.validate().is_err());
}
