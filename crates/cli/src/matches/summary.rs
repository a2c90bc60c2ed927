//! What a match has shown, for people and as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tengen_evaluator::{Tally, Verdict, elo_of_pairs, elo_with_interval, tally_every, tally_games};
use tengen_rules::GameState;

use super::folder::StoredGame;
use super::played;
use crate::parts::gate::Clock;

/// A match as far as it was played.
pub struct Played {
    /// The players.
    pub names: [String; 2],
    /// The first position.
    pub start: GameState,
    /// Stones that the second player was given; it is Black in every game then.
    pub handicap: u32,
    /// Simulations a move of either house player.
    pub visits: [u32; 2],
    /// Time in place of visits.
    pub clock: Option<Clock>,
    /// Games wanted.
    pub planned: u32,
    /// Of a sequential test.
    pub verdict: Option<Verdict>,
    /// In slot order.
    pub games: Vec<StoredGame>,
    /// Where they lie.
    pub folder: PathBuf,
    /// Games that an earlier process played.
    pub resumed: usize,
}

/// Elo with its interval: of pairs where every game has its twin, else of single games.
pub fn elo(tally: &Tally) -> (f64, f64, f64) {
    let paired: u32 = 2 * tally.pairs.iter().sum::<u32>();
    if paired == tally.games() && paired >= 20 {
        elo_of_pairs(tally.pairs)
    } else {
        elo_with_interval(tally.wins, tally.losses, tally.draws + tally.no_results)
    }
}

impl Played {
    /// All games counted, from the first player's side.
    pub fn tally(&self) -> Tally {
        tally_every(&played(&self.games))
    }

    fn of_colour(&self, colour: u8) -> Tally {
        let mut games = played(&self.games);
        games.retain(|game| game.colour == colour);
        tally_every(&games)
    }

    fn seconds_per_move(&self) -> [Option<f64>; 2] {
        [0, 1].map(|side| {
            let timed =
                || self.games.iter().filter_map(|g| Some((g.seconds?[side], g.chosen[side])));
            let moves: u32 = timed().map(|(_, moves)| moves).sum();
            (moves > 0).then(|| timed().map(|(s, _)| s).sum::<f64>() / f64::from(moves))
        })
    }

    fn lengths(&self) -> Vec<usize> {
        self.games.iter().filter(|g| g.fault.is_none()).map(|g| g.record.turns.len()).collect()
    }

    fn disputes(&self) -> usize {
        self.games.iter().filter(|g| g.disputed).count()
    }

    fn faults(&self) -> impl Iterator<Item = (&StoredGame, &str)> {
        self.games.iter().filter_map(|g| g.fault.as_deref().map(|fault| (g, fault)))
    }

    /// Facts; every count from the first player's side.
    pub fn json(&self) -> Value {
        let tally = self.tally();
        let repeats = tally_games(&played(&self.games)).repeats;
        let (elo, low, high) = elo(&tally);
        let counts = |t: Tally| {
            json!({ "wins": t.wins, "losses": t.losses, "draws": t.draws,
                    "no_results": t.no_results, "faults": t.faults })
        };
        let lengths = self.lengths();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
        json!({
            "a": self.names[0], "b": self.names[1],
            "board": [self.start.size().width(), self.start.size().height()],
            "rules": self.start.rules().to_string(), "komi": self.start.komi().points(),
            "handicap": self.handicap, "visits": self.visits[0], "opponent_visits": self.visits[1],
            "seconds": self.clock.map(|clock| clock.time.as_secs_f64()),
            "search_threads": self.clock.map(|clock| clock.threads),
            "games": tally.games(), "planned": self.planned,
            "wins": tally.wins, "losses": tally.losses, "draws": tally.draws,
            "no_results": tally.no_results, "faults": tally.faults,
            "disputes": self.disputes(), "repeats": repeats,
            "score": tally.score(), "elo": elo, "elo_low": low, "elo_high": high,
            "pairs": tally.pairs, "as_black": counts(self.of_colour(0)),
            "as_white": counts(self.of_colour(1)), "mean_length": mean,
            "seconds_per_move": self.seconds_per_move(),
            "fault_list": self.faults().map(|(g, f)| json!({ "pair": g.pair, "colour": g.colour, "fault": f })).collect::<Vec<_>>(),
            "verdict": self.verdict.map(|v| v.to_string()),
            "complete": self.games.len() as u32 >= self.planned,
            "resumed": self.resumed, "folder": self.folder,
        })
    }

    /// The final table.
    pub fn table(&self) -> String {
        let tally = self.tally();
        let [a, b] = &self.names;
        let size = self.start.size();
        let thought = match (self.visits, self.clock) {
            (_, Some(Clock { time, threads: [ours, theirs] })) => {
                format!("{:?} a move on {ours} and {theirs} threads", time)
            }
            ([ours, theirs], None) if ours == theirs => format!("{ours} visits a move"),
            ([ours, theirs], None) => format!("{ours} and {theirs} visits a move"),
        };
        let mut text = format!(
            "{a} against {b} on {}x{}, {}, komi {}, {thought}\n",
            size.width(),
            size.height(),
            self.start.rules(),
            self.start.komi().points(),
        );
        if self.handicap > 0 {
            let _ = writeln!(text, "{b} takes {} stones and is Black in every game", self.handicap);
        }
        let mut row = |name: &str, t: &Tally| {
            let _ = writeln!(
                text,
                "{name:<10} games {:>4}  won {:>4}  lost {:>4}  drawn {:>3}  no result {:>3}  score {:>5.1} %",
                t.games(),
                t.wins,
                t.losses,
                t.draws,
                t.no_results,
                100.0 * t.score()
            );
        };
        row("all", &tally);
        row("as Black", &self.of_colour(0));
        row("as White", &self.of_colour(1));
        let (elo, low, high) = elo(&tally);
        let _ = writeln!(text, "Elo of {a}: {elo:+.0} [{low:+.0}, {high:+.0}] at 95 %");
        let _ = writeln!(
            text,
            "pairs by points 0, 0.5, 1, 1.5, 2: {}",
            tally.pairs.map(|n| n.to_string()).join(", ")
        );
        let repeats = tally_games(&played(&self.games)).repeats;
        if repeats > 0 {
            let _ =
                writeln!(text, "{repeats} games repeat others move for move: see --opening-moves");
        }
        let lengths = self.lengths();
        if let (Some(least), Some(most)) = (lengths.iter().min(), lengths.iter().max()) {
            let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
            let _ = writeln!(text, "length {mean:.1} moves ({least} to {most})");
        }
        if let [Some(ours), Some(theirs)] = self.seconds_per_move() {
            let _ = writeln!(text, "seconds a move: {a} {ours:.3}, {b} {theirs:.3}");
        }
        if tally.faults > 0 {
            let _ = writeln!(
                text,
                "{} games without a result, {} of them disputed; nobody's win:",
                tally.faults,
                self.disputes()
            );
            for (game, fault) in self.faults().take(5) {
                let _ = writeln!(text, "  pair {} colour {}: {fault}", game.pair, game.colour);
            }
        }
        if let Some(verdict) = self.verdict {
            let _ = writeln!(text, "sequential test: {verdict}");
        }
        let _ = writeln!(text, "games in {}", self.folder.display());
        text
    }
}
