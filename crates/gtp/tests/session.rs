//! Whole conversations, as a controller would have them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{engine, say, session};

/// Lines sent are marked `>`, answers stand below them as they must come.
const TRANSCRIPT: &str = "\
> 1 protocol_version
=1 2
> 2 name
=2 Tengen
> version
= 1.0
> known_command genmove
= true
> known_command dance
= false
> 3 dance
?3 unknown command
> 10 boardsize 5
=10
> clear_board
=
> komi 0.5
=
> get_komi
= 0.5
> play black C3 # the centre
=
> 4 play white C3
?4 illegal move
> play white c4
=
> showboard
= To play: Black, move 3, komi 0.5, captures: Black 0, White 0
   A B C D E
 5 . . . . . 5
 4 . . O . . 4
 3 . . X . . 3
 2 . . . . . 2
 1 . . . . . 1
   A B C D E
> undo
=
> list_stones white
=
> undo
=
> undo
? cannot undo
> boardsize 26
? unacceptable size
> query_boardsize
= 5
> boardsize 4 3
=
> query_boardsize
= 4 3
> final_score
= W+0.5
> kata-set-rules tromp-taylor
=
> kata-get-rules
= {\"friendlyPassOk\":false,\"hasButton\":false,\"ko\":\"POSITIONAL\",\"scoring\":\"AREA\",\"suicide\":true,\"tax\":\"NONE\",\"whiteHandicapBonus\":\"0\"}
> 99 quit
=99
";

#[test]
fn the_transcript_holds_line_by_line() {
    let mut engine = engine();
    let mut lines = TRANSCRIPT.lines().peekable();
    while let Some(sent) = lines.next() {
        let sent = sent.strip_prefix("> ").unwrap();
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('>')) {
            expected.push(line);
        }
        let answer = say(&mut engine, sent);
        assert_eq!(answer, expected.join("\n"), "{sent}");
    }
    assert!(engine.is_done());
}

#[test]
fn every_listed_command_is_known_and_survives_nonsense() {
    let listed = say(&mut engine(), "list_commands");
    // `printsgf x` would write a file.
    for name in listed.trim_start_matches("= ").lines().filter(|name| *name != "printsgf") {
        assert_eq!(say(&mut engine(), &format!("known_command {name}")), "= true");
        for args in ["", " x", " b", " -1 999999999999999999999 ü", " b I1", " 1 2 3 4"] {
            let mut engine = engine();
            say(&mut engine, "boardsize 3");
            let answer = say(&mut engine, &format!("{name}{args}"));
            assert!(answer.starts_with(['=', '?']), "{name}{args}: {answer}");
        }
    }
}

#[test]
fn the_stream_ends_with_quit_or_with_the_input() {
    assert_eq!(session("name\nquit\nname\n"), ["= Tengen", "="]);
    assert_eq!(session("protocol_version"), ["= 2"]);
    assert_eq!(session("\n# only a comment\n\n"), [""; 0]);
    let mut out = Vec::new();
    engine().run(std::io::Cursor::new(b"\xff\xfe name\nname\n"), &mut out).unwrap();
    assert_eq!(out, b"? unknown command\n\n= Tengen\n\n");
}

#[test]
fn a_generated_game_is_legal_to_its_end() {
    let mut engine = engine();
    say(&mut engine, "boardsize 3");
    let mut passes = 0;
    for turn in 0..60 {
        let color = ["b", "w"][turn % 2];
        let answer = say(&mut engine, &format!("genmove {color}"));
        let vertex = answer.strip_prefix("= ").unwrap().to_owned();
        passes = if vertex == "pass" { passes + 1 } else { 0 };
        if passes == 2 {
            break;
        }
    }
    assert!(say(&mut engine, "final_score").starts_with("= "));
}

#[test]
fn the_same_lines_get_the_same_moves() {
    let lines = "boardsize 5\ngenmove b\ngenmove w\ngenmove b\nreg_genmove w\nundo\ngenmove b\n";
    assert_eq!(session(lines), session(lines));
}

#[test]
fn reg_genmove_leaves_the_board_alone() {
    let mut engine = engine();
    say(&mut engine, "boardsize 5");
    let before = engine.state().situation_hash();
    assert!(say(&mut engine, "reg_genmove w").starts_with("= "));
    assert_eq!(engine.state().situation_hash(), before);
}

#[test]
fn one_colour_may_move_twice_and_never_ends_the_game_by_it() {
    let mut engine = engine();
    for line in ["boardsize 5", "play b pass", "play b C3", "play b pass", "play b B2"] {
        assert_eq!(say(&mut engine, line), "=", "{line}");
    }
    assert_eq!(say(&mut engine, "list_stones b"), "= C3 B2");
    assert!(!engine.state().is_over());
    assert_ne!(say(&mut engine, "genmove w"), "= pass");
}

#[test]
fn after_two_passes_genmove_passes_and_play_goes_on() {
    let mut engine = engine();
    for line in ["boardsize 5", "play b C3", "play w pass", "play b pass"] {
        say(&mut engine, line);
    }
    assert!(engine.state().is_over());
    assert_eq!(say(&mut engine, "genmove b"), "= pass");
    assert_eq!(say(&mut engine, "genmove w"), "= pass");
    assert_eq!(say(&mut engine, "play w B2"), "=");
    assert_eq!(say(&mut engine, "list_stones w"), "= B2");
}

#[test]
fn prisoners_survive_a_fresh_start_after_two_passes() {
    let mut engine = engine();
    let moves = ["w A1", "b A2", "b B1", "w pass", "b pass", "b C3"];
    say(&mut engine, "boardsize 5");
    for mv in moves {
        assert_eq!(say(&mut engine, &format!("play {mv}")), "=", "{mv}");
    }
    assert!(say(&mut engine, "showboard").contains("Black 1, White 0"));
}

#[test]
fn whites_bonus_is_for_handicap_commands_only() {
    let mut engine = engine();
    for line in ["boardsize 9", "komi 0", "kata-set-rules chinese"] {
        assert_eq!(say(&mut engine, line), "=");
    }
    say(&mut engine, "fixed_handicap 2");
    assert_eq!(say(&mut engine, "final_score"), "= B+79");
    assert_eq!(say(&mut engine, "fixed_handicap 2"), "? board not empty");
    for line in ["clear_board", "play b C3", "play b G7"] {
        say(&mut engine, line);
    }
    assert_eq!(say(&mut engine, "final_score"), "= B+81");
}

#[test]
fn time_is_kept() {
    let mut engine = engine();
    for line in ["boardsize 9", "time_settings 1 0 0", "time_left b 0 0", "time_left w 1 5"] {
        assert_eq!(say(&mut engine, line), "=", "{line}");
    }
    assert!(say(&mut engine, "genmove b").starts_with("= "));
    assert_eq!(say(&mut engine, "time_settings 60"), "? syntax error");
    assert_eq!(say(&mut engine, "kgs-time_settings canadian 1780 20 1"), "=");
}
