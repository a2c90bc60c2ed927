//! Sessions as Sabaki and GoGui open them, and live streams as GUIs watch them.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

use common::{check_transcript, engine, say};

/// Sabaki attaches an engine: it asks who that is, what it can, then syncs the board move by move
/// and starts its analysis.
const SABAKI: &str = "\
> 1 name
=1 Tengen
> 2 version
=2 1.0
> 3 protocol_version
=3 2
> 4 list_commands
=4 all_legal\n…undo\nversion
> 5 boardsize 9
=5
> 6 clear_board
=6
> 7 komi 6.5
=7
> 8 play B E5
=8
> 9 play W C3
=9
> 10 genmove_analyze B 50
=10\n…
> 11 undo
=11
> 12 analyze B 50
=12\ninfo move …
> 13 known_command sabaki-genmovelog
=13 false
> 14 quit
=14";

/// GoGui: no ids for commands of its own start, analysis commands, and an interrupt as a comment.
const GOGUI: &str = "\
> name
= Tengen
> protocol_version
= 2
> list_commands
= …
> version
= 1.0
> gogui-title
= Tengen
> gogui-interrupt
=
> boardsize 5
=
> clear_board
=
> komi 0.5
=
> gogui-analyze_commands
= dboard/Policy…
> gogui-setup b C3 b C2 w D3
=
> gogui-setup_player w
=
> all_legal w
= A5 …
> tengen-policy
= 1.000 1.000…
> tengen-value
= 0.000 …
> tengen-ownership
= …
> gogui-play_sequence w B3 b B4
=
> move_history
= black B4\nwhite B3
> last_move
= black B4
> color C3
= black
> countlib C3
= 4
> findlib C3
= C4 B2 D2 C1
> reg_genmove w
= …
> final_status_list alive
= …
> undo
=
> is_legal b B3
= 0
> is_legal b A1
= 1
> captures b
= 0
> gg-undo 2
? cannot undo
> gg-undo
=
> time_settings 10 5 1
=
> time_left w 10 0
=
> kgs-genmove_cleanup w
= …
> cputime
= …
> quit
=";

#[test]
fn sabaki_gets_what_it_asks() {
    check_transcript(&mut engine(), &SABAKI.replace("\\n", "\n"));
}

#[test]
fn gogui_gets_what_it_asks() {
    check_transcript(&mut engine(), &GOGUI.replace("\\n", "\n"));
}

/// A GUI at the other end of two pipes.
struct Gui {
    to: std::io::PipeWriter,
    from: BufReader<std::io::PipeReader>,
    engine: thread::JoinHandle<()>,
}

impl Gui {
    fn start(lines: &[&str]) -> Gui {
        let (input, to) = pipe().unwrap();
        let (from, output) = pipe().unwrap();
        let engine = thread::spawn(move || engine().run(BufReader::new(input), output).unwrap());
        let mut gui = Gui { to, from: BufReader::new(from), engine };
        for line in lines {
            gui.send(line);
            gui.answer();
        }
        gui
    }

    fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// Lines up to the empty one.
    fn answer(&mut self) -> Vec<String> {
        std::iter::from_fn(|| Some(self.line()).filter(|line| !line.is_empty())).collect()
    }

    fn quit(mut self) {
        self.send("quit");
        assert_eq!(self.answer(), ["="]);
        self.engine.join().unwrap();
    }
}

#[test]
fn analysis_streams_until_a_line_comes_and_stops_at_once() {
    for (command, field) in [
        ("lz-analyze 2", " lcb "),
        ("kata-analyze b 2 rootInfo true ownership true", " rootInfo visits "),
        ("analyze interval 2", " utility "),
    ] {
        let mut gui = Gui::start(&["boardsize 5"]);
        gui.send(&format!("7 {command}"));
        assert_eq!(gui.line(), "=7");
        for _ in 0..3 {
            let line = gui.line();
            assert!(line.starts_with("info move ") && line.contains(field), "{line}");
        }
        let asked = Instant::now();
        gui.send("8 name");
        gui.answer();
        assert_eq!(gui.answer(), ["=8 Tengen"]);
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        gui.send("kata-analyze 1");
        gui.line();
        // A bare newline stops it too.
        gui.send("");
        gui.answer();
        gui.quit();
    }
}

#[test]
fn a_search_can_be_cancelled_and_a_genmove_hurried() {
    let mut gui = Gui::start(&["boardsize 9", "kata-set-param maxVisits 1000000000"]);
    gui.send("kata-search_cancellable b");
    gui.send("kata-search_analyze_cancellable b 1");
    assert_eq!(gui.answer(), ["= cancelled"]);
    gui.send("genmove b");
    assert_eq!(gui.answer().last().unwrap(), "play cancelled");
    // GoGui's interrupt is a comment.
    gui.send("# interrupt");
    let answer = gui.answer();
    assert!(answer[0].starts_with("= ") && !answer[0].contains("cancelled"), "{answer:?}");
    gui.quit();
}

#[test]
fn pondering_stops_at_once_and_its_work_is_kept() {
    let mut gui = Gui::start(&[
        "boardsize 5",
        "kata-set-params {\"ponderingEnabled\":true,\"maxVisits\":100}",
        "genmove b",
    ]);
    thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    gui.send("kata-analyze w 1 rootInfo true");
    gui.line();
    let line = gui.line();
    assert!(asked.elapsed() < Duration::from_secs(2));
    let visits = line.split(" rootInfo visits ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(visits.parse::<u32>().unwrap() > 100, "{visits}");
    gui.send("stop");
    gui.answer();
    gui.answer();
    gui.quit();
}

#[test]
fn the_clock_is_kept_through_a_game() {
    let mut engine = engine();
    for line in ["boardsize 9", "kata-set-param maxVisits 1000000", "time_settings 2 0 0"] {
        assert_eq!(say(&mut engine, line), "=", "{line}");
    }
    let start = Instant::now();
    for _ in 0..40 {
        assert!(say(&mut engine, "genmove b").starts_with("= "));
        say(&mut engine, "play w pass");
    }
    // Two seconds for all of Black's moves; what one evaluation a move takes is the rest.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn raw_evaluations_and_parameters_read_as_documented() {
    let mut engine = engine();
    say(&mut engine, "boardsize 3");
    say(&mut engine, "play b B2");
    let raw = say(&mut engine, "kata-raw-nn 0");
    assert!(raw.starts_with("= symmetry 0\nwhiteWin 0.500000\nwhiteLoss 0.500000\n"), "{raw}");
    assert!(raw.contains("NAN") && raw.contains("\npolicyPass 0.111111"), "{raw}");
    assert_eq!(say(&mut engine, "kata-raw-nn b all").matches("symmetry").count(), 8);
    assert!(say(&mut engine, "kata-raw-nn 9").starts_with("? "));
    assert_eq!(say(&mut engine, "kata-get-param maxVisits"), "= 16");
    assert!(say(&mut engine, "kata-set-param flavour sour").starts_with("? "));
    assert!(say(&mut engine, "kata-get-params").contains("\"maxVisits\":16"));
    assert!(say(&mut engine, "kata-get-models").starts_with("= [{"));
    assert_eq!(say(&mut engine, "kata-list_time_settings").split(' ').count(), 7);
    for line in ["kata-time_settings fischer 10.5 2", "kata-time_settings none"] {
        assert_eq!(say(&mut engine, line), "=", "{line}");
    }
}

#[test]
fn rules_stay_until_changed_and_one_part_can_be_changed() {
    let mut engine = engine();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.sgf");
    std::fs::write(&path, "(;SZ[9]KM[6.5];B[ee])").unwrap();
    assert_eq!(say(&mut engine, "kata-set-rules chinese-ogs"), "=");
    let rules = say(&mut engine, "kata-get-rules");
    say(&mut engine, &format!("loadsgf {}", path.display()));
    assert_eq!(say(&mut engine, "kata-get-rules"), rules);
    say(&mut engine, "clear_board");
    assert_eq!(say(&mut engine, "kata-get-rules"), rules);
    std::fs::write(&path, "(;SZ[9]RU[tromp-taylor];B[ee])").unwrap();
    say(&mut engine, &format!("loadsgf {}", path.display()));
    assert!(say(&mut engine, "kata-get-rules").contains("\"suicide\":true"));
    assert_eq!(say(&mut engine, "kata-set-rule ko SIMPLE"), "=");
    assert!(say(&mut engine, "kata-get-rules").contains("\"ko\":\"SIMPLE\""));
    assert!(say(&mut engine, "kata-set-rule colour red").starts_with("? "));
    assert_eq!(say(&mut engine, "kgs-rules chinese"), "=");
    assert!(say(&mut engine, "kata-get-rules").contains("\"ko\":\"POSITIONAL\""));
}

#[test]
fn the_score_follows_the_rules_that_are_set() {
    // White's stone in Black's corner is dead where players agree on that, alive where not.
    let mut engine = engine();
    for line in ["boardsize 5", "komi 0.5"] {
        say(&mut engine, line);
    }
    say(&mut engine, "set_position b B1 b B2 b B3 b A3 b B4 b B5 b D1 b D2 b D3 b D4 b D5 w A1");
    assert_eq!(say(&mut engine, "final_status_list dead"), "=");
    say(&mut engine, "kata-set-rules chinese");
    assert_eq!(say(&mut engine, "final_status_list dead"), "= A1");
    assert_eq!(say(&mut engine, "final_score"), "= B+24.5");
    // 13 points of its own with the one under the prisoner, and the prisoner.
    say(&mut engine, "kata-set-rules japanese");
    assert_eq!(say(&mut engine, "final_score"), "= B+14.5");
}
