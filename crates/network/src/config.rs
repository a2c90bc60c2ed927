//! The shape of a network: how deep, how wide, which planes it reads.

use serde::{Deserialize, Serialize};
use tengen_features::FeatureSet;

use crate::NetworkError;

/// The epsilon of every batch normalisation.
pub const NORM_EPSILON: f32 = 1e-5;

/// The `[network]` section: a residual tower with a policy and a value head (Silver et al. 2017,
/// "Mastering the game of Go without human knowledge", Methods).
///
/// The heads pool over the board instead of flattening it, so that the same weights play every
/// board size; that is a departure from the paper, whose heads fit 19×19 only. What else departs from
/// it is off by default, has no tensors then and costs nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkConfig {
    /// Residual blocks of two 3×3 convolutions each. Default 4; the paper: 19 or 39.
    pub blocks: usize,
    /// Channels of the tower. Default 32; the paper: 256.
    pub channels: usize,
    /// Channels between the policy head's two 1×1 convolutions. Default 16; the paper: 2.
    pub policy_channels: usize,
    /// Channels of the value head's 1×1 convolution. Default 16; the paper: 1.
    pub value_channels: usize,
    /// Units of the value head's hidden layer. Default 64; the paper: 256.
    pub value_hidden: usize,
    /// The planes that the network reads, by name. Default `agz-1`: the paper's 17 planes.
    pub feature_set: String,
    /// Blocks with global pooling, by index from 0: there the first `pooling_channels` channels between
    /// the two convolutions are pooled over the board, and a dense layer adds to each other channel what
    /// they say (Wu 2019, "Accelerating self-play learning in Go", 3.3). Default none, as in the paper;
    /// KataGo: two or three, spread over the tower.
    pub pooling_blocks: Vec<usize>,
    /// Channels that such a block pools; 0 is a third of `channels`, KataGo's share. Default 0.
    pub pooling_channels: usize,
    /// Adds to each of the stem's channels what a dense layer makes of the inputs without a place on
    /// the board (komi, rules), as KataGo does; `go-1` has them as planes too. Default false.
    pub global_inputs: bool,
    /// Adds to the policy head's channels, before its last convolution, what their own pooling says,
    /// as KataGo's policy head does. Default false, as in the paper.
    pub policy_pooling: bool,
    /// A head for the owner of each point when the game is counted. Default false, as in the paper.
    pub ownership: bool,
    /// A head for the score's mean and standard deviation, in points. Default false, as in the paper.
    pub score: bool,
    /// A head for the opponent's answer, which only training reads. Default false, as in the paper.
    pub opponent_policy: bool,
    /// A head for the policy to the power of a quarter, which only training reads. Default false, as in
    /// the paper.
    pub soft_policy: bool,
    /// A head for what the search will think soon, over three horizons, which only training reads.
    /// Default false, as in the paper.
    pub short_term_values: bool,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            blocks: 4,
            channels: 32,
            policy_channels: 16,
            value_channels: 16,
            value_hidden: 64,
            feature_set: FeatureSet::Agz.name().to_owned(),
            pooling_blocks: Vec::new(),
            pooling_channels: 0,
            global_inputs: false,
            policy_pooling: false,
            ownership: false,
            score: false,
            opponent_policy: false,
            soft_policy: false,
            short_term_values: false,
        }
    }
}

impl NetworkConfig {
    /// Everything that is wrong with this section, each with its key; empty when nothing is.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut within = |key: &str, value: usize, low: usize, high: usize| {
            if !(low..=high).contains(&value) {
                problems.push(format!("network.{key} is {value}, outside {low} to {high}"));
            }
        };
        within("blocks", self.blocks, 0, 256);
        within("channels", self.channels, 1, 4096);
        within("policy_channels", self.policy_channels, 1, 4096);
        within("value_channels", self.value_channels, 1, 4096);
        within("value_hidden", self.value_hidden, 1, 65_536);
        if !self.pooling_blocks.is_empty() {
            within("channels", self.channels, 2, 4096);
            within("pooling_channels", self.pooled_channels(), 1, self.channels.max(2) - 1);
        }
        let missing = |&&block: &&usize| block >= self.blocks;
        if let Some(block) = self.pooling_blocks.iter().find(missing) {
            problems.push(format!(
                "network.pooling_blocks names block {block}, but network.blocks is {}",
                self.blocks
            ));
        }
        match self.features() {
            Err(error) => problems.push(format!("network.feature_set: {error}")),
            Ok(set) if self.global_inputs && set.globals() == 0 => problems.push(format!(
                "network.global_inputs is true, but network.feature_set {} has none",
                set.name()
            )),
            Ok(_) => {}
        }
        problems
    }

    /// [`validate`](Self::validate) for those who need a sound config to go on.
    ///
    /// # Errors
    /// [`NetworkError::Config`] with every problem.
    pub(crate) fn require_sound(&self) -> Result<(), NetworkError> {
        let problems = self.validate();
        if problems.is_empty() { Ok(()) } else { Err(NetworkError::Config(problems)) }
    }

    /// The feature set that the network reads.
    ///
    /// # Errors
    /// [`NetworkError::UnknownFeatureSet`] with the name.
    pub fn features(&self) -> Result<FeatureSet, NetworkError> {
        FeatureSet::from_name(&self.feature_set)
            .ok_or_else(|| NetworkError::UnknownFeatureSet(self.feature_set.clone()))
    }

    /// Channels that a pooling block pools.
    #[must_use]
    pub fn pooled_channels(&self) -> usize {
        if self.pooling_channels == 0 { (self.channels / 3).max(1) } else { self.pooling_channels }
    }

    /// Inputs without a place on the board that the network reads.
    ///
    /// # Errors
    /// [`NetworkError::UnknownFeatureSet`].
    pub fn globals(&self) -> Result<usize, NetworkError> {
        Ok(if self.global_inputs { self.features()?.globals() } else { 0 })
    }

    /// Whether block `index` pools.
    #[must_use]
    pub fn pools(&self, index: usize) -> bool {
        self.pooling_blocks.contains(&index)
    }

    /// Name and shape of every tensor, in forward order: the contract of [`Weights`](crate::Weights), the file
    /// format, the native evaluator and the trainer.
    ///
    /// Layouts are PyTorch's: convolutions `[C_out, C_in, kH, kW]`, dense layers `[out, in]`.
    /// A normalisation is `gamma`, `beta` (trained), `mean`, `var` (running), each `[C]`.
    ///
    /// # Errors
    /// [`NetworkError::UnknownFeatureSet`].
    pub fn tensors(&self) -> Result<Vec<(String, Vec<usize>)>, NetworkError> {
        let (c, p, v, h) =
            (self.channels, self.policy_channels, self.value_channels, self.value_hidden);
        let mut list = TensorList::default();
        list.conv("stem.conv", [c, self.features()?.planes(), 3, 3]);
        list.norm("stem.bn", c);
        if self.global_inputs {
            list.dense("stem.globals", [c, self.globals()?]);
        }
        for block in 0..self.blocks {
            for half in 1..=2 {
                list.conv(&format!("blocks.{block}.conv{half}"), [c, c, 3, 3]);
                list.norm(&format!("blocks.{block}.bn{half}"), c);
                if half == 1 && self.pools(block) {
                    let pooled = self.pooled_channels();
                    list.dense(&format!("blocks.{block}.pool"), [c - pooled, 3 * pooled]);
                }
            }
        }
        list.conv("policy.conv", [p, c, 1, 1]);
        list.norm("policy.bn", p);
        if self.policy_pooling {
            list.dense("policy.pool", [p, 3 * p]);
        }
        list.actions("policy.out", "policy.pass", p);
        if self.opponent_policy {
            list.actions("policy.opponent", "policy.opponent_pass", p);
        }
        if self.soft_policy {
            list.actions("policy.soft", "policy.soft_pass", p);
        }
        list.conv("value.conv", [v, c, 1, 1]);
        list.norm("value.bn", v);
        list.dense("value.hidden", [h, 2 * v]);
        list.dense("value.out", [1, h]);
        if self.ownership {
            list.point("value.ownership", v);
        }
        if self.score {
            list.dense("value.score", [2, h]);
        }
        if self.short_term_values {
            list.dense("value.short_term", [3, h]);
        }
        Ok(list.0)
    }

    /// Whether the tensor `name` is trained; the running statistics are only observed.
    #[must_use]
    pub fn is_trained(name: &str) -> bool {
        !(name.ends_with(".mean") || name.ends_with(".var"))
    }
}

#[derive(Default)]
struct TensorList(Vec<(String, Vec<usize>)>);

impl TensorList {
    fn push(&mut self, name: &str, shape: &[usize]) {
        self.0.push((name.to_owned(), shape.to_vec()));
    }
    fn conv(&mut self, name: &str, shape: [usize; 4]) {
        self.push(&format!("{name}.weight"), &shape);
    }
    /// A 1×1 convolution to one plane, with its bias.
    fn point(&mut self, name: &str, inputs: usize) {
        self.conv(name, [1, inputs, 1, 1]);
        self.push(&format!("{name}.bias"), &[1]);
    }
    /// A number for each point and one for the pass.
    fn actions(&mut self, points: &str, pass: &str, inputs: usize) {
        self.point(points, inputs);
        self.dense(pass, [1, 2 * inputs]);
    }
    fn norm(&mut self, name: &str, channels: usize) {
        for part in ["gamma", "beta", "mean", "var"] {
            self.push(&format!("{name}.{part}"), &[channels]);
        }
    }
    fn dense(&mut self, name: &str, shape: [usize; 2]) {
        self.push(&format!("{name}.weight"), &shape);
        self.push(&format!("{name}.bias"), &shape[..1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sound_and_every_problem_is_listed_with_its_key() {
        assert!(NetworkConfig::default().validate().is_empty());
        let broken = NetworkConfig {
            channels: 0,
            value_hidden: 0,
            feature_set: "planes-of-mars".into(),
            ..NetworkConfig::default()
        };
        let problems = broken.validate();
        assert_eq!(problems.len(), 3, "{problems:?}");
        for key in ["network.channels", "network.value_hidden", "planes-of-mars"] {
            assert!(problems.iter().any(|p| p.contains(key)), "{problems:?}");
        }
    }

    #[test]
    fn a_pooling_block_must_exist_and_leave_channels_to_tell() {
        let of = |pooling_blocks: &[usize], channels, pooling_channels| NetworkConfig {
            blocks: 2,
            channels,
            pooling_blocks: pooling_blocks.to_vec(),
            pooling_channels,
            ..NetworkConfig::default()
        };
        assert!(of(&[0, 1], 8, 7).validate().is_empty());
        assert_eq!(of(&[1], 9, 0).pooled_channels(), 3);
        for broken in [of(&[2], 8, 4), of(&[0], 8, 8), of(&[0], 1, 0)] {
            assert_eq!(broken.validate().len(), 1, "{:?}", broken.validate());
        }
    }

    #[test]
    fn options_add_tensors_and_none_when_off() {
        let plain = NetworkConfig { blocks: 2, ..NetworkConfig::default() };
        let all = crate::fixture::everything(plain.clone());
        let (plain, all) = (plain.tensors().unwrap(), all.tensors().unwrap());
        assert!(plain.iter().all(|tensor| all.contains(tensor)));
        let added: Vec<_> = all.iter().filter(|t| !plain.contains(t)).map(|t| &t.0[..]).collect();
        assert_eq!(added.len(), 2 * (1 + 1 + 2 + 2 + 1 + 2), "{added:?}");
        for name in ["blocks.1.pool.weight", "policy.pool.bias", "value.ownership.weight"] {
            assert!(added.contains(&name), "{added:?}");
        }
    }

    #[test]
    fn one_block_has_its_tensors_in_forward_order() {
        let config = NetworkConfig { blocks: 1, ..NetworkConfig::default() };
        let tensors = config.tensors().unwrap();
        assert_eq!(tensors.len(), 5 + 10 + 5 + 2 + 2 + 5 + 4);
        assert_eq!(tensors[0], ("stem.conv.weight".into(), vec![32, 17, 3, 3]));
        assert_eq!(tensors[10].0, "blocks.0.conv2.weight");
        assert_eq!(tensors.last().unwrap().0, "value.out.bias");
    }
}
