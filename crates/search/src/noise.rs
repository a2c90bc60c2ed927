//! Dirichlet noise: what lets self-play find moves the network would never try.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use crate::{SearchConfig, Tree};

impl Tree {
    /// Mixes Dirichlet noise into the priors of the root's legal moves, once a search: calling
    /// again before [`advance`](Tree::advance) does nothing and draws nothing. A root that comes
    /// from a reused subtree starts from the evaluator's priors and needs its own noise.
    ///
    /// The Gumbel root draws its Gumbel variables instead: they order the moves, and leave the
    /// priors as they are.
    ///
    /// # Panics
    /// When the root is not expanded: there is nothing to put noise on.
    pub fn add_root_noise(&mut self, rng: &mut impl Rng) {
        assert!(self.is_root_expanded(), "noise needs the priors of an evaluated root");
        if self.noised {
            return;
        }
        self.noised = true;
        if self.config.gumbel {
            self.draw_gumbels(rng);
            return;
        }
        let fraction = self.config.dirichlet_fraction;
        if fraction <= 0.0 {
            return;
        }
        let raw: Vec<f32> = self.root_moves.iter().map(|mv| mv.prior).collect();
        let alphas = concentrations(&raw, &self.config);
        if let Some(noise) = dirichlet(&alphas, rng) {
            for (mv, share) in self.root_moves.iter_mut().zip(noise) {
                mv.prior = (1.0 - fraction) * mv.prior + fraction * share;
            }
            self.write_root_priors();
        }
    }
}

/// Shares of priors above this are all alike to the shaping of the noise.
const SHAPED_BELOW: f64 = 0.01;

/// The concentration of each move. They sum to `dirichlet_total_alpha`, of which a share of
/// `dirichlet_shaped` goes to moves whose prior is above the geometric mean (KataGo's
/// `computeDirichletAlphaDistribution`), and the rest to all moves alike.
fn concentrations(priors: &[f32], config: &SearchConfig) -> Vec<f64> {
    let total = f64::from(config.dirichlet_total_alpha);
    let even = 1.0 / priors.len() as f64;
    let shaped = f64::from(config.dirichlet_shaped);
    if shaped == 0.0 {
        return vec![total / priors.len() as f64; priors.len()];
    }
    let logs: Vec<f64> =
        priors.iter().map(|&p| (f64::from(p).min(SHAPED_BELOW) + 1e-20).ln()).collect();
    let mean = logs.iter().sum::<f64>() * even;
    let excess: Vec<f64> = logs.iter().map(|log| (log - mean).max(0.0)).collect();
    let sum: f64 = excess.iter().sum();
    // Equal priors have nothing to shape by.
    let share = |e: &f64| if sum > 0.0 { e / sum } else { even };
    excess.iter().map(|e| total * (shaped * share(e) + (1.0 - shaped) * even)).collect()
}

/// A draw from the Dirichlet distribution of these concentrations; `None` in the freak case that
/// every Gamma draw underflows. A move of concentration 0 gets nothing.
fn dirichlet(alphas: &[f64], rng: &mut impl Rng) -> Option<Vec<f32>> {
    // In f64: with 362 moves the concentration is 0.03, whose small draws an f32 cannot hold.
    let mut draw = |alpha: f64| Gamma::new(alpha, 1.0).map_or(0.0, |gamma| gamma.sample(rng));
    let draws: Vec<f64> = alphas.iter().map(|&alpha| draw(alpha)).collect();
    let sum: f64 = draws.iter().sum();
    (sum > 0.0).then(|| draws.iter().map(|d| (d / sum) as f32).collect())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn draws_are_distributions_whose_spread_follows_the_concentration() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        for k in [1, 2, 37, 82, 362, 626] {
            let rounds = 200;
            let mut squares = 0.0;
            for _ in 0..rounds {
                let draw = dirichlet(&vec![10.83 / k as f64; k], &mut rng).unwrap();
                assert_eq!(draw.len(), k);
                assert!(draw.iter().all(|&p| (0.0..=1.0).contains(&p)));
                assert!((draw.iter().sum::<f32>() - 1.0).abs() < 1e-4);
                squares += draw.iter().map(|p| p * p).sum::<f32>() / rounds as f32;
            }
            // E[sum p^2] = (alpha + 1) / (k alpha + 1) with k alpha = 10.83.
            let expected = (10.83 / k as f32 + 1.0) / 11.83;
            assert!((squares - expected).abs() < 0.1 * expected, "{k}: {squares} {expected}");
        }
    }

    #[test]
    fn a_share_of_the_noise_may_follow_the_priors() {
        let config = SearchConfig { dirichlet_shaped: 0.5, ..SearchConfig::default() };
        // Logs of the priors, cut at 0.01: -4.605, -4.605, -6.908, -9.210; mean -6.332, so the
        // excess is 1.727 twice and nothing below: half of the half for each of the two.
        let alphas = concentrations(&[0.9, 0.0989, 0.001, 0.0001], &config);
        let expected = [0.375, 0.375, 0.125, 0.125].map(|share| share * 10.83);
        for (found, wanted) in alphas.iter().zip(expected) {
            assert!((found - wanted).abs() < 1e-5, "{alphas:?}");
        }
        for priors in [vec![0.25; 4], vec![1.0], vec![0.0, 1.0]] {
            let alphas = concentrations(&priors, &config);
            assert!((alphas.iter().sum::<f64>() - 10.83).abs() < 1e-5, "{priors:?}");
        }
        let even = concentrations(&[0.9, 0.1], &SearchConfig::default());
        assert_eq!(even, [f64::from(10.83f32) / 2.0; 2]);
    }

    #[test]
    fn the_concentration_a_move_is_the_papers_scaled_by_the_board() {
        // The paper's 0.03 on 19x19, scaled by points: 0.133704 on 9x9, 0.064083 on 13x13.
        let total = f64::from(SearchConfig::default().dirichlet_total_alpha);
        for (side, published) in [(9, 0.133_704), (13, 0.064_083), (19, 0.03)] {
            let found = total / f64::from(side * side);
            assert!((found - published).abs() < 1e-5, "{side}: {found}");
        }
    }
}
