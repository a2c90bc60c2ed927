//! The closing report of a run, from what the store holds and from games played now.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use anyhow::{Context, Result};
use plotters::prelude::*;
use tengen_evaluator::{GateConfig, Tally, elo_with_interval, tally_all};
use tengen_inference::Leaf;
use tengen_record::{GameRecord, sgf};
use tengen_rules::{GameState, Symmetry};
use tengen_store::{NetworkRow, Store};

use crate::config::Config;
use crate::parts::gate::{MatchPlan, play, threads};
use crate::players::{Player, find_network, short};
use crate::run_dir::RunDir;
use crate::stop::Stop;

/// Prints the report to standard output and writes `report.svg` and the last match's SGF files.
pub fn print(dir: &RunDir, config: &Config, stop: &Stop) -> Result<()> {
    let (store, _) = dir.open_existing()?;
    let networks = store.networks()?;
    println!("{}", table(&networks, &store)?);
    println!("{}", empty_board(dir, config, &store)?);
    if config.run.closing_games > 0 && !stop.signalled() {
        closing_matches(dir, config, &store, stop)?;
    }
    let picture = dir.path().join("report.svg");
    curve(&networks, &picture)?;
    println!("learning curve: {}", picture.display());
    if let Some(folder) = write_last_match(dir, &store)? {
        println!("games of the last match: {folder}");
    }
    println!("\nnext: tengen gtp --net {}   (or: tengen status --run {0})", dir.path().display());
    Ok(())
}

fn table(networks: &[NetworkRow], store: &Store) -> Result<String> {
    let mut text = String::from(
        "network     step   games  policy  value  status     gate score  Elo [95 %]\n",
    );
    let matches = store.matches()?;
    for network in networks {
        let losses: serde_json::Value =
            serde_json::from_str(&network.losses_json).unwrap_or_default();
        let loss =
            |key: &str| losses[key].as_f64().map_or_else(|| "-".to_string(), |x| format!("{x:.3}"));
        let score = match matches.iter().find(|m| m.candidate == network.id) {
            Some(m) => {
                let games = store.match_games(m.id)?;
                let points: f32 = games.iter().map(|g| g.points).sum();
                if games.is_empty() { "-".into() } else { format!("{points}/{}", games.len()) }
            }
            None => "-".into(),
        };
        let elo = network.elo.map_or_else(
            || "-".to_string(),
            |e| format!("{:+.0} [{:+.0}, {:+.0}]", e.elo, e.low, e.high),
        );
        writeln!(
            text,
            "{:<10} {:>5} {:>7}  {:>6} {:>6}  {:<9} {:>11}  {elo}",
            short(&network.id),
            network.step,
            network.games,
            loss("policy_loss"),
            loss("value_loss"),
            network.status.to_string(),
            score,
        )?;
    }
    Ok(text)
}

/// What the best network thinks of the empty board, by itself, without search.
fn empty_board(dir: &RunDir, config: &Config, store: &Store) -> Result<String> {
    let id = find_network(store, "best")?;
    let player = Player::of_run(dir, &id, &config.device)?;
    let settings = config.rules.settings()?;
    let state = GameState::new(settings.size, settings.rules, settings.komi);
    let answer = player
        .evaluator()?
        .evaluate(&[Leaf { state: &state, symmetry: Symmetry::IDENTITY }])?
        .pop()
        .context("the evaluator gave no answer")?;
    let best = (0..settings.size.actions())
        .max_by(|&a, &b| answer.policy[a].total_cmp(&answer.policy[b]))
        .context("a board has at least one action")?;
    let mut text = format!(
        "the empty board to {}: win chance of Black {:.0} %, first move {}; prior in %:\n",
        short(&id),
        50.0 * (1.0 + answer.value.get()),
        settings.size.vertex(settings.size.move_at(best)),
    );
    for row in 0..settings.size.height() {
        for col in 0..settings.size.width() {
            let action = settings.size.point(col, row).index();
            write!(text, "{:>4.0}", 100.0 * answer.policy[action])?;
        }
        text.push('\n');
    }
    writeln!(text, "   pass {:.0}", 100.0 * answer.policy[settings.size.pass_action()])?;
    Ok(text)
}

/// The last best network against the first one and against search with a uniform evaluator.
fn closing_matches(dir: &RunDir, config: &Config, store: &Store, stop: &Stop) -> Result<()> {
    let player = |which: &str| Player::of_run(dir, &find_network(store, which)?, &config.device);
    let best = player("best")?;
    for (title, opponent) in [
        ("the first, untrained network", player("first")?),
        ("search with a uniform evaluator", Player::Uniform),
    ] {
        let tally = measure(config, &best, &opponent, stop)?;
        println!("last best against {title}: {}", in_words(&tally, config.gate.visits));
    }
    Ok(())
}

fn measure(config: &Config, a: &Player, b: &Player, stop: &Stop) -> Result<Tally> {
    let gate = GateConfig { pairs: config.run.closing_games.div_ceil(2), ..config.gate.clone() };
    let start = config.rules.settings()?.initial_state();
    let plan = MatchPlan {
        seed: config.run.seed ^ 0xC105_1E6A,
        threads: threads(config.selfplay.workers),
        digest: &config.digest()?,
        ..MatchPlan::even(&gate, &config.search, &start)
    };
    let mut slots = Vec::new();
    play(&plan, a, b, &[], stop, &mut |(pair, colour, points, _)| {
        slots.push((pair, colour, points));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(tally_all(&slots))
}

/// "97 of 100 (97 %), Elo +604 [+420, +788], 32 visits a move"; a score of all or nothing bounds
/// the Elo from one side only.
pub fn in_words(tally: &Tally, visits: u32) -> String {
    let games = tally.wins + tally.losses + tally.draws;
    if games == 0 {
        return "no games finished".into();
    }
    let points = f64::from(tally.wins) + 0.5 * f64::from(tally.draws);
    let (elo, low, high) = elo_with_interval(tally.wins, tally.losses, tally.draws);
    let share = points / f64::from(games);
    let elo = if share >= 1.0 {
        format!("above {low:+.0}")
    } else if share <= 0.0 {
        format!("below {high:+.0}")
    } else {
        format!("{elo:+.0} [{low:+.0}, {high:+.0}]")
    };
    format!("{points} of {games} ({:.0} %), Elo {elo}, {visits} visits a move", 100.0 * share)
}

/// Elo of every rated network against the games played before it.
fn curve(networks: &[NetworkRow], path: &std::path::Path) -> Result<()> {
    let rated: Vec<(f64, f64, f64, f64)> = networks
        .iter()
        .filter_map(|n| n.elo.map(|e| (n.games as f64, e.elo, e.low, e.high)))
        .collect();
    let right = rated.iter().map(|r| r.0).fold(1.0, f64::max);
    let low = rated.iter().map(|r| r.2).fold(0.0, f64::min) - 50.0;
    let high = rated.iter().map(|r| r.3).fold(100.0, f64::max) + 50.0;
    let root = SVGBackend::new(path, (800, 450)).into_drawing_area();
    let drawn = || -> std::result::Result<(), Box<dyn std::error::Error>> {
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Elo over the first network, with 95 % intervals", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..right * 1.02, low..high)?;
        chart.configure_mesh().x_desc("self-play games").y_desc("Elo").draw()?;
        chart.draw_series(
            rated.iter().map(|r| PathElement::new(vec![(r.0, r.2), (r.0, r.3)], BLACK.mix(0.3))),
        )?;
        chart.draw_series(LineSeries::new(rated.iter().map(|r| (r.0, r.1)), &BLUE))?;
        chart.draw_series(rated.iter().map(|r| Circle::new((r.0, r.1), 3, BLUE.filled())))?;
        root.present()?;
        Ok(())
    };
    drawn().map_err(|error| anyhow::anyhow!("cannot draw {}: {error}", path.display()))
}

/// Writes one game as an SGF file.
pub fn write_sgf(path: &std::path::Path, record: &GameRecord) -> Result<()> {
    std::fs::write(path, sgf::to_sgf(record))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn write_last_match(dir: &RunDir, store: &Store) -> Result<Option<String>> {
    let Some(last) = store.matches()?.into_iter().next_back() else { return Ok(None) };
    let folder = dir.path().join("sgf").join(format!("match-{}", last.id));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    for (pair, colour, record) in store.match_records(last.id)? {
        let side = if colour == 0 { "black" } else { "white" };
        let path = folder.join(format!("pair-{pair:03}-candidate-{side}.sgf"));
        write_sgf(&path, &record)?;
    }
    Ok(Some(folder.display().to_string()))
}
