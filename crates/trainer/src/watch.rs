//! How far each block of a network moves: gradients and updates against its weights.

use std::collections::BTreeMap;

use tengen_network::Weights;

use crate::is_statistic;

/// One block's norms at one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockNorms {
    /// Norm of the loss's gradient before clipping.
    pub gradient: f64,
    /// Norm of the weights before the step.
    pub weights: f64,
    /// Norm of the step.
    pub update: f64,
}

impl BlockNorms {
    /// The step's norm over the weights': about 1e-3 is healthy, 0 a block that learns nothing, 1e-1
    /// one that forgets. 0 for weights that are all zero.
    #[must_use]
    pub fn update_ratio(&self) -> f64 {
        if self.weights > 0.0 { self.update / self.weights } else { 0.0 }
    }
}

/// The norms by block: `stem`, `blocks.0`, …, `policy`, `value`. Running statistics don't count.
#[must_use]
pub fn block_norms(
    before: &Weights,
    after: &Weights,
    gradient: &Weights,
) -> BTreeMap<String, BlockNorms> {
    let mut squares: BTreeMap<String, BlockNorms> = BTreeMap::new();
    for (name, old) in before.0.iter().filter(|(name, _)| !is_statistic(name)) {
        let block = squares.entry(block_of(name).to_owned()).or_default();
        let square = |x: f32| f64::from(x) * f64::from(x);
        block.weights += old.data.iter().map(|&x| square(x)).sum::<f64>();
        if let Some(new) = after.0.get(name) {
            let moved = old.data.iter().zip(&new.data).map(|(old, new)| square(new - old));
            block.update += moved.sum::<f64>();
        }
        if let Some(slopes) = gradient.0.get(name) {
            block.gradient += slopes.data.iter().map(|&x| square(x)).sum::<f64>();
        }
    }
    for norms in squares.values_mut() {
        *norms = BlockNorms {
            gradient: norms.gradient.sqrt(),
            weights: norms.weights.sqrt(),
            update: norms.update.sqrt(),
        };
    }
    squares
}

/// The same as flat facts for the metrics: `stem/gradient`, `stem/update_ratio`, ….
#[must_use]
pub fn block_facts(norms: &BTreeMap<String, BlockNorms>) -> BTreeMap<String, f64> {
    let facts = norms.iter().flat_map(|(block, norms)| {
        [
            (format!("{block}/gradient"), norms.gradient),
            (format!("{block}/update_ratio"), norms.update_ratio()),
        ]
    });
    facts.collect()
}

/// `blocks.3` of `blocks.3.conv1.weight`, else the first word.
fn block_of(name: &str) -> &str {
    let mut dots = name.match_indices('.').map(|(at, _)| at);
    let (first, second) = (dots.next(), dots.next());
    let end = if name.starts_with("blocks.") { second } else { first };
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tengen_network::HostTensor;

    #[test]
    fn norms_by_block_by_hand() {
        let weights = |entries: &[(&str, f32)]| {
            let tensor = |&(name, x): &(&str, f32)| (name.to_owned(), HostTensor::full(&[1], x));
            Weights(entries.iter().map(tensor).collect())
        };
        let names =
            ["blocks.10.bn1.gamma", "blocks.10.conv1.weight", "stem.bn.mean", "value.out.bias"];
        let at = |x: [f32; 4]| weights(&names.into_iter().zip(x).collect::<Vec<_>>());
        let norms = block_norms(
            &at([3.0, 4.0, 9.0, 0.0]),
            &at([3.0, 4.5, 1.0, 0.25]),
            &weights(&[("blocks.10.bn1.gamma", 1.0), ("value.out.bias", -2.0)]),
        );
        let expected = [
            ("blocks.10", BlockNorms { gradient: 1.0, weights: 5.0, update: 0.5 }),
            ("value", BlockNorms { gradient: 2.0, weights: 0.0, update: 0.25 }),
        ];
        assert_eq!(norms, expected.map(|(name, norms)| (name.to_owned(), norms)).into());
        let facts = block_facts(&norms);
        assert_eq!((facts["blocks.10/update_ratio"], facts["value/update_ratio"]), (0.1, 0.0));
    }
}
