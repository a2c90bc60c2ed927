//! The `[trainer]` section.

use serde::{Deserialize, Serialize};

use crate::OptimiserKind;

/// How weights are made from games. Papers: AlphaGo Zero (Silver et al. 2017, Methods,
/// "Optimisation"); the growing window is KataGo's (Wu 2019, appendix C).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainerConfig {
    /// Samples per step. Default 128; the paper: 2048.
    pub batch_size: usize,
    /// Parts in which a step's samples are computed one after the other, their gradients averaged:
    /// a step then needs the memory of one part. Each part is of one board and normalises by its own
    /// statistics. Default 1, the whole batch at once, as in the paper.
    pub batch_parts: usize,
    /// Step size after the warm-up. Default 0.02; the paper: 0.01, then 0.001 and 0.0001.
    pub learning_rate: f64,
    /// Step size per sample; above 0 it takes the place of `learning_rate`, times `batch_size`, so
    /// that the batch may change and the step size follows. Default 0; KataGo 6e-5.
    pub learning_rate_per_sample: f64,
    /// Steps over which the step size rises linearly from zero. Default 100; the paper: 0.
    pub warmup_steps: u64,
    /// Steps after which the cosine schedule has reached its end; 0 keeps the step size constant.
    /// Default 0; the paper drops it at 400,000 and 600,000 steps instead.
    pub schedule_steps: u64,
    /// Steps at each of which the step size is multiplied by `drop_factor`, in rising order. Default
    /// none; the paper: 400,000 and 600,000. Instead of `schedule_steps`, not beside it.
    pub drop_steps: Vec<u64>,
    /// See `drop_steps`. Default 0.1, as in the paper.
    pub drop_factor: f64,
    /// The step size at the end of the schedule, as a fraction of `learning_rate`. Default 0.01,
    /// the paper's ratio of last to first.
    pub final_fraction: f64,
    /// `momentum` or `adamw`. Default `momentum`, the paper's; `adamw` wants a step size of about
    /// 0.001. A run keeps the one it began with.
    pub optimiser: OptimiserKind,
    /// AdamW's memory of squared slopes, β₂. Default 0.999 (Kingma & Ba 2015).
    pub adamw_beta2: f64,
    /// AdamW's decay λ of the same weights as `weight_decay`, which it ignores. Default 0.01
    /// (PyTorch's).
    pub adamw_decay: f64,
    /// Steps between the snapshots that candidates are an average of; 0 offers the weights as they
    /// stand. Default 0, as in the paper; KataGo 250,000 samples.
    pub average_every_steps: u64,
    /// What the average so far counts at a snapshot. Default 0.75, KataGo's.
    pub average_decay: f64,
    /// Momentum of the gradient descent, and AdamW's β₁. Default 0.9, as in the paper.
    pub momentum: f64,
    /// The c of the loss term c‖θ‖², over the weights of convolutions and linear layers.
    /// Default 1e-4, as in the paper (which counts every parameter).
    pub weight_decay: f64,
    /// Weight of the value term (z−v)² against the policy term. Default 1, as in the paper.
    pub value_weight: f64,
    /// Weight of the owners' binary cross entropy, mean over the board; with `network.ownership`.
    /// Default 1.5, KataGo's; the paper has no such head, nor any of the five below.
    pub ownership_weight: f64,
    /// Weight of the score's Huber loss (δ = 12 points); with `network.score`. Default 0.0015, KataGo's.
    pub score_weight: f64,
    /// Weight of the Huber loss (δ = 100 square points) of the score's expected squared error; with
    /// `network.score`. Default 2e-5, KataGo's for its short-term score error.
    pub score_spread_weight: f64,
    /// Weight of the opponent's next policy; with `network.opponent_policy`. Default 0.15, KataGo's.
    pub opponent_policy_weight: f64,
    /// Weight of the policy to the power of a quarter; with `network.soft_policy`. Default 8, KataGo's:
    /// its gradient is small.
    pub soft_policy_weight: f64,
    /// Weight of each horizon's squared error against `value_weight` 1; with
    /// `network.short_term_values`. Default 0.5: KataGo's 0.6 beside its value's 1.2.
    pub short_term_weight: f64,
    /// Largest norm of the whole gradient; a longer one is scaled down. 0 turns clipping off.
    /// Default 4; the paper does not clip.
    pub gradient_clip: f64,
    /// Target positions in the smallest window: until so many are seen, all of them are in it.
    /// Default 20,000. The paper's window is its newest 500,000 games.
    pub window_min_positions: usize,
    /// Target positions that the window never exceeds. Default 500,000.
    pub window_max_positions: usize,
    /// Positions that the window gains per position seen, where it starts to grow (β).
    /// Default 0.4, KataGo's; 0 keeps the window at its minimum.
    pub window_growth: f64,
    /// Power law of the growth (α): 1 is proportional, smaller flattens. Default 0.75, KataGo's.
    pub window_exponent: f64,
    /// Times that a target position is trained on, on average: what [`steps_due`] paces.
    /// Default 4, the cap of KataGo's public run; the paper: about 1.5 (700,000 batches, 4.9 million
    /// games).
    ///
    /// [`steps_due`]: crate::Trainer::steps_due
    pub samples_per_position: f64,
    /// Samples a position that training never exceeds, whoever asks for steps: a step beyond is
    /// refused. 0: no cap, `samples_per_position` alone paces. Default 0; KataGo's shuffler stops at 8.
    pub reuse_cap: f64,
    /// Share of the games that are never trained on, chosen by a hash of the game, to measure the
    /// network by. Default 0.02; 0 keeps none back. The paper measures on human games.
    pub held_out_fraction: f64,
    /// Positions of those games that one measurement takes at most. Default 512.
    pub held_out_positions: usize,
    /// Steps between measurements on held-out games; 0 makes none. Default 250.
    pub held_out_every_steps: u64,
    /// Steps between reports of every block's gradient and update; 0 makes none. Default 100.
    pub watch_every_steps: u64,
    /// Draw positions in proportion to their weight, each then counting once in the loss, in place
    /// of drawing all alike and weighing them in the loss. The same on average, with steadier
    /// steps where weights differ (`selfplay.surprise_weight`, `selfplay.soft_resign`). Default
    /// false; the paper has no weights, KataGo true.
    pub draw_by_weight: bool,
    /// Steps between candidates offered to the gate. Default 500; the paper: 1000.
    pub steps_per_candidate: u64,
    /// Steps between checkpoints. Default 250.
    pub checkpoint_every_steps: u64,
    /// Newest checkpoints that are kept. Default 3; at least 2, so that a damaged one has a
    /// predecessor.
    pub keep_checkpoints: usize,
}

impl Default for TrainerConfig {
    fn default() -> Self {
        Self {
            batch_size: 128,
            batch_parts: 1,
            learning_rate: 0.02,
            learning_rate_per_sample: 0.0,
            warmup_steps: 100,
            schedule_steps: 0,
            drop_steps: Vec::new(),
            drop_factor: 0.1,
            final_fraction: 0.01,
            optimiser: OptimiserKind::Momentum,
            adamw_beta2: 0.999,
            adamw_decay: 0.01,
            average_every_steps: 0,
            average_decay: 0.75,
            momentum: 0.9,
            weight_decay: 1e-4,
            value_weight: 1.0,
            ownership_weight: 1.5,
            score_weight: 0.0015,
            score_spread_weight: 2e-5,
            opponent_policy_weight: 0.15,
            soft_policy_weight: 8.0,
            short_term_weight: 0.5,
            gradient_clip: 4.0,
            window_min_positions: 20_000,
            window_max_positions: 500_000,
            window_growth: 0.4,
            window_exponent: 0.75,
            samples_per_position: 4.0,
            reuse_cap: 0.0,
            held_out_fraction: 0.02,
            held_out_positions: 512,
            held_out_every_steps: 250,
            watch_every_steps: 100,
            draw_by_weight: false,
            steps_per_candidate: 500,
            checkpoint_every_steps: 250,
            keep_checkpoints: 3,
        }
    }
}

impl TrainerConfig {
    /// Everything that is wrong with this section, each with its key; empty when nothing is.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut require = |holds: bool, key: &str, value: &dyn std::fmt::Display, want: &str| {
            if !holds {
                problems.push(format!("trainer.{key} is {value}, must be {want}"));
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let c = self;
        // One sample has no variance: batch normalisation would divide by nothing.
        require((2..=65_536).contains(&c.batch_size), "batch_size", &c.batch_size, "2 to 65536");
        require(
            c.batch_parts >= 1
                && c.batch_size.is_multiple_of(c.batch_parts)
                && c.batch_size / c.batch_parts >= 2,
            "batch_parts",
            &c.batch_parts,
            "a divisor of trainer.batch_size that leaves two samples a part",
        );
        require(positive(c.learning_rate), "learning_rate", &c.learning_rate, "above 0");
        require(
            not_negative(c.final_fraction) && c.final_fraction <= 1.0,
            "final_fraction",
            &c.final_fraction,
            "0 to 1",
        );
        require(
            c.schedule_steps == 0 || c.schedule_steps > c.warmup_steps,
            "schedule_steps",
            &c.schedule_steps,
            "0 or above trainer.warmup_steps",
        );
        require(
            not_negative(c.learning_rate_per_sample),
            "learning_rate_per_sample",
            &c.learning_rate_per_sample,
            "at least 0",
        );
        let drops = format!("{:?}", c.drop_steps);
        require(c.drop_steps.is_sorted_by(|a, b| a < b), "drop_steps", &drops, "in rising order");
        require(
            c.drop_steps.is_empty() || c.schedule_steps == 0,
            "drop_steps",
            &drops,
            "empty with trainer.schedule_steps, or that 0: one schedule at a time",
        );
        require(
            positive(c.drop_factor) && c.drop_factor <= 1.0,
            "drop_factor",
            &c.drop_factor,
            "above 0, at most 1",
        );
        require(
            (0.0..1.0).contains(&c.adamw_beta2),
            "adamw_beta2",
            &c.adamw_beta2,
            "at least 0 and below 1",
        );
        require(not_negative(c.adamw_decay), "adamw_decay", &c.adamw_decay, "at least 0");
        require(
            (0.0..1.0).contains(&c.average_decay),
            "average_decay",
            &c.average_decay,
            "at least 0 and below 1",
        );
        require(
            (0.0..1.0).contains(&c.momentum),
            "momentum",
            &c.momentum,
            "at least 0 and below 1",
        );
        require(not_negative(c.weight_decay), "weight_decay", &c.weight_decay, "at least 0");
        require(not_negative(c.value_weight), "value_weight", &c.value_weight, "at least 0");
        for (key, weight) in [
            ("ownership_weight", c.ownership_weight),
            ("score_weight", c.score_weight),
            ("score_spread_weight", c.score_spread_weight),
            ("opponent_policy_weight", c.opponent_policy_weight),
            ("soft_policy_weight", c.soft_policy_weight),
            ("short_term_weight", c.short_term_weight),
        ] {
            require(not_negative(weight), key, &weight, "at least 0");
        }
        require(not_negative(c.gradient_clip), "gradient_clip", &c.gradient_clip, "at least 0");
        require(
            c.window_min_positions >= c.batch_size,
            "window_min_positions",
            &c.window_min_positions,
            "at least trainer.batch_size, or every batch shows the same positions over again",
        );
        require(
            c.window_max_positions >= c.window_min_positions,
            "window_max_positions",
            &c.window_max_positions,
            "at least trainer.window_min_positions",
        );
        // Growing faster than the data would ask for games that have already left the window.
        require(
            (0.0..=1.0).contains(&c.window_growth),
            "window_growth",
            &c.window_growth,
            "0 to 1",
        );
        require(
            positive(c.window_exponent) && c.window_exponent <= 1.0,
            "window_exponent",
            &c.window_exponent,
            "above 0, at most 1",
        );
        require(
            positive(c.samples_per_position),
            "samples_per_position",
            &c.samples_per_position,
            "above 0",
        );
        require(
            c.reuse_cap == 0.0 || c.reuse_cap.is_finite() && c.reuse_cap >= c.samples_per_position,
            "reuse_cap",
            &c.reuse_cap,
            "0 or at least trainer.samples_per_position",
        );
        // With half of the games gone a run would only learn half as fast.
        require(
            (0.0..=0.5).contains(&c.held_out_fraction),
            "held_out_fraction",
            &c.held_out_fraction,
            "0 to 0.5",
        );
        require(
            (1..=1_000_000).contains(&c.held_out_positions),
            "held_out_positions",
            &c.held_out_positions,
            "1 to 1000000",
        );
        require(
            c.steps_per_candidate >= 1,
            "steps_per_candidate",
            &c.steps_per_candidate,
            "at least 1",
        );
        require(
            c.checkpoint_every_steps >= 1,
            "checkpoint_every_steps",
            &c.checkpoint_every_steps,
            "at least 1",
        );
        require(c.keep_checkpoints >= 2, "keep_checkpoints", &c.keep_checkpoints, "at least 2");
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold() {
        assert_eq!(TrainerConfig::default().validate(), Vec::<String>::new());
    }

    #[test]
    fn every_problem_is_listed_by_its_key() {
        let config = TrainerConfig {
            batch_size: 1,
            learning_rate: f64::NAN,
            momentum: 1.0,
            window_max_positions: 3,
            window_growth: 1.5,
            keep_checkpoints: 1,
            drop_steps: vec![5, 5],
            reuse_cap: 1.0,
            held_out_fraction: 0.9,
            average_decay: 1.0,
            batch_parts: 0,
            ..TrainerConfig::default()
        };
        let problems = config.validate();
        assert_eq!(problems.len(), 11, "{problems:?}");
        for key in [
            "batch_size",
            "learning_rate",
            "momentum",
            "window_max_positions",
            "window_growth",
            "keep_checkpoints",
            "drop_steps",
            "reuse_cap",
            "held_out_fraction",
            "average_decay",
            "batch_parts",
        ] {
            assert!(
                problems.iter().any(|p| p.starts_with(&format!("trainer.{key} is"))),
                "{key}: {problems:?}"
            );
        }
    }

    #[test]
    fn every_key_stands_in_the_documentation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/training.md");
        let page = std::fs::read_to_string(path).unwrap();
        let config = serde_json::to_value(TrainerConfig::default()).unwrap();
        for key in config.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "docs/training.md says nothing of {key}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = serde_json::from_str::<TrainerConfig>(r#"{"learing_rate": 0.1}"#).unwrap_err();
        assert!(error.to_string().contains("learing_rate"), "{error}");
    }
}
