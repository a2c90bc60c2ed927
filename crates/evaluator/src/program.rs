//! A foreign GTP program as a player.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use tengen_rules::{Color, GameState, KoRule, Move, Outcome, Rules, Scoring};

use crate::ProgramFault;
use crate::game::stones;
use crate::words::split;

/// What a program does when asked to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It plays.
    Move(Move),
    /// It gives up.
    Resign,
}

/// A running GTP program. It is ended when this is dropped.
pub struct Program {
    command: String,
    limit: Duration,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    commands: Vec<String>,
    /// Its name and version, as it says.
    pub title: String,
}

impl Program {
    /// Starts `command` (words, `'…'` and `"…"` as in a shell) and asks what it can do. Each
    /// answer must come within `limit`.
    ///
    /// GNU Go takes its rules from the command line alone, so the options that make it play by
    /// area scoring and take dead stones off before it passes are added where they are missing:
    /// `--chinese-rules --play-out-aftermath --capture-all-dead`, and those for ko and suicide.
    ///
    /// # Errors
    /// [`ProgramFault`].
    pub fn start(command: &str, rules: Rules, limit: Duration) -> Result<Program, ProgramFault> {
        let fault = |reason: String| ProgramFault::Start { command: command.to_owned(), reason };
        let words = split(command).map_err(fault)?;
        let (name, given) =
            words.split_first().ok_or_else(|| fault("the command is empty".to_owned()))?;
        let mut arguments = given.to_vec();
        if is_gnugo(name) {
            arguments.extend(gnugo_options(rules, given));
        }
        let spawn = |path: &str| {
            Command::new(path)
                .args(&arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        };
        // Debian keeps games where few search paths look.
        let mut child = spawn(name)
            .or_else(|error| {
                if name.contains('/') { Err(error) } else { spawn(&format!("/usr/games/{name}")) }
            })
            .map_err(|error| fault(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(fault("it has no standard input or output".to_owned()));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut program = Program {
            command: command.to_owned(),
            limit,
            child,
            input,
            lines,
            commands: Vec::new(),
            title: String::new(),
        };
        let listed = program.ask("list_commands")?;
        program.commands = listed.split_whitespace().map(str::to_owned).collect();
        let (name, version) = (program.ask("name")?, program.ask("version")?);
        program.title = format!("{name} {version}").trim().to_owned();
        Ok(program)
    }

    /// The command line it was started with.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Sets up the board, komi and rules of `start`, and checks what the program can be asked
    /// about. Set-up stones are played one by one, which every program takes, and which none counts
    /// as a handicap with points of its own. A program that takes a random seed gets `seed`, so that
    /// it plays the same game again.
    ///
    /// # Errors
    /// [`ProgramFault`].
    pub fn new_game(&mut self, start: &GameState, seed: u64) -> Result<(), ProgramFault> {
        let size = start.size();
        if size.width() != size.height() {
            let wanted = format!("{}x{}", size.width(), size.height());
            return Err(self.setting("board size", "squares only".into(), wanted));
        }
        let side = size.width().to_string();
        self.ask(&format!("boardsize {side}"))?;
        self.ask("clear_board")?;
        let komi = start.komi().points();
        self.ask(&format!("komi {komi}"))?;
        if self.knows("query_boardsize") {
            let found = self.ask("query_boardsize")?;
            if found != side {
                return Err(self.setting("board size", found, side));
            }
        }
        if self.knows("get_komi") {
            let found = self.ask("get_komi")?;
            if found.parse::<f64>().ok() != Some(komi) {
                return Err(self.setting("komi", found, komi.to_string()));
            }
        }
        if self.knows("set_random_seed") {
            self.ask(&format!("set_random_seed {}", seed % (1 << 31)))?;
        }
        for color in [Color::Black, Color::White] {
            for point in stones(start, color) {
                self.play(color, &size.vertex(Move::Play(point)))?;
            }
        }
        if self.knows("kata-set-rules") {
            let rules = start.rules();
            self.ask(&format!("kata-set-rules {}", kata_rules(rules)))?;
            if self.knows("kata-get-rules") {
                let found = self.ask("kata-get-rules")?;
                if !agrees(&found, rules) {
                    return Err(self.setting("rules", found, rules.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Asks for a move, which is not checked here.
    ///
    /// # Errors
    /// [`ProgramFault`]; an answer that is no vertex is [`ProgramFault::Refused`].
    pub fn genmove(&mut self, color: Color, state: &GameState) -> Result<Reply, ProgramFault> {
        let line = format!("genmove {}", letter(color));
        let answer = self.ask(&line)?;
        if answer.eq_ignore_ascii_case("resign") {
            return Ok(Reply::Resign);
        }
        state.size().parse_vertex(&answer).map(Reply::Move).map_err(|_| self.refused(&line, answer))
    }

    /// Tells the program a move of its opponent, or of the opening.
    ///
    /// # Errors
    /// [`ProgramFault`]; a legal move that it will not take is [`ProgramFault::Refused`].
    pub fn play(&mut self, color: Color, vertex: &str) -> Result<(), ProgramFault> {
        self.ask(&format!("play {} {vertex}", letter(color))).map(drop)
    }

    /// Compares the program's opinion of a finished game with the referee's: who won, not by how
    /// much. A program that does not score has no opinion.
    ///
    /// # Errors
    /// [`ProgramFault::Disputed`], or that of a program that fails now.
    pub fn confirm(&mut self, outcome: &Outcome) -> Result<(), ProgramFault> {
        if !self.knows("final_score") {
            return Ok(());
        }
        let found = self.ask("final_score")?;
        // An answer that is no result (a program may score only some games) is no opinion.
        let Some(theirs) = Outcome::parse_result(&found) else { return Ok(()) };
        if theirs.winner() == outcome.winner() {
            return Ok(());
        }
        let wanted = outcome.result_text();
        Err(ProgramFault::Disputed { command: self.command.clone(), found, wanted })
    }

    fn knows(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }

    /// Sends a line and returns the answer without its `=`.
    fn ask(&mut self, line: &str) -> Result<String, ProgramFault> {
        let crashed =
            || ProgramFault::Crashed { command: self.command.clone(), line: line.to_owned() };
        let sent = self.input.write_all(format!("{line}\n").as_bytes());
        sent.and_then(|()| self.input.flush()).map_err(|_| crashed())?;
        let mut answer: Option<String> = None;
        loop {
            match self.lines.recv_timeout(self.limit) {
                Ok(text) => {
                    let text = text.trim_end();
                    match &mut answer {
                        // A GTP answer begins with = or ?; chatter before it is not one.
                        None if text.starts_with(['=', '?']) => answer = Some(text.to_owned()),
                        None => {}
                        Some(_) if text.is_empty() => break,
                        Some(so_far) => {
                            so_far.push('\n');
                            so_far.push_str(text);
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(crashed()),
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    return Err(ProgramFault::Timeout {
                        command: self.command.clone(),
                        line: line.to_owned(),
                        limit: self.limit,
                    });
                }
            }
        }
        let answer = answer.unwrap_or_default();
        match answer.strip_prefix('=') {
            Some(text) => Ok(text.trim_start_matches(|c: char| c.is_ascii_digit()).trim().into()),
            None => Err(self.refused(line, answer)),
        }
    }

    fn refused(&self, line: &str, answer: String) -> ProgramFault {
        ProgramFault::Refused { command: self.command.clone(), line: line.to_owned(), answer }
    }

    fn setting(&self, what: &'static str, found: String, wanted: String) -> ProgramFault {
        ProgramFault::Setting { command: self.command.clone(), what, found, wanted }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"quit\n");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn letter(color: Color) -> char {
    match color {
        Color::Black => 'b',
        Color::White => 'w',
    }
}

fn is_gnugo(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|base| base.starts_with("gnugo"))
}

/// The options that GNU Go lacks for games by `rules`.
fn gnugo_options(rules: Rules, given: &[String]) -> Vec<String> {
    let has = |option: &str| given.iter().any(|word| word == option);
    let mut missing = Vec::new();
    let mut add = |option: &str| {
        if !has(option) {
            missing.push(option.to_owned());
        }
    };
    if rules.scoring == Scoring::Area && !has("--japanese-rules") {
        for option in ["--chinese-rules", "--play-out-aftermath", "--capture-all-dead"] {
            add(option);
        }
    }
    if rules.suicide && !has("--forbid-suicide") && !has("--allow-all-suicide") {
        add("--allow-suicide");
    }
    match rules.ko {
        _ if ["--simple-ko", "--no-ko", "--positional-superko", "--situational-superko"]
            .into_iter()
            .any(has) => {}
        KoRule::Positional => add("--positional-superko"),
        KoRule::Situational => add("--situational-superko"),
        KoRule::Simple => add("--simple-ko"),
    }
    missing
}

/// Rules as `kata-set-rules` takes them; only what decides games here.
fn kata_rules(rules: Rules) -> String {
    let ko = ko_word(rules);
    format!(
        "{{\"ko\":\"{ko}\",\"scoring\":\"{}\",\"tax\":\"NONE\",\"suicide\":{},\
         \"hasButton\":false,\"whiteHandicapBonus\":\"0\"}}",
        if rules.scoring == Scoring::Area { "AREA" } else { "TERRITORY" },
        rules.suicide
    )
}

fn ko_word(rules: Rules) -> &'static str {
    match rules.ko {
        KoRule::Simple => "SIMPLE",
        KoRule::Positional => "POSITIONAL",
        KoRule::Situational => "SITUATIONAL",
    }
}

/// Whether an answer to `kata-get-rules` names the ko rule and suicide of `rules`.
fn agrees(found: &str, rules: Rules) -> bool {
    let packed: String = found.chars().filter(|c| !c.is_whitespace()).collect();
    packed.contains(&format!("\"ko\":\"{}\"", ko_word(rules)))
        && packed.contains(&format!("\"suicide\":{}", rules.suicide))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gnu_go_gets_the_rules_it_cannot_be_asked_about() {
        let options = gnugo_options(Rules::tromp_taylor(), &["--mode".into(), "gtp".into()]);
        assert!(options.contains(&"--capture-all-dead".to_owned()), "{options:?}");
        assert!(options.contains(&"--positional-superko".to_owned()));
        let given = ["--chinese-rules".to_owned()];
        let again = gnugo_options(Rules::tromp_taylor(), &given);
        assert!(!again.contains(&given[0]), "nothing is said twice");
        assert!(is_gnugo("/usr/games/gnugo") && !is_gnugo("pachi"));
    }

    #[test]
    fn rules_of_another_game_are_noticed() {
        let rules = Rules::tromp_taylor();
        assert!(agrees(&kata_rules(rules), rules));
        let simple = Rules { ko: KoRule::Simple, ..rules };
        assert!(!agrees(&kata_rules(simple), rules));
    }
}
