//! What depends on how far a run has come: the step size and the width of the window.

use crate::TrainerConfig;

/// The step size of step `step` (from 0): a linear warm-up, then constant, or a half cosine down
/// to `final_fraction` of it, or dropping at given steps as in the paper.
#[must_use]
pub fn learning_rate(config: &TrainerConfig, step: u64) -> f64 {
    let peak = match config.learning_rate_per_sample {
        rate if rate > 0.0 => rate * config.batch_size as f64,
        _ => config.learning_rate,
    };
    let drops = config.drop_steps.iter().filter(|&&drop| step >= drop).count();
    let peak = peak * config.drop_factor.powi(drops as i32);
    if step < config.warmup_steps {
        return peak * (step + 1) as f64 / config.warmup_steps as f64;
    }
    if config.schedule_steps <= config.warmup_steps {
        return peak;
    }
    let length = (config.schedule_steps - config.warmup_steps) as f64;
    let progress = ((step - config.warmup_steps) as f64 / length).min(1.0);
    let cosine = 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
    peak * (config.final_fraction + (1.0 - config.final_fraction) * cosine)
}

/// How many of the newest target positions are in the window when `seen` have been made since the
/// run began: `c·(1 + β·((N/c)^α − 1)/α)` beyond the minimum c (KataGo's power law), capped.
///
/// It never grows faster than the data (β ≤ 1), so a game that has left stays out.
#[must_use]
pub fn window_capacity(config: &TrainerConfig, seen: u64) -> usize {
    let minimum = config.window_min_positions;
    let ratio = seen as f64 / minimum as f64;
    if ratio <= 1.0 {
        return minimum;
    }
    let growth =
        config.window_growth * (ratio.powf(config.window_exponent) - 1.0) / config.window_exponent;
    let capacity = (minimum as f64 * (1.0 + growth)).floor() as usize;
    capacity.clamp(minimum, config.window_max_positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_size_warms_up_and_stays() {
        let config =
            TrainerConfig { learning_rate: 0.1, warmup_steps: 4, ..TrainerConfig::default() };
        let rates: Vec<f64> =
            [0, 1, 3, 4, 1_000_000].map(|step| learning_rate(&config, step)).to_vec();
        for (rate, expected) in rates.iter().zip([0.025, 0.05, 0.1, 0.1, 0.1]) {
            assert!((rate - expected).abs() < 1e-12, "{rates:?}");
        }
    }

    #[test]
    fn the_step_size_drops_where_it_is_told_to_and_follows_the_batch() {
        let config = TrainerConfig {
            learning_rate: 1.0,
            learning_rate_per_sample: 0.5,
            batch_size: 4,
            warmup_steps: 2,
            drop_steps: vec![10, 20],
            ..TrainerConfig::default()
        };
        for (step, expected) in [(0, 1.0), (2, 2.0), (9, 2.0), (10, 0.2), (19, 0.2), (20, 0.02)] {
            let rate = learning_rate(&config, step);
            assert!((rate - expected).abs() < 1e-12, "step {step}: {rate}");
        }
    }

    #[test]
    fn the_cosine_starts_at_the_peak_is_half_way_down_in_the_middle_and_rests_at_the_end() {
        let config = TrainerConfig {
            learning_rate: 1.0,
            warmup_steps: 0,
            schedule_steps: 100,
            final_fraction: 0.1,
            ..TrainerConfig::default()
        };
        for (step, expected) in [(0, 1.0), (50, 0.55), (100, 0.1), (5000, 0.1)] {
            let rate = learning_rate(&config, step);
            assert!((rate - expected).abs() < 1e-12, "step {step}: {rate}");
        }
    }

    #[test]
    fn the_window_grows_by_the_power_law_and_never_faster_than_the_data() {
        let config = TrainerConfig {
            window_min_positions: 1000,
            window_max_positions: 4000,
            window_growth: 0.4,
            window_exponent: 0.75,
            ..TrainerConfig::default()
        };
        assert_eq!(window_capacity(&config, 0), 1000);
        assert_eq!(window_capacity(&config, 1000), 1000);
        // 16^0.75 = 8: 1000·(1 + 0.4·7/0.75) = 4733, above the cap.
        assert_eq!(window_capacity(&config, 16_000), 4000);
        // 81^(1/4)… by hand at N = 2c: 2^0.75 = 1.68179: 1000·(1 + 0.4·0.68179/0.75) = 1363.6.
        assert_eq!(window_capacity(&config, 2000), 1363);
        for seen in 0..9000 {
            assert!(window_capacity(&config, seen + 1) - window_capacity(&config, seen) <= 1);
        }
    }
}
