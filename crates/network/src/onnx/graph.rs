//! The layers of a network as ONNX operations.

use std::collections::BTreeSet;

use super::wire::{Attribute, Message, floats, ints, node};
use crate::{HostTensor, NORM_EPSILON, NetworkError, Weights};

/// A graph on its way.
pub(super) struct Graph<'a> {
    weights: &'a Weights,
    nodes: Vec<Message>,
    constants: Vec<Message>,
    /// Names of the constants that are there.
    known: BTreeSet<String>,
    results: usize,
}

impl<'a> Graph<'a> {
    pub(super) fn new(weights: &'a Weights) -> Self {
        let (nodes, constants) = (Vec::new(), Vec::new());
        Self { weights, nodes, constants, known: BTreeSet::new(), results: 0 }
    }

    /// The graph's message (`GraphProto`).
    pub(super) fn finish(self, inputs: &[Message], outputs: &[Message]) -> Message {
        let graph =
            self.nodes.iter().fold(Message::default(), |graph, node| graph.message(1, node));
        let graph = graph.text(2, "tengen");
        let graph = self.constants.iter().fold(graph, |graph, tensor| graph.message(5, tensor));
        let graph = inputs.iter().fold(graph, |graph, input| graph.message(11, input));
        outputs.iter().fold(graph, |graph, output| graph.message(12, output))
    }

    /// The result of an operation, by a name of its own.
    pub(super) fn apply(
        &mut self,
        kind: &str,
        inputs: &[&str],
        attributes: &[Attribute<'_>],
    ) -> String {
        self.results += 1;
        let name = format!("{}.{}", kind.to_lowercase(), self.results);
        self.apply_to(&name, kind, inputs, attributes);
        name
    }

    /// An operation whose result is called `output`.
    pub(super) fn apply_to(
        &mut self,
        output: &str,
        kind: &str,
        inputs: &[&str],
        attributes: &[Attribute<'_>],
    ) {
        self.nodes.push(node(kind, inputs, &[output], attributes));
    }

    pub(super) fn relu(&mut self, x: &str) -> String {
        self.apply("Relu", &[x], &[])
    }

    /// `[N, C, H, W]` normalised after its convolution.
    pub(super) fn conv_norm(
        &mut self,
        x: &str,
        conv: &str,
        norm: &str,
    ) -> Result<String, NetworkError> {
        let weight = self.tensor(&format!("{conv}.weight"))?;
        let side = self.weights.get(&weight)?.shape.get(2).map_or(1, |&side| side as i64);
        let pads = [side / 2; 4];
        let z = self.apply("Conv", &[x, &weight], &[Attribute::Ints("pads", &pads)]);
        let mut inputs = vec![z];
        for part in ["gamma", "beta", "mean", "var"] {
            inputs.push(self.tensor(&format!("{norm}.{part}"))?);
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let epsilon = [Attribute::Float("epsilon", NORM_EPSILON)];
        Ok(self.apply("BatchNormalization", &inputs, &epsilon))
    }

    /// `[N, C, H, W]` to `[N, H·W]` by a 1×1 convolution with a bias.
    pub(super) fn point(&mut self, x: &str, name: &str) -> Result<String, NetworkError> {
        let [weight, bias] = self.weight_and_bias(name)?;
        let plane = self.apply("Conv", &[x, &weight, &bias], &[]);
        Ok(self.apply("Flatten", &[&plane], &[Attribute::Int("axis", 1)]))
    }

    /// `[N, in]` to `[N, out]`.
    pub(super) fn dense(&mut self, x: &str, name: &str) -> Result<String, NetworkError> {
        let [weight, bias] = self.weight_and_bias(name)?;
        Ok(self.apply("Gemm", &[x, &weight, &bias], &[Attribute::Int("transB", 1)]))
    }

    /// Means and maxima over the board, with the means by size between them if `sized`.
    pub(super) fn pool(&mut self, x: &str, sized: bool) -> String {
        let flat = [Attribute::Int("axis", 1)];
        let mean = self.apply("GlobalAveragePool", &[x], &[]);
        let mean = self.apply("Flatten", &[&mean], &flat);
        let max = self.apply("GlobalMaxPool", &[x], &[]);
        let max = self.apply("Flatten", &[&max], &flat);
        if !sized {
            return self.apply("Concat", &[&mean, &max], &flat);
        }
        let factor = self.size_factor();
        let sized = self.apply("Mul", &[&mean, &factor], &[]);
        self.apply("Concat", &[&mean, &sized, &max], &flat)
    }

    /// `(√(H·W) − 14) / 10` of the input, computed once.
    fn size_factor(&mut self) -> String {
        const NAME: &str = "size_factor";
        if self.known.insert(NAME.to_owned()) {
            let shape = self.apply("Shape", &["planes"], &[Attribute::Int("start", 2)]);
            let shape = self.apply("Cast", &[&shape], &[Attribute::Int("to", 1)]);
            let area = self.apply("ReduceProd", &[&shape], &[Attribute::Int("keepdims", 1)]);
            let side = self.apply("Sqrt", &[&area], &[]);
            let (middle, tenth) = (self.number(14.0), self.number(0.1));
            let distance = self.apply("Sub", &[&side, &middle], &[]);
            self.apply_to(NAME, "Mul", &[&distance, &tenth], &[]);
        }
        NAME.to_owned()
    }

    /// Channels of `x` in two parts.
    pub(super) fn split(&mut self, x: &str, parts: [usize; 2]) -> [String; 2] {
        self.results += 1;
        let names = ["first", "second"].map(|part| format!("split.{}.{part}", self.results));
        let lengths = self.integers(&parts.map(|n| n as i64));
        let outputs = [names[0].as_str(), names[1].as_str()];
        self.nodes.push(node("Split", &[x, &lengths], &outputs, &[Attribute::Int("axis", 1)]));
        names
    }

    /// A constant row of integers.
    pub(super) fn integers(&mut self, all: &[i64]) -> String {
        let name = format!("integers.{all:?}");
        if self.known.insert(name.clone()) {
            self.constants.push(ints(&name, all));
        }
        name
    }

    /// A constant number.
    pub(super) fn number(&mut self, x: f32) -> String {
        let name = format!("number.{x}");
        if self.known.insert(name.clone()) {
            self.constants.push(floats(&name, &[1], &[x]));
        }
        name
    }

    fn weight_and_bias(&mut self, name: &str) -> Result<[String; 2], NetworkError> {
        Ok([self.tensor(&format!("{name}.weight"))?, self.tensor(&format!("{name}.bias"))?])
    }

    /// A tensor of the weights as a constant.
    fn tensor(&mut self, name: &str) -> Result<String, NetworkError> {
        let HostTensor { shape, data } = self.weights.get(name)?;
        if self.known.insert(name.to_owned()) {
            self.constants.push(floats(name, shape, data));
        }
        Ok(name.to_owned())
    }
}
