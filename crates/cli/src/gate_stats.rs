//! `tengen gate llr` and `tengen gate simulate`: the gate's arithmetic for anyone to check.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tengen_evaluator::{
    Counts, GateConfig, GateMode, GateRates, SprtModel, elo_of_pairs, elo_with_interval, llr,
    simulate_gate, sprt_bounds,
};

use crate::args::{LlrArgs, SimulateArgs};
use crate::config::Config;

/// True leads at which a gate's error rates are shown, in Elo.
const TRUE_ELO: [f64; 4] = [-35.0, 0.0, 35.0, 70.0];

/// Prints the likelihood ratio, its bounds and the Elo of a result.
pub fn print_llr(args: &LlrArgs) -> Result<()> {
    let facts = llr_facts(args)?;
    if args.json {
        println!("{facts}");
    } else {
        println!(
            "LLR {:.4} in [{:.4}, {:.4}]: {} ({})\nElo {:+.1} [{:+.1}, {:+.1}] at 95 %",
            number(&facts, "llr"),
            number(&facts, "lower"),
            number(&facts, "upper"),
            facts["verdict"].as_str().unwrap_or_default(),
            facts["decision"].as_str().unwrap_or_default(),
            number(&facts, "elo"),
            number(&facts, "elo_low"),
            number(&facts, "elo_high"),
        );
    }
    Ok(())
}

fn number(facts: &Value, key: &str) -> f64 {
    facts[key].as_f64().unwrap_or_default()
}

fn llr_facts(args: &LlrArgs) -> Result<Value> {
    for (name, risk) in [("--alpha", args.alpha), ("--beta", args.beta)] {
        if !(risk > 0.0 && risk < 1.0) {
            bail!("{name} is {risk}, but must be above 0 and below 1");
        }
    }
    if args.alpha + args.beta >= 1.0 {
        bail!("--alpha and --beta are {} together, but must stay below 1", args.alpha + args.beta);
    }
    let lead = -1000.0..=1000.0;
    if !(lead.contains(&args.elo0) && lead.contains(&args.elo1) && args.elo0 < args.elo1) {
        bail!("--elo0 {} must be below --elo1 {}, both within 1000", args.elo0, args.elo1);
    }
    let (counts, (elo, low, high)) = match args.pairs.as_deref() {
        Some(&[a, b, c, d, e]) => {
            if args.wins.is_some() || args.losses.is_some() || args.draws.is_some() {
                bail!("give --pairs or --wins, --losses and --draws, not both");
            }
            (Counts::Pairs([a, b, c, d, e]), elo_of_pairs([a, b, c, d, e]))
        }
        Some(other) => bail!(
            "--pairs takes five counts, of pairs with 0, 0.5, 1, 1.5 and 2 points; got {}",
            other.len()
        ),
        None if args.wins.is_none() && args.losses.is_none() && args.draws.is_none() => {
            bail!("give --wins, --losses and --draws, or --pairs a,b,c,d,e")
        }
        None => {
            let [wins, losses, draws] =
                [args.wins, args.losses, args.draws].map(Option::unwrap_or_default);
            let most = u32::MAX / 4;
            if wins > most || losses > most || draws > most {
                bail!("more than {most} games of a kind");
            }
            let counts = Counts::Games { wins, losses, draws };
            (counts, elo_with_interval(wins, losses, draws))
        }
    };
    let Some(ratio) = llr(&counts, args.elo0, args.elo1, args.model) else {
        bail!("the {} model counts games: give --wins, --losses and --draws", args.model);
    };
    let (lower, upper) = sprt_bounds(args.alpha, args.beta);
    let (verdict, decision) = match ratio {
        r if r >= upper => ("promote", "accept H1"),
        r if r <= lower => ("reject", "accept H0"),
        _ => ("undecided", "continue"),
    };
    Ok(json!({
        "llr": ratio, "lower": lower, "upper": upper, "verdict": verdict, "decision": decision,
        "elo": elo, "elo_low": low, "elo_high": high, "model": args.model.to_string(),
    }))
}

/// The gates that `simulate` compares.
fn recipes() -> Vec<(String, GateConfig)> {
    let base = GateConfig::default();
    let fixed = |name: &str, pairs, threshold| {
        let gate = GateConfig { pairs, threshold, ..base.clone() };
        (format!("fixed {name}"), gate)
    };
    let sprt = |elo0: f64, elo1: f64, alpha: f64, beta: f64, pairs: u32, threshold: f64| {
        let name = format!(
            "sprt {elo0},{elo1} alpha {alpha} beta {beta} cap {} at {} %",
            2 * pairs,
            (1000.0 * threshold).round() / 10.0
        );
        let mode = GateMode::Sprt;
        (name, GateConfig { mode, elo0, elo1, alpha, beta, pairs, threshold, ..base.clone() })
    };
    let default = sprt(base.elo0, base.elo1, base.alpha, base.beta, base.pairs, base.threshold);
    vec![
        fixed("55 % of 400 (AlphaGo Zero)", 200, 0.55),
        fixed("50 % of 200 (KataGo)", 100, 0.5),
        fixed("55 % of 200", 100, 0.55),
        sprt(-35.0, 35.0, 0.05, 0.1, 200, 0.5),
        sprt(-35.0, 35.0, 0.05, 0.05, 200, 0.5),
        sprt(-10.0, 35.0, 0.05, 0.1, 400, 0.52),
        sprt(0.0, 35.0, 0.05, 0.05, 200, 0.55),
        sprt(0.0, 35.0, 0.04, 0.1, 800, 0.525),
        ("the default: ".to_owned() + &default.0, default.1),
        sprt(0.0, 35.0, 0.05, 0.05, 800, 0.53),
    ]
}

/// Prints each gate's chance to pass and its cost; says which is the cheapest good one.
pub fn print_simulation(args: &SimulateArgs) -> Result<()> {
    if args.games == 0 || !(0.0..=0.9).contains(&args.draw_rate) {
        bail!("--games must be at least 1 and --draw-rate 0 to 0.9");
    }
    let gates = match &args.config {
        Some(path) => vec![(path.display().to_string(), Config::load(path)?.gate)],
        None => recipes(),
    };
    let mut rows = Vec::new();
    let mut table = format!("{:<50} {}\n", "gate", "pass rate (mean games) at -35 / 0 / +35 / +70");
    let mut measured = Vec::new();
    for (name, gate) in &gates {
        let rates =
            TRUE_ELO.map(|elo| simulate_gate(gate, elo, args.draw_rate, args.games, args.seed));
        for (true_elo, rate) in TRUE_ELO.into_iter().zip(&rates) {
            rows.push(json!({
                "gate": name, "true_elo": true_elo,
                "pass_rate": rate.pass_rate, "mean_games": rate.mean_games,
            }));
        }
        let cells = rates.map(|r| format!("{:.3} ({:>3.0})", r.pass_rate, r.mean_games));
        table += &format!("{name:<50} {}\n", cells.join("  "));
        measured.push((name, rates));
    }
    let good = |r: &[GateRates; 4]| r[2].pass_rate >= 0.9 && r[0].pass_rate <= 0.05;
    let cheapest = cheapest(measured.iter().filter(|(_, rates)| good(rates)));
    let strict = cheapest_strict(&measured, good);
    if args.json {
        println!(
            "{}",
            json!({ "rows": rows, "matches": args.games, "seed": args.seed,
                    "draw_rate": args.draw_rate, "cheapest": cheapest,
                    "cheapest_keeping_equals_out": strict })
        );
    } else {
        print!("{table}");
        let none = || "none of these".to_owned();
        println!(
            "cheapest with >= 90 % of +35 and <= 5 % of -35: {}",
            cheapest.unwrap_or_else(none)
        );
        println!("cheapest that also passes <= 5 % of equals: {}", strict.unwrap_or_else(none));
    }
    Ok(())
}

type Measured<'a> = (&'a String, [GateRates; 4]);

/// The gate with the fewest games, averaged over true leads of -35, 0 and +35.
fn cheapest<'a>(gates: impl Iterator<Item = &'a Measured<'a>>) -> Option<String> {
    let cost = |gate: &&Measured<'_>| gate.1[..3].iter().map(|r| r.mean_games).sum::<f64>();
    gates.min_by(|a, b| cost(a).total_cmp(&cost(b))).map(|gate| gate.0.clone())
}

fn cheapest_strict(
    gates: &[Measured<'_>],
    good: impl Fn(&[GateRates; 4]) -> bool,
) -> Option<String> {
    cheapest(gates.iter().filter(|(_, rates)| good(rates) && rates[1].pass_rate <= 0.05))
}

/// The model that a word on the command line names.
pub fn model(text: &str) -> std::result::Result<SprtModel, String> {
    text.parse()
}
