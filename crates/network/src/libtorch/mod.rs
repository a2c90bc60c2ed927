//! The network on LibTorch: CPUs and CUDA devices, for evaluation and training.
//!
//! For evaluation ([`LibtorchEvaluator`]) the normalisations are folded as for the native pass, tensors
//! are channels-last from the planes to the heads, and nothing keeps a graph. For training
//! ([`LibtorchBody`]) LibTorch takes the gradients of everything up to the heads' features
//! (`docs/adr/0006`). Only the CPU path has run where this was written: the CUDA path is the same
//! code with another device, plus what [`net`] says about cuDNN.

mod evaluator;
mod facts;
mod net;
#[cfg(test)]
mod tests;
mod training;

use tch::{Cuda, TchError};

use crate::{DeviceKind, NetworkError, Precision};

pub use evaluator::LibtorchEvaluator;
pub(crate) use facts::{loaded, versions};
pub(crate) use training::LibtorchBody;

/// Where and in what numbers a network is computed.
#[derive(Clone, Copy, Debug)]
struct Place {
    kind: DeviceKind,
    device: tch::Device,
    /// Of the tower.
    numbers: tch::Kind,
}

impl Place {
    fn new(kind: DeviceKind, precision: Precision) -> Self {
        let device = match kind {
            DeviceKind::Cuda(index) => tch::Device::Cuda(usize::from(index)),
            _ => tch::Device::Cpu,
        };
        let numbers = match precision {
            Precision::F32 => tch::Kind::Float,
            Precision::Bf16 => tch::Kind::BFloat16,
            Precision::Fp16 => tch::Kind::Half,
        };
        Self { kind, device, numbers }
    }

    fn error(&self, error: &TchError) -> NetworkError {
        NetworkError::Device { device: self.kind.name(), why: first_line(error) }
    }
}

/// What LibTorch says is followed by pages of C++ frames.
fn first_line(error: &TchError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or("no reason given").trim_end().to_owned()
}

/// Why the CUDA device `index` cannot be used; `None` if it can.
pub(crate) fn missing_cuda(index: u16) -> Option<String> {
    let count = if Cuda::is_available() { Cuda::device_count() } else { 0 };
    if i64::from(index) < count {
        return None;
    }
    Some(match (tch::utils::has_cuda(), count) {
        (false, _) => {
            "this LibTorch has no CUDA: run `scripts/libtorch.sh cuda`, set the two lines \
                       it prints, and build again"
                .to_owned()
        }
        (true, 0) => {
            "LibTorch sees no CUDA device: `nvidia-smi` must list one (driver 570 or newer for \
                      CUDA 12.8), and CUDA_VISIBLE_DEVICES must not hide it"
                .to_owned()
        }
        (true, n) => format!("LibTorch sees {n} CUDA device(s): the last is cuda:{}", n - 1),
    })
}

/// Lets LibTorch compute on `threads` threads where the calling thread asks it to. Workers evaluate
/// with one thread each, as there are as many of them as cores; a training step has all cores.
pub(crate) fn use_threads(threads: usize) {
    let threads = i32::try_from(threads).unwrap_or(1).max(1);
    // Setting it also empties LibTorch's store of prepared convolutions.
    if tch::get_num_threads() != threads {
        tch::set_num_threads(threads);
    }
}
