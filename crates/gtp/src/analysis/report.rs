//! A search as the answer's JSON.

use serde_json::{Map, Value, json};
use tengen_rules::{GameState, Move, Symmetry};
use tengen_search::Tree;

use super::job::Job;
use crate::estimate::{Estimate, Judge};
use crate::info::{MoveInfo, Perspective, move_infos, win_rate};

/// Moves that get all their random games; the many others get a quarter.
const MAIN_MOVES: usize = 10;

/// The answer about a job as it stands: whole, or `noResults` when nothing was searched. Without a
/// judge it says nothing of points.
pub(crate) fn report(job: &mut Job, during: bool, judge: Option<Judge<'_>>) -> Value {
    let mut answer = Map::new();
    answer.insert("id".to_owned(), json!(job.query.id));
    answer.insert("turnNumber".to_owned(), json!(job.turn));
    answer.insert("isDuringSearch".to_owned(), json!(during));
    let Some(tree) = job.tree() else {
        answer.insert("noResults".to_owned(), json!(true));
        return Value::Object(answer);
    };
    let infos = move_infos(tree, job.query.line_limit, false);
    if let Some(mut judge) = judge.filter(|judge| judge.games > 0) {
        let many = judge.games;
        let few = many.div_ceil(4);
        let games = |order| if order < MAIN_MOVES { many } else { few };
        let moves = infos.iter().enumerate().map(|(order, info)| (info.action, games(order)));
        job.scores.add(&job.state, moves, &mut judge, None);
    }
    let Some(tree) = job.tree() else { return Value::Object(answer) };
    let moves = infos.iter().enumerate().map(|(order, info)| move_json(job, order, info));
    answer.insert("moveInfos".to_owned(), Value::Array(moves.collect()));
    answer.insert("rootInfo".to_owned(), root_json(job, tree));
    if job.query.ownership
        && let Some(estimate) = &job.scores.root
    {
        answer.insert("ownership".to_owned(), ownership_json(job, estimate));
    }
    if let Some(policy) = &job.policy {
        let legal = job.state.legal_moves();
        let entries = policy.iter().enumerate();
        let shown = entries.map(|(a, &p)| if legal.contains(a) { json!(p) } else { json!(-1) });
        answer.insert("policy".to_owned(), shown.collect());
    }
    Value::Object(answer)
}

fn side(job: &Job) -> Perspective {
    job.query.params.perspective
}

/// Win rate, utility and their lower bounds.
fn rates(job: &Job, rate: f64, lcb: f64) -> Map<String, Value> {
    let to_play = job.state.to_play();
    let (rate, lcb) = (side(job).rate(to_play, rate), side(job).rate(to_play, lcb));
    Map::from_iter([
        ("winrate".to_owned(), json!(rate)),
        ("utility".to_owned(), json!(2.0 * rate - 1.0)),
        ("lcb".to_owned(), json!(lcb)),
        ("utilityLcb".to_owned(), json!(2.0 * lcb - 1.0)),
    ])
}

fn push_scores(job: &Job, object: &mut Map<String, Value>, estimate: Option<&Estimate>) {
    let Some(estimate) = estimate else { return };
    let lead = side(job).points(job.state.to_play(), estimate.lead());
    for name in ["scoreLead", "scoreMean", "scoreSelfplay"] {
        object.insert(name.to_owned(), json!(lead));
    }
    object.insert("scoreStdev".to_owned(), json!(estimate.deviation()));
}

fn ownership_json(job: &Job, estimate: &Estimate) -> Value {
    let to_play = job.state.to_play();
    estimate.ownership().map(|owned| json!(side(job).points(to_play, owned))).collect()
}

fn move_json(job: &Job, order: usize, info: &MoveInfo) -> Value {
    let size = job.state.size();
    let vertex = |action: usize| size.vertex(size.move_at(action));
    let mut object = rates(job, info.win_rate, info.lcb);
    let estimate = job.scores.moves.get(&info.action);
    push_scores(job, &mut object, estimate);
    for (name, value) in [
        ("move", json!(vertex(info.action))),
        ("order", json!(order)),
        ("visits", json!(info.visits)),
        ("edgeVisits", json!(info.visits)),
        ("weight", json!(f64::from(info.visits))),
        ("edgeWeight", json!(f64::from(info.visits))),
        ("playSelectionValue", json!(f64::from(info.visits))),
        ("prior", json!(info.prior)),
        ("pv", info.line.iter().map(|&(action, _)| json!(vertex(action))).collect()),
    ] {
        object.insert(name.to_owned(), value);
    }
    if job.query.pv_visits {
        for name in ["pvVisits", "pvEdgeVisits"] {
            let visits = info.line.iter().map(|&(_, visits)| json!(visits)).collect();
            object.insert(name.to_owned(), visits);
        }
    }
    if job.query.no_result {
        object.insert("noResultValue".to_owned(), json!(0.0));
    }
    if job.query.moves_ownership
        && let Some(estimate) = estimate
    {
        object.insert("ownership".to_owned(), ownership_json(job, estimate));
    }
    Value::Object(object)
}

fn root_json(job: &Job, tree: &Tree) -> Value {
    let root = tree.root();
    let rate = win_rate(root.value);
    let visits = root.visits + 1;
    let raw = side(job).rate(job.state.to_play(), win_rate(root.raw_value));
    let mut object = rates(job, rate, rate);
    push_scores(job, &mut object, job.scores.root.as_ref());
    if let Some(estimate) = &job.scores.root {
        object.insert("scoreSource".to_owned(), json!(estimate.source()));
    }
    for (name, value) in [
        ("visits", json!(visits)),
        ("weight", json!(f64::from(visits))),
        ("currentPlayer", json!(job.state.to_play().letter().to_string())),
        ("rawWinrate", json!(raw)),
        ("thisHash", json!(hex(hash(&job.state, Symmetry::IDENTITY)))),
        ("symHash", json!(hex(symmetric_hash(&job.state)))),
    ] {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

fn hex(hash: u128) -> String {
    format!("{hash:032X}")
}

/// The smallest hash of all the position's mirror images.
fn symmetric_hash(state: &GameState) -> u128 {
    let symmetries = Symmetry::all().into_iter().filter(|s| s.valid_for(state.size()));
    symmetries.map(|symmetry| hash(state, symmetry)).min().unwrap_or_default()
}

/// FNV-1a of size, player, stones and points barred by ko, the board turned by a symmetry.
fn hash(state: &GameState, symmetry: Symmetry) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let size = state.size();
    let legal = state.legal_moves();
    let mut cells = vec![0u8; size.area()];
    for point in size.points() {
        let action = size.action(Move::Play(point));
        let mut cell = state.stone(point).map_or(0, |color| 1 + color.index() as u8);
        if cell == 0 && !legal.contains(action) {
            cell = 3;
        }
        cells[symmetry.apply(size, point).index()] = cell;
    }
    let head = [size.width() as u8, size.height() as u8, state.to_play().index() as u8];
    let bytes = head.iter().chain(&cells);
    bytes.fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}
