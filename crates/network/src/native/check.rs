//! Each kernel of this machine proven by what it computes, and what the others lack.

use std::num::NonZeroUsize;

use serde::Serialize;
use tengen_inference::{Evaluation, Leaf, LeafEvaluator};

use super::NativeEvaluator;
use super::simd::Kernel;
use crate::check_positions::positions;
use crate::{NetworkConfig, NetworkError};

/// Largest difference of a prior or a value that kernels may have.
const TOLERANCE: f32 = 1e-4;

/// What is known of one kernel on this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelCheck {
    /// `avx512`, `avx2`, `neon` or `portable`.
    pub kernel: &'static str,
    /// Whether it is the one that [`NativeEvaluator::new`] takes.
    pub chosen: bool,
    /// The largest difference of any prior or value from the portable kernel's, on a few positions
    /// for each tile size; nothing where the kernel cannot run.
    pub worst_difference: Option<f32>,
    /// Whether it runs here and agrees.
    pub usable: bool,
    /// What to do about one that is not usable.
    pub remedy: Option<&'static str>,
}

/// Runs every kernel that this build knows.
///
/// # Errors
/// When the small network of the check is refused, which a sound build does not do.
pub fn check_kernels() -> Result<Vec<KernelCheck>, NetworkError> {
    let wanted = answers(Kernel::Portable)?;
    let available = Kernel::available();
    let mut checks = Vec::new();
    for &kernel in &available {
        let worst = worst_difference(&answers(kernel)?, &wanted);
        let usable = worst <= TOLERANCE;
        checks.push(KernelCheck {
            kernel: kernel.name(),
            chosen: kernel == available[0],
            worst_difference: Some(worst),
            usable,
            remedy: (!usable)
                .then_some("it computes wrongly here: report it with this machine's /proc/cpuinfo"),
        });
    }
    for &(kernel, remedy) in MISSING {
        if checks.iter().all(|check| check.kernel != kernel) {
            checks.push(KernelCheck {
                kernel,
                chosen: false,
                worst_difference: None,
                usable: false,
                remedy: Some(remedy),
            });
        }
    }
    Ok(checks)
}

/// The kernels that a machine of this architecture may lack, and what that means.
#[cfg(target_arch = "x86_64")]
const MISSING: &[(&str, &str)] = &[
    ("avx512", "this processor, or the virtual machine around it, has no AVX-512F"),
    ("avx2", "no AVX2 with FMA: in a virtual machine, pass the host's processor through"),
];
/// As on x86-64.
#[cfg(target_arch = "aarch64")]
const MISSING: &[(&str, &str)] = &[("neon", "this processor has no NEON")];
/// No other architecture has kernels of its own.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MISSING: &[(&str, &str)] = &[];

/// What a small network says of a few positions for each tile size.
fn answers(kernel: Kernel) -> Result<Vec<Evaluation>, NetworkError> {
    let config = NetworkConfig { blocks: 2, channels: 24, ..NetworkConfig::default() };
    let weights = config.init_weights(1)?;
    let mut evaluator = NativeEvaluator::with_kernel(&config, &weights, NonZeroUsize::MIN, kernel)?;
    let mut answers = Vec::new();
    for state in positions().into_iter().flatten() {
        let answer = evaluator.evaluate(&[Leaf::new(&state)]);
        answers.extend(answer.map_err(|error| NetworkError::Device {
            device: kernel.name().to_owned(),
            why: error.to_string(),
        })?);
    }
    Ok(answers)
}

fn worst_difference(ours: &[Evaluation], wanted: &[Evaluation]) -> f32 {
    let mut worst = 0.0f32;
    for (a, b) in ours.iter().zip(wanted) {
        worst = worst.max((a.value.get() - b.value.get()).abs());
        for (x, y) in a.policy.iter().zip(&b.policy) {
            worst = worst.max((x - y).abs());
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_found_is_usable_and_one_is_chosen() {
        let checks = check_kernels().unwrap();
        assert_eq!(checks.iter().filter(|check| check.chosen).count(), 1);
        for check in &checks {
            assert_eq!(check.usable, check.worst_difference.is_some(), "{check:?}");
            assert_eq!(check.usable, check.remedy.is_none(), "{check:?}");
        }
        assert!(checks.iter().any(|check| check.kernel == "portable" && check.usable));
    }
}
