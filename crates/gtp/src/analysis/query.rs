//! A query as it is meant: positions, and what is to be said about each.

use std::time::Duration;

use serde_json::{Map, Value};
use tengen_rules::{BoardSize, Color, GameState, HandicapBonus, Komi, Move, Rules, Scoring};
use tengen_search::MoveLimits;

use super::fields::{FieldError, Fields, location, player};
use crate::game::Game;
use crate::kata_rules;
use crate::params::{Params, Refused};

/// Most moves of a game, and turns of a query: more than any game has.
const MAX_MOVES: usize = 10_000;

/// What is to be said, the same for all turns of a query.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub id: String,
    pub params: Params,
    pub limits: MoveLimits,
    /// Longest line of a move, the move itself included.
    pub line_limit: usize,
    pub ownership: bool,
    pub moves_ownership: bool,
    pub policy: bool,
    pub pv_visits: bool,
    pub no_result: bool,
    pub report_every: Option<Duration>,
}

/// One position of a query.
#[derive(Debug)]
pub(crate) struct Turn {
    pub number: usize,
    pub priority: i64,
    pub state: GameState,
}

/// A query read: with what was ignored, by field and message.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub query: Query,
    pub turns: Vec<Turn>,
    pub warnings: Vec<(String, String)>,
}

const KNOWN: [&str; 29] = [
    "id",
    "moves",
    "initialStones",
    "initialPlayer",
    "rules",
    "komi",
    "whiteHandicapBonus",
    "boardXSize",
    "boardYSize",
    "analyzeTurns",
    "maxVisits",
    "rootPolicyTemperature",
    "rootFpuReductionMax",
    "analysisPVLen",
    "includeOwnership",
    "includeOwnershipStdev",
    "includeMovesOwnership",
    "includeMovesOwnershipStdev",
    "includePolicy",
    "includePVVisits",
    "includeNoResultValue",
    "avoidMoves",
    "allowMoves",
    "overrideSettings",
    "reportDuringSearchEvery",
    "priority",
    "priorities",
    "action",
    "terminateId",
];

/// Reads a query that is no action. `defaults` are the engine's own settings; `scores` tells
/// whether it can estimate scores and ownership.
pub(crate) fn parse(
    id: &str,
    object: &Map<String, Value>,
    defaults: &Params,
    scores: bool,
) -> Result<Parsed, FieldError> {
    let fields = Fields(object);
    let mut warnings = Vec::new();
    for name in object.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        let text = "Unexpected or unused field, do you have a typo?";
        warnings.push((name.chars().take(100).collect(), text.to_owned()));
    }
    let size = read_size(&fields)?;
    let rules = read_rules(&fields)?;
    let komi = read_komi(&fields, rules)?;
    let moves = fields
        .moves("moves", size)?
        .ok_or_else(|| FieldError::new("moves", "Must specify the moves, [] for none"))?;
    let first = fields.player("initialPlayer")?;
    let stones = fields.moves("initialStones", size)?.unwrap_or_default();
    let wanted = read_turns(&fields, moves.len())?;
    let states = replay(size, rules, komi, &stones, first, &moves, &wanted)?;
    let turns = wanted.into_iter().zip(states);
    let turns = turns.map(|((number, priority), state)| Turn { number, priority, state }).collect();

    let mut params = defaults.clone();
    for field in ["maxVisits", "rootPolicyTemperature", "rootFpuReductionMax"] {
        if let Some(value) = fields.get(field) {
            let bad = |_| FieldError::new(field, "Must be a number in the setting's range");
            params.set(field, value).map_err(bad)?;
        }
    }
    if let Some(settings) = fields.get("overrideSettings") {
        override_settings(&mut params, settings, &mut warnings)?;
    }
    for (field, asked) in [
        ("includeOwnership", !scores),
        ("includeMovesOwnership", !scores),
        ("includeOwnershipStdev", true),
        ("includeMovesOwnershipStdev", true),
    ] {
        if fields.flag(field)? && asked {
            warnings.push((field.to_owned(), "Not available from this engine".to_owned()));
        }
    }
    let every = fields.number("reportDuringSearchEvery", 0.001, 1e6)?;
    let query = Query {
        id: id.to_owned(),
        params,
        limits: read_limits(&fields, size)?,
        line_limit: fields.integer("analysisPVLen", 0, 1000)?.map_or(16, |n| n as usize + 1),
        ownership: fields.flag("includeOwnership")? && scores,
        moves_ownership: fields.flag("includeMovesOwnership")? && scores,
        policy: fields.flag("includePolicy")?,
        pv_visits: fields.flag("includePVVisits")?,
        no_result: fields.flag("includeNoResultValue")?,
        report_every: every.map(Duration::from_secs_f64),
    };
    Ok(Parsed { query, turns, warnings })
}

fn read_size(fields: &Fields<'_>) -> Result<BoardSize, FieldError> {
    let side = |field| {
        let side = fields.integer(field, 1, BoardSize::MAX_SIDE as i64)?;
        side.map(|side| side as usize).ok_or_else(|| FieldError::new(field, "Must be specified"))
    };
    let (width, height) = (side("boardXSize")?, side("boardYSize")?);
    BoardSize::new(width, height).map_err(|e| FieldError::new("boardXSize", e.to_string()))
}

fn read_rules(fields: &Fields<'_>) -> Result<Rules, FieldError> {
    let text = match fields.get("rules") {
        Some(Value::String(text)) => text.clone(),
        Some(object @ Value::Object(_)) => object.to_string(),
        Some(_) => return Err(FieldError::new("rules", "Must be a string or an object")),
        None => return Err(FieldError::new("rules", "Must specify the rules")),
    };
    let mut rules =
        kata_rules::parse(&text).map_err(|e| FieldError::new("rules", e.to_string()))?;
    rules.handicap_bonus = match fields.get("whiteHandicapBonus") {
        None => rules.handicap_bonus,
        Some(value) => {
            match value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str() {
                "0" => HandicapBonus::Zero,
                "N" => HandicapBonus::N,
                "N-1" => HandicapBonus::NMinusOne,
                _ => return Err(FieldError::new("whiteHandicapBonus", "Must be 0, N or N-1")),
            }
        }
    };
    Ok(rules)
}

fn read_komi(fields: &Fields<'_>, rules: Rules) -> Result<Komi, FieldError> {
    let usual = match (rules.scoring, rules.button) {
        (Scoring::Territory, _) => 6.5,
        (Scoring::Area, true) => 7.0,
        (Scoring::Area, false) => 7.5,
    };
    let points = fields.number("komi", -400.0, 400.0)?.unwrap_or(usual);
    Komi::from_points(points)
        .map_err(|_| FieldError::new("komi", "Must be an integer or half-integer"))
}

/// The turns asked for, each with its priority.
fn read_turns(fields: &Fields<'_>, moves: usize) -> Result<Vec<(usize, i64)>, FieldError> {
    let priority = fields.integer("priority", -1_000_000_000_000, 1_000_000_000_000)?.unwrap_or(0);
    let turns = fields.integers("analyzeTurns", MAX_MOVES)?;
    let priorities = fields.integers("priorities", MAX_MOVES)?;
    if let Some(priorities) = &priorities
        && turns.as_ref().is_none_or(|turns| turns.len() != priorities.len())
    {
        let text = "Must have as many entries as analyzeTurns";
        return Err(FieldError::new("priorities", text));
    }
    let turns = turns.unwrap_or_else(|| vec![moves as i64]);
    let read = |(index, &turn): (usize, &i64)| match usize::try_from(turn) {
        Ok(turn) if turn <= moves => {
            let own = priorities.as_ref().map(|priorities| priorities[index]);
            Ok((turn, own.unwrap_or(priority)))
        }
        _ => {
            let text = format!("Invalid turn number: {turn}, the game has {moves} moves");
            Err(FieldError::new("analyzeTurns", text))
        }
    };
    turns.iter().enumerate().map(read).collect()
}

/// The positions of the turns wanted, in their order.
fn replay(
    size: BoardSize,
    rules: Rules,
    komi: Komi,
    stones: &[(Color, Move)],
    first: Option<Color>,
    moves: &[(Color, Move)],
    wanted: &[(usize, i64)],
) -> Result<Vec<GameState>, FieldError> {
    if moves.len() > MAX_MOVES {
        return Err(FieldError::new("moves", format!("More than {MAX_MOVES} moves")));
    }
    let first = first.or(moves.first().map(|m| m.0)).unwrap_or(Color::Black);
    let mut setup = [Vec::new(), Vec::new()];
    for &(color, place) in stones {
        match place {
            Move::Play(point) => setup[color.index()].push(point),
            Move::Pass => return Err(FieldError::new("initialStones", "A stone can't pass")),
        }
    }
    let mut game = Game::new(size, rules, komi);
    game.begin(setup, first).map_err(|e| FieldError::new("initialStones", e.to_string()))?;
    let open = |game: &Game, to_play| {
        game.open_state_for(to_play).map_err(|e| FieldError::new("moves", e.to_string()))
    };
    let mut states: Vec<Option<GameState>> = vec![None; wanted.len()];
    let mut to_play = first;
    for turn in 0..=moves.len() {
        let slots = wanted.iter().zip(&mut states).filter(|((number, _), _)| *number == turn);
        for (_, slot) in slots {
            *slot = Some(open(&game, to_play)?);
        }
        let Some(&(color, mv)) = moves.get(turn) else { break };
        game.play(color, mv).map_err(|_| {
            let text = format!("Illegal move {turn}: {}", size.vertex(mv));
            FieldError::new("moves", text)
        })?;
        to_play = color.opponent();
    }
    Ok(states.into_iter().flatten().collect())
}

fn override_settings(
    params: &mut Params,
    settings: &Value,
    warnings: &mut Vec<(String, String)>,
) -> Result<(), FieldError> {
    const FIELD: &str = "overrideSettings";
    let object = settings.as_object().ok_or_else(|| FieldError::new(FIELD, "Must be an object"))?;
    let mut unknown = Vec::new();
    for (name, value) in object {
        match params.set(name, value) {
            Ok(()) => {}
            Err(Refused::Unknown) => unknown.push(name.chars().take(100).collect::<String>()),
            Err(Refused::Value) => {
                let text = format!("Could not set {name}: not a value it can have");
                return Err(FieldError::new(FIELD, text.chars().take(200).collect::<String>()));
            }
        }
    }
    if !unknown.is_empty() {
        let text = format!("Unknown config params: {}", unknown.join(","));
        warnings.push((FIELD.to_owned(), text));
    }
    if let Some(problem) = params.search.validate().first() {
        return Err(FieldError::new(FIELD, problem.clone()));
    }
    Ok(())
}

fn read_limits(fields: &Fields<'_>, size: BoardSize) -> Result<MoveLimits, FieldError> {
    let mut limits = MoveLimits::default();
    for field in ["avoidMoves", "allowMoves"] {
        let Some(value) = fields.get(field) else { continue };
        let bad = || {
            let text = "Must be an array of objects with player, moves and untilDepth";
            FieldError::new(field, text)
        };
        let mut seen = [false; 2];
        for entry in value.as_array().ok_or_else(bad)? {
            let entry = entry.as_object().ok_or_else(bad)?;
            let who = player(field, entry.get("player").unwrap_or(&Value::Null))?;
            let places = entry.get("moves").and_then(Value::as_array).ok_or_else(bad)?;
            let actions = places
                .iter()
                .map(|place| location(field, size, place).map(|mv| size.action(mv)))
                .collect::<Result<Vec<usize>, _>>()?;
            let depth = entry.get("untilDepth").and_then(Value::as_u64).filter(|depth| *depth > 0);
            let depth = usize::try_from(depth.ok_or_else(bad)?).map_err(|_| bad())?;
            if field == "avoidMoves" {
                limits.avoid(who, &actions, depth);
                continue;
            }
            if std::mem::replace(&mut seen[who.index()], true) {
                return Err(FieldError::new(field, "At most one object a player"));
            }
            limits.allow(who, &actions, depth);
        }
    }
    Ok(limits)
}
