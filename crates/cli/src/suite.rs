//! `tengen suite`: networks against positions whose answers are known.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tengen_evaluator::{PROBLEMS, SMALL_BOARDS, SmallBoard, play_out};
use tengen_inference::{Leaf, LeafEvaluator};
use tengen_rules::{BoardSize, GameState, Komi, Move, Rules, Symmetry};
use tengen_search::{SearchConfig, search_move};

use crate::args::SuiteArgs;
use crate::players::Player;
use crate::run_dir::RunDir;

/// Seed of the random symmetries in the suite's searches.
const SEED: u64 = 1;

/// The nets that were asked for: one, or all of a run in the order they were made.
fn players(args: &SuiteArgs) -> Result<Vec<Player>> {
    let devices = args.devices.alone()?;
    match (&args.net, &args.run) {
        (Some(net), None) => Ok(vec![Player::parse(net, &devices)?.0]),
        (None, Some(run)) => {
            let dir = RunDir::new(run);
            let (store, _) = dir.open_existing()?;
            store.networks()?.iter().map(|n| Player::of_run(&dir, &n.id, &devices)).collect()
        }
        _ => bail!("give --net (one player) or --run (all nets of a run)"),
    }
}

fn search(args: &SuiteArgs) -> Result<SearchConfig> {
    if args.visits == 0 {
        bail!("--visits must be at least 1");
    }
    Ok(SearchConfig {
        visits: args.visits,
        dirichlet_fraction: 0.0,
        forced_playouts: 0.0,
        ..SearchConfig::default()
    })
}

/// `tengen suite`: the share of tactical positions solved by the policy alone and with search.
pub fn tactical(args: &SuiteArgs) -> Result<()> {
    let search = search(args)?;
    let mut rows = Vec::new();
    for player in players(args)? {
        let mut evaluator = player.evaluator()?;
        for problem in &PROBLEMS {
            let state = problem.state();
            let policy = policy_move(&mut *evaluator, &state)?;
            let (action, _) = search_move(&mut *evaluator, &state, &search, SEED)?;
            let [by_policy, by_search] =
                [policy, state.size().move_at(action)].map(|mv| state.size().vertex(mv));
            let right = |vertex: &str| problem.answers.contains(&vertex);
            rows.push(json!({
                "net": player.name(), "problem": problem.name, "kind": problem.kind.name(),
                "answers": problem.answers, "policy_move": by_policy,
                "policy_solved": right(&by_policy), "search_move": by_search,
                "search_solved": right(&by_search), "visits": args.visits,
            }));
        }
    }
    if args.json {
        println!("{}", json!({ "rows": rows, "summary": summary(&rows) }));
        return Ok(());
    }
    for row in summary(&rows) {
        println!(
            "{}: policy alone {}, {} visits {} of {}",
            row["net"].as_str().unwrap_or_default(),
            row["policy_solved"],
            args.visits,
            row["search_solved"],
            row["problems"]
        );
    }
    if args.net.is_some() {
        for row in &rows {
            println!(
                "  {:<15} {:<40} policy {:<5} search {:<5} answers {}",
                text(row, "kind"),
                text(row, "problem"),
                text(row, "policy_move"),
                text(row, "search_move"),
                row["answers"]
            );
        }
    }
    Ok(())
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// Problems solved, net by net, in the order of the rows.
fn summary(rows: &[Value]) -> Vec<Value> {
    rows.chunk_by(|a, b| a["net"] == b["net"])
        .map(|net| {
            let solved = |key: &str| net.iter().filter(|row| row[key] == true).count();
            json!({
                "net": net[0]["net"], "problems": net.len(),
                "policy_solved": solved("policy_solved"),
                "search_solved": solved("search_solved"),
            })
        })
        .collect()
}

/// The move with the largest prior.
fn policy_move(evaluator: &mut dyn LeafEvaluator, state: &GameState) -> Result<Move> {
    let leaf = Leaf { state, symmetry: Symmetry::IDENTITY };
    let answer = evaluator.evaluate(&[leaf])?.pop().context("the evaluator gave no answer")?;
    let best = (0..state.size().actions())
        .max_by(|&a, &b| answer.policy[a].total_cmp(&answer.policy[b]))
        .context("a board has at least one action")?;
    Ok(state.size().move_at(best))
}

/// `tengen suite small-boards`: how far a net is from the known results.
pub fn small_boards(args: &SuiteArgs) -> Result<()> {
    let search = search(args)?;
    let mut rows = Vec::new();
    for player in players(args)? {
        let mut evaluator = player.evaluator()?;
        for board in &SMALL_BOARDS {
            rows.push(one_board(&player, &mut *evaluator, board, &search)?);
        }
    }
    if args.json {
        println!("{}", json!({ "rows": rows }));
        return Ok(());
    }
    println!("net         board  known  net's  first move  known first  solved");
    for row in &rows {
        println!(
            "{:<11} {:<5} {:>6} {:>6}  {:<10}  {:<11}  {}",
            text(row, "net"),
            text(row, "board"),
            row["known_margin"],
            row["net_margin"],
            text(row, "net_first_move"),
            row["best_first_moves"],
            row["solved"]
        );
    }
    Ok(())
}

/// The net plays both sides with a komi half a point under the known margin, so that Black wins by
/// reaching it and by nothing less. Solved: the margin is the known one, and so is the first move
/// (or one symmetric to it) where a best one is published.
fn one_board(
    player: &Player,
    evaluator: &mut dyn LeafEvaluator,
    board: &SmallBoard,
    search: &SearchConfig,
) -> Result<Value> {
    let size = BoardSize::new(board.width, board.height)?;
    let komi = Komi::from_half_points(2 * board.margin - 1)?;
    let start = GameState::new(size, Rules::tromp_taylor(), komi);
    let (first, end) = play_out(evaluator, &start, search, SEED)?;
    let margin = end.area_owner().iter().fold(0, |lead, owner| match owner {
        Some(tengen_rules::Color::Black) => lead + 1,
        Some(tengen_rules::Color::White) => lead - 1,
        None => lead,
    });
    let name = size.vertex(first);
    let known = |vertex: &&&str| {
        let wanted = size.parse_vertex(vertex).map(|mv| size.action(mv));
        let turned = Symmetry::all()
            .into_iter()
            .filter(|s| s.valid_for(size))
            .map(|s| s.apply_action(size, size.action(first)));
        turned.into_iter().any(|action| Ok(&action) == wanted.as_ref())
    };
    let right = board.first.is_empty() || board.first.iter().find(known).is_some();
    Ok(json!({
        "net": player.name(), "board": format!("{}x{}", board.height, board.width),
        "known_margin": board.margin, "best_first_moves": board.first, "source": board.source,
        "net_margin": margin, "net_first_move": name, "solved": margin == board.margin && right,
        "visits": search.visits,
    }))
}
