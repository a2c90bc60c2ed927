//! The score of a finished position under any rules, dead stones given.

use crate::area::owners;
use crate::seki::{SekiMap, Stones};
use crate::{Color, GameState, Komi, Outcome, Point, Rules, Scoring, Tax, propose_dead};

/// A counted board. Totals are in half points and hold everything: komi and handicap compensation
/// for White, the button, prisoners under territory scoring, less the tax on groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreSheet {
    /// Who won by how much.
    pub outcome: Outcome,
    /// Black's total in half points.
    pub black_half_points: i32,
    /// White's total in half points.
    pub white_half_points: i32,
    /// Whose point each is, by index. Under area scoring stones count, under territory scoring
    /// only empty points and those under dead stones.
    pub owner: Vec<Option<Color>>,
    /// Stones taken by Black and by White, dead ones included.
    pub prisoners: [u32; 2],
    /// The stones counted as dead, in index order.
    pub dead: Vec<Point>,
}

impl ScoreSheet {
    /// A player's total in points, exact.
    pub fn points(&self, color: Color) -> f64 {
        f64::from(match color {
            Color::Black => self.black_half_points,
            Color::White => self.white_half_points,
        }) / 2.0
    }

    /// The winner; `None` after a draw.
    pub fn winner(&self) -> Option<Color> {
        self.outcome.winner()
    }

    /// Black's total less White's, in half points.
    pub fn black_lead_half_points(&self) -> i32 {
        self.black_half_points - self.white_half_points
    }

    /// The SGF `RE` text: `B+3.5`, `W+0.5`, `0`.
    pub fn result_text(&self) -> String {
        self.outcome.result_text()
    }

    /// Points of the board that a colour owns.
    pub fn owned(&self, color: Color) -> u32 {
        self.owner.iter().filter(|&&owner| owner == Some(color)).count() as u32
    }

    /// Points of the board that nobody owns. Under area scoring the Chinese share them half and
    /// half, which adds the same to both totals and so changes no result.
    pub fn neutral(&self) -> u32 {
        self.owner.iter().filter(|owner| owner.is_none()).count() as u32
    }
}

/// Counts a position under `rules`, whatever rules it was played by.
///
/// `dead` are the stones agreed to be dead, one point of the board each; points without a stone
/// are passed over. `handicap_stones` earn White what [`Rules::handicap_bonus`] says. The button
/// goes to the first player who passed, or to the player to move if nobody did. Where the rules tax
/// seki, what lies in a seki or must be filled is found as described in `docs/rules.md`.
pub fn score_position(
    state: &GameState,
    rules: Rules,
    komi: Komi,
    handicap_stones: u32,
    dead: &[Point],
) -> ScoreSheet {
    let stones = state.stones_by_point();
    let mut is_dead = vec![false; stones.len()];
    for point in dead.iter().filter(|&&p| state.stone(p).is_some()) {
        is_dead[point.index()] = true;
    }
    let alive: Vec<_> =
        stones.iter().zip(&is_dead).map(|(&stone, dead)| stone.filter(|_| !dead)).collect();
    let seki = (rules.tax != Tax::None).then(|| {
        let geometry = &*state.board.geometry;
        SekiMap::of(Stones { geometry, stones: &stones, dead: &is_dead })
    });
    let area = owners(state, alive.clone());
    let owner: Vec<Option<Color>> = match (rules.scoring, &seki) {
        (Scoring::Area, None) => area,
        (Scoring::Area, Some(map)) => (0..area.len())
            .map(|p| alive[p].or(area[p].filter(|_| map.seki[p].is_none())))
            .collect(),
        (Scoring::Territory, None) => {
            area.iter().zip(&alive).map(|(&o, stone)| o.filter(|_| stone.is_none())).collect()
        }
        (Scoring::Territory, Some(map)) => map.territory.clone(),
    };

    let prisoners = Color::BOTH.map(|color| {
        let lost = Some(color.opponent());
        let dead = stones.iter().zip(&is_dead).filter(|&(&stone, &dead)| dead && stone == lost);
        state.captures(color) + dead.count() as u32
    });
    let mut half = Color::BOTH.map(|color| {
        let on_board = owner.iter().filter(|&&o| o == Some(color)).count() as i32;
        let taken = match rules.scoring {
            Scoring::Area => 0,
            Scoring::Territory => prisoners[color.index()] as i32,
        };
        let groups = match (&seki, rules.tax) {
            (Some(map), Tax::All) => map.living[color.index()] as i32,
            _ => 0,
        };
        2 * (on_board + taken - 2 * groups)
    });
    half[1] += komi.half_points() + 2 * rules.handicap_bonus.points(handicap_stones) as i32;
    if rules.button {
        half[state.first_passer().unwrap_or(state.to_play()).index()] += 1;
    }
    let [black_half_points, white_half_points] = half;
    let dead = (0..is_dead.len()).filter(|&p| is_dead[p]).map(Point::from_index).collect();
    ScoreSheet {
        outcome: Outcome::from_black_lead(black_half_points - white_half_points),
        black_half_points,
        white_half_points,
        owner,
        prisoners,
        dead,
    }
}

impl GameState {
    /// The result if the game ended on this board, with nobody there to agree on dead stones.
    ///
    /// Under area scoring without friendly passes (Tromp–Taylor) every stone is alive. Under other
    /// rules the stones that [`propose_dead`] proves dead are taken first.
    pub fn score_now(&self) -> Outcome {
        let rules = self.rules();
        let agreed = rules.friendly_pass || rules.scoring == Scoring::Territory;
        let dead = if agreed { propose_dead(self) } else { Vec::new() };
        score_position(self, rules, self.komi(), 0, &dead).outcome
    }
}
