//! What the evaluator says by itself: KataGo's `kata-raw-nn`, and heat maps for GoGui.

use std::fmt::Write;

use tengen_inference::{Evaluation, Leaf, evaluate_in_batches};
use tengen_rules::{Color, GameState, Symmetry, Value};

use crate::engine::{Engine, EngineInfo, color};
use crate::error::GtpError;
use crate::estimate::{Estimate, Judge};
use crate::info::{Perspective, win_rate};

/// GoGui's analyse menu: a type, a label and a command each.
const GOGUI_COMMANDS: &str = "\
dboard/Policy (relative to the best move)/tengen-policy
dboard/Value after each move/tengen-value
dboard/Ownership/tengen-ownership
string/Lead/tengen-lead
plist/All legal moves/all_legal %c
string/Liberties/countlib %p
plist/Liberties (points)/findlib %p
string/Final score/final_score
plist/Final status dead/final_status_list dead
hstring/Move history/move_history
string/Rules/kata-get-rules
none/Forget the search/clear_cache";

impl Engine {
    /// `kata-raw-nn [COLOUR] SYMMETRY`, the symmetry 0 to 7 or `all`. Keys without a head in the
    /// network are left out, or -1 where KataGo's documents name that for "not available".
    pub(crate) fn kata_raw_nn(&mut self, args: &[String]) -> Result<String, GtpError> {
        let mut words = args.iter().map(String::as_str);
        let mut word = words.next().ok_or(GtpError::Syntax)?;
        let mut who = self.state().to_play();
        if let Ok(named) = color(word) {
            who = named;
            word = words.next().ok_or(GtpError::Syntax)?;
        }
        // The optimism behind it is about a head that networks here don't have.
        if words.next().is_some_and(|optimism| optimism.parse::<f64>().is_err())
            || words.next().is_some()
        {
            return Err(GtpError::Syntax);
        }
        let state = self.game.open_state_for(who)?;
        let valid = |symmetry: &Symmetry| symmetry.valid_for(state.size());
        let symmetries: Vec<Symmetry> = match word {
            "all" => Symmetry::all().into_iter().filter(valid).collect(),
            index => {
                let index = index.parse().map_err(|_| GtpError::Syntax)?;
                let symmetry = Symmetry::from_index(index).filter(valid);
                vec![symmetry.ok_or(GtpError::Unavailable("no such symmetry of this board"))?]
            }
        };
        let leaves: Vec<Leaf<'_>> =
            symmetries.iter().map(|&symmetry| Leaf { state: &state, symmetry }).collect();
        let answers = evaluate_in_batches(&mut *self.searcher.evaluator, &leaves)?;
        let blocks: Vec<String> = symmetries
            .iter()
            .zip(&answers)
            .map(|(symmetry, answer)| raw_text(&state, *symmetry, answer))
            .collect();
        Ok(blocks.join("\n"))
    }

    pub(crate) fn gogui_analyze_commands(&mut self, _: &[String]) -> Result<String, GtpError> {
        Ok(GOGUI_COMMANDS.to_owned())
    }

    /// Priors of the player to move, the best move's as 1.
    pub(crate) fn tengen_policy(&mut self, _: &[String]) -> Result<String, GtpError> {
        let state = self.game.open_state_for(self.state().to_play())?;
        let answers = self.searcher.evaluator.evaluate(&[Leaf::new(&state)])?;
        let policy = &answers.first().ok_or(GtpError::NoAnswer)?.policy;
        let points = &policy[..state.size().area()];
        let top = points.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        Ok(grid(&state, |point| f64::from(points[point] / top)))
    }

    /// The evaluator's value after each move, for the player to move; 0 where none is legal.
    pub(crate) fn tengen_value(&mut self, _: &[String]) -> Result<String, GtpError> {
        let state = self.game.open_state_for(self.state().to_play())?;
        let mut after = Vec::new();
        for action in state.legal_moves().iter().filter(|&a| a < state.size().area()) {
            let mut next = state.clone();
            if next.play(state.size().move_at(action)).is_ok() {
                after.push((action, next));
            }
        }
        let leaves: Vec<Leaf<'_>> = after.iter().map(|(_, next)| Leaf::new(next)).collect();
        let answers = evaluate_in_batches(&mut *self.searcher.evaluator, &leaves)?;
        let mut values = vec![0.0; state.size().area()];
        for ((action, _), answer) in after.iter().zip(&answers) {
            let value: Value = -answer.value;
            values[*action] = f64::from(value.get());
        }
        Ok(grid(&state, |point| values[point]))
    }

    /// Black's ownership, by the network where it has a head for it, else by random games.
    pub(crate) fn tengen_ownership(&mut self, _: &[String]) -> Result<String, GtpError> {
        let owned: Vec<f64> = self.estimate()?.ownership().collect();
        Ok(grid(self.state(), |point| owned[point]))
    }

    /// Black's lead, likewise.
    pub(crate) fn tengen_lead(&mut self, _: &[String]) -> Result<String, GtpError> {
        let estimate = self.estimate()?;
        Ok(format!("{:+.1} ± {:.1} for Black", estimate.lead(), estimate.deviation()))
    }

    fn estimate(&mut self) -> Result<Estimate, GtpError> {
        let EngineInfo { score_games: games, seed, .. } = self.info;
        if games == 0 {
            return Err(GtpError::Unavailable("scores are switched off"));
        }
        let state = self.game.open_state_for(self.state().to_play())?;
        Ok(Judge { evaluator: &mut *self.searcher.evaluator, games, seed }.position(&state))
    }
}

/// A number in [-1, 1] a point, row by row; no zero has a sign.
fn grid(state: &GameState, number: impl Fn(usize) -> f64) -> String {
    let size = state.size();
    let row = |row: usize| {
        let cells = (0..size.width())
            .map(|col| format!("{:.3}", thousandths(number(row * size.width() + col))));
        cells.collect::<Vec<_>>().join(" ")
    };
    (0..size.height()).map(row).collect::<Vec<_>>().join("\n")
}

fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0 + 0.0
}

fn raw_text(state: &GameState, symmetry: Symmetry, answer: &Evaluation) -> String {
    let size = state.size();
    let white = Perspective::White.rate(state.to_play(), win_rate(answer.value));
    let mut out = format!(
        "symmetry {}\nwhiteWin {white:.6}\nwhiteLoss {:.6}\nnoResult 0.000000\n",
        symmetry.index(),
        1.0 - white,
    );
    let sign = if state.to_play() == Color::White { 1.0 } else { -1.0 };
    if let Some(score) = answer.score {
        let lead = sign * f64::from(score);
        let _ = write!(out, "whiteLead {lead:.3}\nwhiteScoreSelfplay {lead:.3}\n");
    }
    out.push_str(
        "varTimeLeft -1.000\nshorttermWinlossError -1.000\nshorttermScoreError -1.000\npolicy",
    );
    let legal = state.legal_moves();
    for point in 0..size.area() {
        out.push(if point % size.width() == 0 { '\n' } else { ' ' });
        if legal.contains(point) {
            let _ = write!(out, "{:.6}", answer.policy[point]);
        } else {
            out.push_str("NAN");
        }
    }
    let _ = write!(out, "\npolicyPass {:.6}", answer.policy[size.pass_action()]);
    if let Some(ownership) = &answer.ownership {
        let _ =
            write!(out, "\nwhiteOwnership\n{}", grid(state, |p| sign * f64::from(ownership[p])));
    }
    out
}
