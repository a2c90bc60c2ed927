//! Dirichlet noise: what lets self-play find moves the network would never try.

use rand::Rng;
use rand_distr::{Distribution, Gamma};

use crate::Tree;
use crate::tree::ROOT;

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
        let range = self.nodes[ROOT as usize].edge_range();
        let edges = &mut self.edges[range];
        if let Some(noise) = dirichlet(self.config.dirichlet_total_alpha, edges.len(), rng) {
            for (edge, share) in edges.iter_mut().zip(noise) {
                edge.prior = (1.0 - fraction) * edge.prior + fraction * share;
            }
        }
    }
}

/// A draw from the symmetric Dirichlet distribution of total concentration `total` over `k`
/// moves; `None` in the freak case that every Gamma draw underflows.
fn dirichlet(total: f32, k: usize, rng: &mut impl Rng) -> Option<Vec<f32>> {
    // In f64: with 362 moves the concentration is 0.03, whose small draws an f32 cannot hold.
    let gamma = Gamma::new(f64::from(total) / k as f64, 1.0).ok()?;
    let draws: Vec<f64> = (0..k).map(|_| gamma.sample(rng)).collect();
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
                let draw = dirichlet(10.83, k, &mut rng).unwrap();
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
}
