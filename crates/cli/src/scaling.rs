//! `tengen scaling`: how strength grows with visits or threads, and how many handicap stones a
//! difference is worth.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::{Args, Subcommand};
use plotters::prelude::*;
use serde_json::json;
use tengen_evaluator::{PlayedGame, Rating, Results, fit};

use crate::args::MatchTerms;
use crate::logging;
use crate::matches::{Played, Wanted, elo, play_out};
use crate::parts::gate::Clock;
use crate::ratings::{merged, one_game};
use crate::stop::Stop;

/// `tengen scaling WHAT`.
#[derive(Debug, Subcommand)]
pub enum ScalingCommand {
    /// One player at several numbers of visits, each against the next.
    Visits(VisitsArgs),
    /// One player on several numbers of threads at equal time, each against the next.
    Threads(ThreadsArgs),
    /// A stronger player gives a weaker one handicap stones: how many make the game even.
    Handicap(HandicapArgs),
}

/// A player at rising levels of something.
#[derive(Debug, Args)]
pub struct ScaleArgs {
    /// A player, as for `tengen match`.
    #[arg(long)]
    pub net: String,
    /// Games between neighbours, and all else about a match.
    #[command(flatten)]
    pub terms: MatchTerms,
    /// Folder for `scaling.svg`, `scaling.json` and `scaling.csv`.
    #[arg(long, default_value = ".")]
    pub out: PathBuf,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// `tengen scaling visits`.
#[derive(Debug, Args)]
pub struct VisitsArgs {
    /// Simulations a move, rising.
    #[arg(long, value_delimiter = ',', default_values_t = [8, 16, 32, 64, 128])]
    pub visits: Vec<u32>,
    /// Who plays, and what is written.
    #[command(flatten)]
    pub scale: ScaleArgs,
}

/// `tengen scaling threads`.
#[derive(Debug, Args)]
pub struct ThreadsArgs {
    /// Threads of one search, rising.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    pub search_threads: Vec<u32>,
    /// Seconds a move.
    #[arg(long, default_value_t = 0.5)]
    pub seconds: f64,
    /// Who plays, and what is written.
    #[command(flatten)]
    pub scale: ScaleArgs,
}

/// `tengen scaling handicap`.
#[derive(Debug, Args)]
pub struct HandicapArgs {
    /// The stronger player, White in games with stones.
    pub a: String,
    /// The weaker one.
    pub b: String,
    /// Handicaps to try, rising; 0 is an even game with colours exchanged.
    #[arg(long, value_delimiter = ',', default_values_t = [0, 2, 3, 4])]
    pub stones: Vec<u32>,
    /// Simulations a move, for both.
    #[arg(long, default_value_t = 64)]
    pub visits: u32,
    /// Games at each handicap, and all else about a match.
    #[command(flatten)]
    pub terms: MatchTerms,
    /// Facts as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Strength at one place of an axis.
#[derive(Clone, Copy, Debug)]
struct Spot {
    x: u32,
    elo: f64,
    low: f64,
    high: f64,
    games: u32,
}

/// Plays and prints what was asked for.
pub fn run(what: &ScalingCommand) -> Result<()> {
    logging::init(None)?;
    match what {
        ScalingCommand::Visits(args) => visits(args),
        ScalingCommand::Threads(args) => threads(args),
        ScalingCommand::Handicap(args) => handicap(args),
    }
}

fn rising(values: &[u32], option: &str) -> Result<()> {
    if values.len() < 2 || values.windows(2).any(|two| two[0] >= two[1]) {
        bail!("{option} takes two or more rising numbers, as in {option} 8,16,32");
    }
    Ok(())
}

fn visits(args: &VisitsArgs) -> Result<()> {
    rising(&args.visits, "--visits")?;
    let scale = Scale { args: &args.scale, what: "visits", levels: &args.visits };
    scale.show(&scale.measure(|stronger, weaker| ([stronger, weaker], None))?)
}

fn threads(args: &ThreadsArgs) -> Result<()> {
    rising(&args.search_threads, "--search-threads")?;
    let count = |threads: u32| threads as usize;
    let most = args.search_threads.last().copied().map_or(1, count);
    let clock = Clock::new(args.seconds, [most; 2])?;
    let scale = Scale { args: &args.scale, what: "threads", levels: &args.search_threads };
    // Visits have no say where there is a clock.
    let spots = scale.measure(|stronger, weaker| {
        ([1; 2], Some(Clock { threads: [count(stronger), count(weaker)], ..clock }))
    })?;
    scale.show(&spots)
}

/// A player at rising levels of something, each against the one below it.
struct Scale<'a> {
    args: &'a ScaleArgs,
    /// What rises.
    what: &'static str,
    levels: &'a [u32],
}

impl Scale<'_> {
    /// Plays neighbours against each other and fits all levels on one scale, the lowest at 0.
    /// `sides` says what the stronger and the weaker side search with.
    fn measure(&self, sides: impl Fn(u32, u32) -> ([u32; 2], Option<Clock>)) -> Result<Vec<Spot>> {
        let stop = Stop::install(0.0)?;
        let mut results = Vec::new();
        for (i, two) in self.levels.windows(2).enumerate() {
            // The stronger one is the first player: a score above a half is what one expects.
            let (visits, clock) = sides(two[1], two[0]);
            let wanted = Wanted {
                a: &self.args.net,
                b: &self.args.net,
                visits,
                clock,
                handicap: 0,
                sprt: None,
                fresh: false,
                terms: &self.args.terms,
            };
            let played = play_out(&wanted, &stop)?;
            if stop.now() {
                bail!("stopped; the games are kept, and the same command goes on");
            }
            let score = 100.0 * played.tally().score();
            eprintln!("{} against {} {}: {score:.1} %", two[1], two[0], self.what);
            results.extend(results_of(&played, i + 1, i));
        }
        let results = merged(results);
        let fitted = fit(self.levels.len(), &results).over(0);
        let spot = |(i, (&x, rating)): (usize, (&u32, Rating))| Spot {
            x,
            elo: rating.elo,
            low: rating.low,
            high: rating.high,
            games: games_of(&results, i),
        };
        Ok(self.levels.iter().zip(fitted).enumerate().map(spot).collect())
    }

    fn show(&self, spots: &[Spot]) -> Result<()> {
        let out = &self.args.out;
        let rows = rows(spots, self.what);
        let write = |name: &str, text: &str| {
            let path = out.join(name);
            std::fs::write(&path, text).map_err(|e| anyhow!("cannot write {}: {e}", path.display()))
        };
        write("scaling.json", &serde_json::to_string_pretty(&rows)?)?;
        write("scaling.csv", &csv(spots, self.what))?;
        draw(spots, self.what, &out.join("scaling.svg"))?;
        if self.args.json {
            println!("{}", json!({ "net": self.args.net, "rows": rows }));
        } else {
            print!("{}", table(spots, self.what));
            println!("written: scaling.svg, scaling.json and scaling.csv in {}", out.display());
        }
        Ok(())
    }
}

fn handicap(args: &HandicapArgs) -> Result<()> {
    rising(&args.stones, "--stones")?;
    let stop = Stop::install(0.0)?;
    let mut spots = Vec::new();
    for &stones in &args.stones {
        let wanted = Wanted {
            a: &args.a,
            b: &args.b,
            visits: [args.visits; 2],
            clock: None,
            handicap: stones,
            sprt: None,
            fresh: false,
            terms: &args.terms,
        };
        let played = play_out(&wanted, &stop)?;
        if stop.now() {
            bail!("stopped; the games are kept, and the same command goes on");
        }
        let tally = played.tally();
        let (elo, low, high) = elo(&tally);
        spots.push(Spot { x: stones, elo, low, high, games: tally.games() });
    }
    let implied = implied_stones(&spots);
    if args.json {
        println!("{}", json!({ "rows": rows(&spots, "stones"), "implied_stones": implied }));
        return Ok(());
    }
    print!("{}", table(&spots, "stones"));
    match implied {
        Some(stones) => println!("even at {stones:.1} stones"),
        None if spots.iter().all(|spot| spot.elo > 0.0) => {
            println!("ahead at every handicap tried: give more stones");
        }
        None => {
            println!("behind at every handicap tried: exchange the players or give fewer stones")
        }
    }
    Ok(())
}

/// Where the lead crosses zero, on straight lines between the handicaps tried; `None` where it
/// does not.
fn implied_stones(spots: &[Spot]) -> Option<f64> {
    spots.windows(2).find_map(|two| {
        let [a, b] = [two[0], two[1]];
        (a.elo >= 0.0 && b.elo <= 0.0 && a.elo > b.elo).then(|| {
            let share = a.elo / (a.elo - b.elo);
            f64::from(a.x) + share * f64::from(b.x - a.x)
        })
    })
}

/// The games of a match between players `a` and `b` of a scale; faults are nobody's.
fn results_of(played: &Played, a: usize, b: usize) -> Vec<Results> {
    played
        .games
        .iter()
        .filter_map(|game| {
            let points = PlayedGame::of(game.pair, game.colour, &game.record).scored()?;
            Some(one_game(a, b, game.colour, points))
        })
        .collect()
}

fn games_of(results: &[Results], player: usize) -> u32 {
    results
        .iter()
        .filter(|r| r.black == player || r.white == player)
        .map(|r| r.black_wins + r.white_wins + r.draws)
        .sum()
}

fn rows(spots: &[Spot], key: &str) -> Vec<serde_json::Value> {
    let row = |s: &Spot| json!({ key: s.x, "elo": s.elo, "elo_low": s.low, "elo_high": s.high, "games": s.games });
    spots.iter().map(row).collect()
}

fn csv(spots: &[Spot], key: &str) -> String {
    let line = |s: &Spot| format!("{},{},{},{},{}\n", s.x, s.elo, s.low, s.high, s.games);
    format!("{key},elo,elo_low,elo_high,games\n") + &spots.iter().map(line).collect::<String>()
}

fn table(spots: &[Spot], key: &str) -> String {
    let line = |s: &Spot| {
        format!("{:>7} {:>+6.0}  [{:>+6.0}, {:>+6.0}]  {:>5}\n", s.x, s.elo, s.low, s.high, s.games)
    };
    format!("{key:>7}    Elo    95 % interval    games\n")
        + &spots.iter().map(line).collect::<String>()
}

/// Elo over the lowest level, on an axis that doubles.
fn draw(spots: &[Spot], what: &str, path: &Path) -> Result<()> {
    let drawn = || -> std::result::Result<(), Box<dyn std::error::Error>> {
        let root = SVGBackend::new(path, (640, 420)).into_drawing_area();
        root.fill(&WHITE)?;
        let place = |s: &Spot| f64::from(s.x).log2();
        let ends = |pick: fn(f64, f64) -> f64, value: fn(&Spot) -> f64| {
            spots.iter().map(value).reduce(pick).unwrap_or(0.0)
        };
        let (left, right) = (spots.first().map_or(0.0, place), spots.last().map_or(1.0, place));
        let (low, high) = (ends(f64::min, |s| s.low) - 30.0, ends(f64::max, |s| s.high) + 30.0);
        let mut chart = ChartBuilder::on(&root)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(left - 0.2..right + 0.2, low..high)?;
        chart
            .configure_mesh()
            .x_desc(what)
            .y_desc("Elo, with 95 % intervals")
            .x_label_formatter(&|x| format!("{:.0}", x.exp2()))
            .draw()?;
        chart.draw_series(spots.iter().map(|s| {
            PathElement::new(vec![(place(s), s.low), (place(s), s.high)], BLACK.mix(0.3))
        }))?;
        chart.draw_series(LineSeries::new(spots.iter().map(|s| (place(s), s.elo)), &BLUE))?;
        chart
            .draw_series(spots.iter().map(|s| Circle::new((place(s), s.elo), 3, BLUE.filled())))?;
        root.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(x: u32, elo: f64) -> Spot {
        Spot { x, elo, low: elo, high: elo, games: 10 }
    }

    #[test]
    fn stones_are_implied_where_the_lead_crosses_zero() {
        let stones = |leads: &[(u32, f64)]| {
            implied_stones(&leads.iter().map(|&(x, elo)| spot(x, elo)).collect::<Vec<_>>())
        };
        assert_eq!(stones(&[(0, 300.0), (2, 100.0), (3, -100.0)]), Some(2.5));
        assert_eq!(stones(&[(0, 300.0), (2, 0.0), (3, -100.0)]), Some(2.0));
        assert_eq!(stones(&[(0, 300.0), (2, 100.0)]), None);
        assert_eq!(stones(&[(0, -10.0), (2, -100.0)]), None);
        assert_eq!(stones(&[(0, 0.0), (2, 0.0)]), None, "a flat line crosses nowhere");
    }

    #[test]
    fn numbers_that_do_not_rise_are_refused() {
        assert!(rising(&[8, 16], "--visits").is_ok());
        for bad in [&[8][..], &[8, 8], &[16, 8]] {
            assert!(rising(bad, "--visits").is_err());
        }
    }
}
