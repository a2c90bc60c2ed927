//! Each device of this machine proven by what it computes, and what the others lack.

use std::num::NonZeroUsize;

use serde::Serialize;
use tengen_inference::{Evaluation, Leaf, LeafEvaluator};

use crate::check_positions::positions;
use crate::{
    BurnBackend, DeviceKind, NativeEvaluator, NetworkConfig, NetworkError, Precision, Weights,
};

/// What is known of one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceCheck {
    /// Its name in configs.
    pub device: DeviceKind,
    /// The numbers of the tower.
    pub precision: Precision,
    /// The largest difference of any prior or value from the plain kernel's; nothing where
    /// nothing was computed.
    pub worst_difference: Option<f32>,
    /// What it may be.
    pub tolerance: f32,
    /// Whether it computes and agrees.
    pub usable: bool,
    /// What to do about one that is not usable.
    pub remedy: Option<String>,
}

/// This build's LibTorch: versions and where it was loaded from; `None` for a build without.
#[must_use]
pub fn libtorch_facts() -> Option<String> {
    #[cfg(feature = "libtorch")]
    {
        let library = crate::libtorch::loaded();
        let facts = crate::libtorch::versions(library.as_deref());
        Some(match library {
            Some(path) => format!("{facts}, linked to {}", path.display()),
            None => format!("{facts}, linked statically or by a system that does not tell"),
        })
    }
    #[cfg(not(feature = "libtorch"))]
    None
}

/// How far a prior or a value may be from the plain kernel's. A GPU's `f32` may be TF32 inside.
fn tolerance(device: DeviceKind, precision: Precision) -> f32 {
    let gpu = match device {
        DeviceKind::Burn(backend) => backend != BurnBackend::Flex,
        other => other.is_cuda(),
    };
    match (precision, gpu) {
        (Precision::F32, false) => 1e-4,
        (Precision::F32, true) => 2e-3,
        (Precision::Fp16, _) => 5e-3,
        (Precision::Bf16, _) => 3e-2,
    }
}

/// Computes a small network on `device` and holds every answer to the plain kernel's.
///
/// # Errors
/// When the network of the check is refused, which a sound build does not do; a device that fails
/// is a finding, no error.
pub fn check_device(device: DeviceKind, precision: Precision) -> Result<DeviceCheck, NetworkError> {
    let config = NetworkConfig { blocks: 2, channels: 24, ..NetworkConfig::default() };
    let weights = outspoken(config.init_weights(1)?);
    let max = NonZeroUsize::new(4).expect("four is not zero");
    let plain = answers(&mut NativeEvaluator::portable(&config, &weights, max)?);
    let plain = plain.map_err(|why| NetworkError::Device { device: "cpu".into(), why })?;
    let tolerance = tolerance(device, precision);
    let computed = compute(device, precision, &config, &weights, max);
    let (worst_difference, remedy) = match &computed {
        Ok(answers) => {
            let worst = answers.iter().zip(&plain).map(|(a, b)| difference(a, b));
            let worst = worst.fold(0.0, |x: f32, y| if y.is_nan() { f32::MAX } else { x.max(y) });
            let wrong =
                "it computes wrongly here: report it with what `tengen doctor --json` prints";
            (Some(worst), (worst > tolerance).then(|| wrong.to_owned()))
        }
        Err(why) => (None, Some(why.clone())),
    };
    let usable = remedy.is_none();
    Ok(DeviceCheck { device, precision, worst_difference, tolerance, usable, remedy })
}

/// First weights answer nearly evenly; with larger output layers a wrong pass shows.
fn outspoken(mut weights: Weights) -> Weights {
    for name in ["policy.out.weight", "policy.pass.weight", "value.out.weight"] {
        if let Some(tensor) = weights.0.get_mut(name) {
            tensor.data.iter_mut().for_each(|x| *x *= 10.0);
        }
    }
    weights
}

fn compute(
    device: DeviceKind,
    precision: Precision,
    config: &NetworkConfig,
    weights: &Weights,
    max: NonZeroUsize,
) -> Result<Vec<Evaluation>, String> {
    let mut evaluator =
        device.evaluator(config, weights, precision, max).map_err(|error| error.to_string())?;
    answers(&mut *evaluator)
}

fn answers(evaluator: &mut dyn LeafEvaluator) -> Result<Vec<Evaluation>, String> {
    let mut answers = Vec::new();
    for states in positions() {
        let leaves: Vec<Leaf<'_>> = states.iter().map(Leaf::new).collect();
        answers.extend(evaluator.evaluate(&leaves).map_err(|error| error.to_string())?);
    }
    Ok(answers)
}

/// The largest difference of a prior or of the value.
fn difference(a: &Evaluation, b: &Evaluation) -> f32 {
    let priors = a.policy.iter().zip(&b.policy).map(|(x, y)| (x - y).abs());
    priors.fold((a.value.get() - b.value.get()).abs(), |worst, x| {
        // `max` would lose a NaN, which is the worst of all.
        if x.is_nan() { f32::NAN } else { worst.max(x) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_usable_in_every_build_and_a_missing_gpu_is_a_finding_with_a_remedy() {
        let cpu = check_device(DeviceKind::Cpu, Precision::F32).unwrap();
        assert!(cpu.usable && cpu.worst_difference.unwrap() <= 1e-4, "{cpu:?}");
        let gpu = check_device(DeviceKind::Cuda(250), Precision::Bf16).unwrap();
        assert!(!gpu.usable && gpu.worst_difference.is_none(), "{gpu:?}");
        assert!(gpu.remedy.unwrap().contains("cuda:250"));
    }
}
