//! Games with GTP programs that behave, and with ones that do not.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test stops at its first surprise")]

use std::time::Duration;

use tengen_evaluator::{
    Duel, DuelPlan, GameResult, PlayedGame, Program, ProgramFault, Seat, duel, tally_games,
};
use tengen_inference::UniformEvaluator;
use tengen_record::EndReason;
use tengen_rules::{BoardSize, GameState, Komi, Outcome, Rules};
use tengen_search::SearchConfig;

/// A program in the shell's own words: what it does at `genmove` and says at `final_score`.
fn program(genmove: &str, score: &str, komi: &str) -> String {
    format!(
        "sh -c \"while read c x; do case $c in \
         list_commands) printf '= name\\nfinal_score\\nget_komi\\n\\n';; \
         get_komi) printf '= {komi}\\n\\n';; genmove) {genmove};; \
         final_score) printf '= {score}\\n\\n';; *) printf '=\\n\\n';; esac; done\""
    )
}

fn says(answer: &str) -> String {
    format!("printf '{answer}\\n\\n'")
}

fn start() -> GameState {
    let komi = Komi::from_points(0.5).unwrap();
    GameState::new(BoardSize::square(3).unwrap(), Rules::tromp_taylor(), komi)
}

/// One game of the uniform search, White, against a program.
fn play(command: &str, limit: Duration) -> Result<Duel, ProgramFault> {
    let start = start();
    let mut opponent = Program::start(command, start.rules(), limit)?;
    let search = SearchConfig { visits: 4, dirichlet_fraction: 0.0, ..SearchConfig::default() };
    let plan = DuelPlan {
        start: &start,
        opening: &[],
        search: &search,
        max_moves: 40,
        seed: 1,
        names: ["ours".into(), "theirs".into()],
    };
    let seats = [Seat::Search(&mut UniformEvaluator), Seat::Program(&mut opponent)];
    let game = duel(&plan, (0, 1), seats).unwrap();
    game.record.validate().unwrap();
    Ok(game)
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_program_that_resigns_has_lost() {
    let game = play(&program(&says("= resign"), "0", "0.5"), PATIENCE).unwrap();
    assert_eq!(game.fault, None);
    assert_eq!(game.record.end, EndReason::Resignation);
    assert_eq!(PlayedGame::of(0, 1, &game.record).result, GameResult::Win);
    assert_eq!(game.record.players, ["theirs", "ours"]);
    assert_eq!(game.moves, [0, 1]);
}

#[test]
fn a_broken_opponent_is_never_a_quiet_win() {
    type Check = fn(&ProgramFault) -> bool;
    let soon = Duration::from_millis(300);
    let cases: [(&str, String, Duration, Check); 5] = [
        ("crash", "exit 1".into(), PATIENCE, |f| matches!(f, ProgramFault::Crashed { .. })),
        ("hang", "sleep 30".into(), soon, |f| matches!(f, ProgramFault::Timeout { .. })),
        ("error", says("? oops"), PATIENCE, |f| matches!(f, ProgramFault::Refused { .. })),
        ("junk", says("= hello"), PATIENCE, |f| matches!(f, ProgramFault::Refused { .. })),
        ("illegal", says("= B2"), PATIENCE, |f| matches!(f, ProgramFault::IllegalMove { .. })),
    ];
    for (name, genmove, limit, check) in cases {
        let game = play(&program(&genmove, "0", "0.5"), limit).unwrap();
        let fault = game.fault.unwrap_or_else(|| panic!("{name}: {:?}", game.record.outcome));
        assert!(check(&fault), "{name}: {fault}");
        assert_eq!((game.record.end, game.record.outcome), (EndReason::Forfeit, Outcome::NoResult));
        let played = PlayedGame::of(0, 1, &game.record);
        assert_eq!(played.result, GameResult::Fault, "{name}");
        let twin = PlayedGame { colour: 0, ..played };
        let tally = tally_games(&[played, twin]);
        assert_eq!((tally.games(), tally.wins, tally.faults), (0, 0, 2));
    }
}

#[test]
fn a_program_that_counts_another_winner_disputes_the_game() {
    // It passes at once; on a board of White stones alone (or none, and komi) White has won.
    let right = play(&program(&says("= pass"), "W+0.5", "0.5"), PATIENCE).unwrap();
    assert_eq!(right.fault, None);
    let wrong = play(&program(&says("= pass"), "B+9.5", "0.5"), PATIENCE).unwrap();
    assert!(matches!(wrong.fault, Some(ProgramFault::Disputed { .. })), "{:?}", wrong.fault);
    let silent = play(&program(&says("= pass"), "what", "0.5"), PATIENCE).unwrap();
    assert_eq!(silent.fault, None, "no opinion is no dispute");
}

#[test]
fn komi_is_checked_and_a_missing_program_is_named() {
    let game = play(&program(&says("= pass"), "0", "6.5"), PATIENCE).unwrap();
    assert!(matches!(game.fault, Some(ProgramFault::Setting { what: "komi", .. })));
    let error = play("no-such-program --mode gtp", PATIENCE).unwrap_err();
    assert!(matches!(error, ProgramFault::Start { .. }), "{error}");
    assert!(play("", PATIENCE).is_err() && play("sh 'open", PATIENCE).is_err());
}
