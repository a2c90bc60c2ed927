//! What to look at when a gate lets nothing through.

use crate::{GateConfig, Tally, elo_of_score};

/// Rejections in a row after which a run says what to look at.
pub const REJECTIONS_WORTH_A_WORD: usize = 10;

/// Half a 95 % interval after one game between equals: 1.96 · ½ · 400 / (ln 10 · ¼).
const ELO_OF_ONE_GAME: f64 = 681.0;

/// What `matches`, all of them rejections, point at; the likeliest cause first. Empty without
/// matches.
pub fn advice(matches: &[Tally], gate: &GateConfig) -> Vec<String> {
    if matches.is_empty() {
        return Vec::new();
    }
    let sum = |count: fn(&Tally) -> u32| matches.iter().map(count).sum::<u32>();
    let (counted, left_out) = (sum(Tally::games), sum(Tally::left_out));
    let points: f64 = matches.iter().map(Tally::points).sum();
    let score = if counted == 0 { 0.5 } else { points / f64::from(counted) };
    let mut lines = Vec::new();
    if left_out * 4 > counted + left_out {
        lines.push(format!(
            "{left_out} of {} games did not count (repeats or faults): raise gate.opening_moves \
             (now {}) or gate.opening_temperature (now {})",
            counted + left_out,
            gate.opening_moves,
            gate.opening_temperature
        ));
    }
    if score < 0.45 {
        lines.push(format!(
            "candidates score {:.0} % of the points, clearly below the best network: training makes \
             nets worse; look at the loss, lower trainer.learning_rate, widen the window, or check \
             that games come from the best network",
            100.0 * score
        ));
    } else {
        lines.push(format!(
            "candidates score {:.0} % ({:+.0} Elo): steps between candidates are too small to be seen; \
             raise trainer.steps_per_candidate, lower gate.threshold (now {}), or let \
             `tengen ladder` tell whether nets still improve on older ones",
            100.0 * score,
            elo_of_score(score),
            gate.threshold
        ));
    }
    let games = f64::from(counted) / matches.len() as f64;
    if score >= 0.45 && games < 100.0 {
        lines.push(format!(
            "a match counts {games:.0} games, its Elo within ±{:.0}: raise gate.pairs (now {}), or \
             use mode = \"sprt\"",
            ELO_OF_ONE_GAME / games.max(1.0).sqrt(),
            gate.pairs
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten(tally: Tally) -> Vec<Tally> {
        vec![tally; REJECTIONS_WORTH_A_WORD]
    }

    #[test]
    fn each_cause_is_named_with_its_remedy() {
        let gate = GateConfig::default();
        let worse = advice(&ten(Tally { wins: 30, losses: 70, ..Tally::default() }), &gate);
        assert!(worse[0].contains("30 %") && worse[0].contains("learning_rate"), "{worse:?}");
        let close = advice(&ten(Tally { wins: 102, losses: 98, ..Tally::default() }), &gate);
        assert!(close[0].contains("51 %") && close[0].contains("steps_per_candidate"), "{close:?}");
        assert_eq!(close.len(), 1, "200 games are enough");
        let same = Tally { wins: 10, losses: 10, repeats: 20, ..Tally::default() };
        let repeats = advice(&ten(same), &gate);
        assert!(repeats[0].contains("200 of 400") && repeats[0].contains("opening_moves"));
        assert!(repeats[2].contains("20 games"), "{repeats:?}");
    }

    #[test]
    fn nothing_rejected_nothing_said_and_no_game_is_no_number() {
        assert!(advice(&[], &GateConfig::default()).is_empty());
        let faults = ten(Tally { faults: 20, ..Tally::default() });
        assert!(advice(&faults, &GateConfig::default()).iter().all(|line| !line.contains("NaN")));
    }
}
