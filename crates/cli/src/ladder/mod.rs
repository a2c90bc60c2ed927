//! `tengen ladder`: every net of a run and its anchors on one scale, and games where they tell most.

mod games;
mod picture;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tengen_evaluator::{Fit, GateConfig, Rating, Results, fit};
use tengen_network::DeviceConfig;
use tengen_store::NetworkRow;

use crate::args::LadderArgs;
use crate::config::Config;
use crate::logging;
use crate::matches::{Contender, StoredGame, play_match};
use crate::parts::gate::{MatchPlan, threads};
use crate::players::{Player, short};
use crate::ratings::{gate_results, merged, one_game};
use crate::run_dir::RunDir;
use crate::stop::Stop;
use games::{GameLine, Games};

/// Pairs of games between two looks at the ratings.
const PAIRS_A_BLOCK: u32 = 2;

/// A player of the ladder.
struct Rung {
    name: String,
    /// `None` for an anchor.
    network: Option<NetworkRow>,
    /// The command line's word for it, for an anchor.
    anchor: Option<String>,
}

/// Plays what the budget allows, rates, prints and writes the ladder.
pub fn run(args: &LadderArgs) -> Result<()> {
    if let Some(watts) = args.watts.filter(|watts| !(watts.is_finite() && *watts > 0.0)) {
        bail!("--watts is {watts}, but must be above 0");
    }
    logging::init(None)?;
    let dir = RunDir::new(&args.run);
    let (store, row) = dir.open_existing()?;
    let mut config = dir.config(&row)?;
    config.device = args.devices.alone()?;
    let networks = store.networks()?;
    let mut rungs: Vec<Rung> = networks
        .iter()
        .map(|n| Rung { name: short(&n.id), network: Some(n.clone()), anchor: None })
        .collect();
    for text in &args.anchor {
        let name = Contender::parse(text, &config.device)?.0.name();
        rungs.push(Rung { name, network: None, anchor: Some(text.clone()) });
    }
    if rungs.is_empty() {
        bail!("the run in {} has no networks yet", dir.path().display());
    }
    let first = networks.iter().position(|n| n.parent.is_none()).unwrap_or(0);
    let pinned = if args.anchor.is_empty() { first } else { networks.len() };
    let mut games = Games::open(&dir.path().join("ladder"))?;
    let gates = gate_results(&store, &networks)?;
    let results = |games: &Games| -> Vec<Results> {
        let index = |id: &str| rungs.iter().position(|rung| rung.id() == id);
        let own = games.lines().iter().filter_map(|line| {
            Some(one_game(index(&line.a)?, index(&line.b)?, line.colour, line.points?))
        });
        merged(gates.iter().copied().chain(own))
    };
    let stop = Stop::install(0.0)?;
    let mut left = args.games;
    while left > 0 && !stop.now() {
        let Some((i, j)) = fit(rungs.len(), &results(&games)).most_uncertain() else { break };
        let played = block(args, &dir, &config, [&rungs[i], &rungs[j]], &mut games, &stop)?;
        eprintln!(
            "{} against {}: {played} games, {left} of the budget left",
            rungs[i].name, rungs[j].name
        );
        if played == 0 {
            break;
        }
        left = left.saturating_sub(played);
    }
    let results = results(&games);
    let fitted = fit(rungs.len(), &results);
    let mut rows = rows(&rungs, &fitted, &results, pinned, args.anchor_elo, row.created_us);
    if let Some(watts) = args.watts {
        for row in &mut rows {
            row["kwh"] = json!(row["hours"].as_f64().map(|hours| hours * watts / 1000.0));
        }
    }
    write_out(dir.path(), &rows)?;
    if args.json {
        let a = fitted.black_advantage;
        println!(
            "{}",
            json!({ "rows": rows, "black_advantage": [a.elo, a.low, a.high],
                    "pinned": rungs[pinned].name, "pinned_elo": args.anchor_elo })
        );
    } else {
        print!("{}", table(&rows, &fitted.black_advantage));
        println!("written: ladder.svg, ladder.json and ladder.csv in {}", dir.path().display());
    }
    Ok(())
}

impl Rung {
    fn id(&self) -> &str {
        match (&self.network, &self.anchor) {
            (Some(network), _) => &network.id,
            (None, Some(text)) => text,
            (None, None) => &self.name,
        }
    }

    fn contender(&self, dir: &RunDir, devices: &DeviceConfig) -> Result<Contender> {
        match &self.anchor {
            Some(text) => Ok(Contender::parse(text, devices)?.0),
            None => Ok(Contender::House(Player::of_run(dir, self.id(), devices)?)),
        }
    }
}

/// Some more pairs between two players; each pair is numbered on from those they have.
fn block(
    args: &LadderArgs,
    dir: &RunDir,
    config: &Config,
    rungs: [&Rung; 2],
    games: &mut Games,
    stop: &Stop,
) -> Result<u32> {
    let [a, b] = rungs;
    let done = games.slots(a.id(), b.id());
    let complete = done.iter().map(|slot| slot.0 + 1).max().unwrap_or(0);
    let visits = args.visits.unwrap_or(config.gate.visits);
    let gate = GateConfig { pairs: complete + PAIRS_A_BLOCK, visits, ..config.gate.clone() };
    let start = config.rules.settings()?.initial_state();
    let names = blake3::hash(format!("{} {}", a.id(), b.id()).as_bytes());
    let seed = u64::from_le_bytes(names.as_bytes()[..8].try_into().context("a hash is long")?);
    let plan = MatchPlan {
        seed: config.run.seed ^ seed,
        threads: threads(config.selfplay.workers),
        ..MatchPlan::even(&gate, &config.search, &start)
    };
    let mut played = 0;
    let mut keep = |game: StoredGame| {
        played += 1;
        games.add(GameLine::of(a.id(), b.id(), &game))?;
        Ok(ControlFlow::Continue(()))
    };
    let limit = Duration::from_secs(60);
    let [first, second] = [a, b].map(|rung| rung.contender(dir, &config.device));
    play_match(&plan, &first?, &second?, &[], &done, limit, stop, &mut keep)?;
    Ok(played)
}

fn rows(
    rungs: &[Rung],
    fitted: &Fit,
    results: &[Results],
    pinned: usize,
    pinned_elo: f64,
    began_us: i64,
) -> Vec<Value> {
    let mut rows: Vec<(f64, Value)> = Vec::new();
    for (i, (rung, rating)) in rungs.iter().zip(fitted.over(pinned)).enumerate() {
        let (mut games, mut points) = (0, 0.0);
        for r in results.iter().filter(|r| r.black == i || r.white == i) {
            let n = r.black_wins + r.white_wins + r.draws;
            games += n;
            let wins = if r.black == i { r.black_wins } else { r.white_wins };
            points += f64::from(wins) + f64::from(r.draws) / 2.0;
        }
        let network = rung.network.as_ref();
        let Rating { elo, low, high } = rating;
        let row = json!({
            "player": rung.name, "id": rung.id(), "anchor": network.is_none(),
            "elo": elo + pinned_elo, "elo_low": low + pinned_elo, "elo_high": high + pinned_elo,
            "games": games, "score": if games == 0 { None } else { Some(points / f64::from(games)) },
            "selfplay_games": network.map(|n| n.games), "step": network.map(|n| n.step),
            "hours": network.map(|n| (n.created_us - began_us).max(0) as f64 / 3.6e9),
            "status": network.map(|n| n.status.to_string()),
        });
        rows.push((elo, row));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|row| row.1).collect()
}

fn table(rows: &[Value], black: &Rating) -> String {
    let mut text = String::from(
        "player         Elo    95 % interval    games  score  step  self-play  hours\n",
    );
    for row in rows {
        let number = |key: &str| row[key].as_f64();
        let or_dash = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"))
        };
        let _ = writeln!(
            text,
            "{:<11} {:>+6.0}  [{:>+6.0}, {:>+6.0}]  {:>6}  {:>4} % {:>6} {:>9} {:>6}",
            row["player"].as_str().unwrap_or_default(),
            number("elo").unwrap_or_default(),
            number("elo_low").unwrap_or_default(),
            number("elo_high").unwrap_or_default(),
            row["games"],
            or_dash(number("score").map(|s| 100.0 * s), 0),
            or_dash(number("step"), 0),
            or_dash(number("selfplay_games"), 0),
            or_dash(number("hours"), 2),
        );
    }
    let _ = writeln!(
        text,
        "Black's advantage {:+.0} [{:+.0}, {:+.0}] Elo",
        black.elo, black.low, black.high
    );
    text
}

fn write_out(folder: &Path, rows: &[Value]) -> Result<()> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write("ladder.json", serde_json::to_string_pretty(rows)?)?;
    let keys = [
        "player",
        "elo",
        "elo_low",
        "elo_high",
        "games",
        "score",
        "step",
        "selfplay_games",
        "hours",
        "kwh",
    ];
    let mut csv = keys.join(",") + "\n";
    for row in rows {
        let cells: Vec<String> = keys
            .iter()
            .map(|key| match &row[*key] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        csv += &(cells.join(",") + "\n");
    }
    write("ladder.csv", csv)?;
    picture::draw(rows, &folder.join("ladder.svg"))
}
