//! The `[search]` section.

use serde::{Deserialize, Serialize};

/// How a tree is searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Simulations per move. Default 200; AlphaGo Zero 1600, AlphaZero 800.
    pub visits: u32,
    /// `c_init` of AlphaZero's exploration rate `ln((1 + N + c_base) / c_base) + c_init`, for
    /// values in [-1, 1]. Default and paper 1.25.
    pub c_puct_init: f32,
    /// `c_base` of the same rate, in visits. Default and paper 19652.
    pub c_puct_base: f32,
    /// Factor on the logarithm of the same rate. Default and paper 1; KataGo 0.45 with a base of
    /// 500 and an init of 1.
    pub c_puct_log: f32,
    /// How far the rate follows the spread of the values seen below a node (KataGo's dynamic
    /// cPUCT): it is multiplied by `1 + scale * (stdev / prior stdev - 1)`. 0 (default, and the
    /// paper) for not at all; KataGo 0.85.
    pub c_puct_stdev_scale: f32,
    /// The standard deviation at which that factor is 1, for values in [-1, 1]. Default and
    /// KataGo 0.4.
    pub c_puct_stdev_prior: f32,
    /// How many visits that prior counts for in the estimate. Default and KataGo 2.
    pub c_puct_stdev_prior_weight: f32,
    /// How much less than its parent's value an unvisited move is assumed to be worth, scaled by
    /// the square root of the prior mass already visited. Default 0.2 (KataGo); the AlphaGo Zero
    /// paper has no such term.
    pub fpu_reduction: f32,
    /// The same at the root, where noise must be able to reach every move. Default 0.
    pub root_fpu_reduction: f32,
    /// Take for the parent's value in both a blend of its mean, weighted by the square of the prior
    /// mass visited, and the evaluator's own value. Default false; KataGo true.
    pub fpu_by_mass: bool,
    /// Total concentration of the root's Dirichlet noise, shared by the legal moves. Default 10.83
    /// = 0.03 x 361: the paper's 0.03 a move on 19x19, and the scaling that KataGo uses.
    pub dirichlet_total_alpha: f32,
    /// Share of that total that follows the logarithm of the priors above their mean; the rest is
    /// even. 0 (default, and the papers) for all even; KataGo's code 0.5.
    pub dirichlet_shaped: f32,
    /// Weight of the noise in the root's priors, 0 for none. Default and paper 0.25.
    pub dirichlet_fraction: f32,
    /// The root's priors are raised to 1 / this before noise; above 1 flattens. Default 1 (the
    /// paper has none); KataGo's self-play uses 1.1 to 1.25.
    pub root_policy_temperature: f32,
    /// Losses an edge is charged for each leaf in flight below it. Default 1; AlphaGo 3.
    pub virtual_loss: u32,
    /// Leaves [`run_search`](crate::run_search) evaluates together, at most. Default 8, as in the
    /// paper's mini-batches of positions.
    pub leaves_per_batch: u32,
    /// KataGo's `k`: a root move once tried gets at least `sqrt(k * P * N)` visits, and the target
    /// is pruned of what only this forced. 0 (default) for none; KataGo 2.
    pub forced_playouts: f32,
    /// Play by the lower confidence bound this many standard errors below Q
    /// ([`choose_best`](crate::choose_best)), instead of by visits. 0 (default, and the papers) for
    /// visits; KataGo 5.
    pub lcb_stdevs: f32,
    /// Least share of the most visited move's visits to be played by its bound. Default and
    /// KataGo 0.15.
    pub lcb_min_share: f32,
    /// Moves of the game before which a pass is not searched where a stone can be played. 0
    /// (default, and the papers) for none; ELF OpenGo 160 on 19x19. Young networks otherwise learn
    /// to pass on open boards, where komi makes it look safe, and games end before they begin.
    pub pass_from_ply: u32,
    /// Prove wins and losses below finished games: exact bounds are carried up, a proven position
    /// is not searched on, a proven loss not played. Exact because every node is one line of play,
    /// superko included. Default false; the papers have none.
    pub solve: bool,
    /// Let positions reached by different orders of moves share a node (graph search). Default
    /// false; KataGo true in play.
    pub graph: bool,
    /// What points are worth beside winning: with `c` above 0 a search strives for
    /// `(z + c * 2/pi * atan(x / b)) / (1 + c)`, `z` the result, `x` the lead in points and `b` the root of
    /// the board's area (Wu 2019, 3.4, with the centre at an even score and scaled to [-1, 1]). Needs a
    /// network with the head `score`; without one only finished games tell points. Default 0 (the papers);
    /// KataGo 0.5 at first.
    pub score_utility: f32,
    /// Use the Gumbel root (sequential halving) and its improved policy as target in place of
    /// PUCT and visit counts. Default false; see Danihelka et al. 2022.
    pub gumbel: bool,
    /// Root moves that the Gumbel root considers, at most. Default and paper 16.
    pub gumbel_considered: u32,
    /// `c_visit` of the Gumbel value transform, in visits. Default and paper 50.
    pub c_visit: f32,
    /// `c_scale` of the Gumbel value transform, for values in [0, 1]. Default and paper 1.
    pub c_scale: f32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig {
            visits: 200,
            c_puct_init: 1.25,
            c_puct_base: 19652.0,
            c_puct_log: 1.0,
            c_puct_stdev_scale: 0.0,
            c_puct_stdev_prior: 0.4,
            c_puct_stdev_prior_weight: 2.0,
            fpu_reduction: 0.2,
            root_fpu_reduction: 0.0,
            fpu_by_mass: false,
            dirichlet_total_alpha: 10.83,
            dirichlet_shaped: 0.0,
            dirichlet_fraction: 0.25,
            root_policy_temperature: 1.0,
            virtual_loss: 1,
            leaves_per_batch: 8,
            forced_playouts: 0.0,
            lcb_stdevs: 0.0,
            lcb_min_share: 0.15,
            pass_from_ply: 0,
            solve: false,
            graph: false,
            score_utility: 0.0,
            gumbel: false,
            gumbel_considered: 16,
            c_visit: 50.0,
            c_scale: 1.0,
        }
    }
}

impl SearchConfig {
    /// Every problem with the section, each naming its key; empty when it can be used.
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut need = |ok: bool, key: &str, found: String, wanted: &str| {
            if !ok {
                problems.push(format!("search.{key} is {found}, but must be {wanted}"));
            }
        };
        let mut positive = |key: &str, value: f32| {
            let ok = value.is_finite() && value > 0.0;
            need(ok, key, value.to_string(), "finite and above 0");
        };
        positive("c_puct_base", self.c_puct_base);
        positive("c_puct_stdev_prior", self.c_puct_stdev_prior);
        positive("c_puct_stdev_prior_weight", self.c_puct_stdev_prior_weight);
        positive("dirichlet_total_alpha", self.dirichlet_total_alpha);
        positive("root_policy_temperature", self.root_policy_temperature);
        let mut not_negative = |key: &str, value: f32| {
            let ok = value.is_finite() && value >= 0.0;
            need(ok, key, value.to_string(), "finite and at least 0");
        };
        not_negative("c_puct_init", self.c_puct_init);
        not_negative("c_puct_log", self.c_puct_log);
        not_negative("lcb_stdevs", self.lcb_stdevs);
        not_negative("fpu_reduction", self.fpu_reduction);
        not_negative("root_fpu_reduction", self.root_fpu_reduction);
        not_negative("forced_playouts", self.forced_playouts);
        not_negative("c_visit", self.c_visit);
        not_negative("score_utility", self.score_utility);
        not_negative("c_scale", self.c_scale);
        for (key, share) in [
            ("dirichlet_fraction", self.dirichlet_fraction),
            ("dirichlet_shaped", self.dirichlet_shaped),
            ("lcb_min_share", self.lcb_min_share),
            // Above 1 a narrow spread would turn exploration around.
            ("c_puct_stdev_scale", self.c_puct_stdev_scale),
        ] {
            need((0.0..=1.0).contains(&share), key, share.to_string(), "between 0 and 1");
        }
        for (key, value) in [
            ("visits", self.visits),
            ("leaves_per_batch", self.leaves_per_batch),
            ("gumbel_considered", self.gumbel_considered),
        ] {
            need(value > 0, key, value.to_string(), "at least 1");
        }
        // A node reached by several lines cannot say what superko will allow on each of them.
        need(!(self.solve && self.graph), "solve", "true".into(), "false with search.graph");
        // Nothing is proven about a game in which a legal move was left out.
        need(
            !(self.solve && self.pass_from_ply > 0),
            "solve",
            "true".into(),
            "false with search.pass_from_ply",
        );
        // What is proven, and what two lines of play share, is a result and no utility.
        need(
            self.score_utility == 0.0 || !(self.solve || self.graph),
            "score_utility",
            self.score_utility.to_string(),
            "0 with search.solve or search.graph",
        );
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sound_and_every_problem_is_listed() {
        assert_eq!(SearchConfig::default().validate(), Vec::<String>::new());
        let bad = SearchConfig {
            visits: 0,
            dirichlet_fraction: 1.5,
            c_puct_base: f32::NAN,
            ..SearchConfig::default()
        };
        let problems = bad.validate();
        assert_eq!(problems.len(), 3, "{problems:?}");
        for key in ["search.visits", "search.dirichlet_fraction", "search.c_puct_base"] {
            assert!(problems.iter().any(|p| p.starts_with(key)), "{key}");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<SearchConfig>(r#"{"visits": 10}"#).is_ok());
        assert!(serde_json::from_str::<SearchConfig>(r#"{"visit": 10}"#).is_err());
    }
}
