//! burn's own backends, as devices that a config may name.

use burn::tensor::Device;

/// Which of burn's own backends computes the whole network, in place of our passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BurnBackend {
    /// `burn:cpu`: the processor, by `flex`; in every build.
    Flex,
    /// `burn:wgpu`: a GPU by Vulkan, Metal or DirectX, in builds with the feature `burn-wgpu`.
    Wgpu,
    /// `burn:cuda:N`: the CUDA device of that number, in builds with the feature `burn-cuda`.
    Cuda(u16),
}

impl BurnBackend {
    /// The name in configs and messages.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Flex => "burn:cpu".to_owned(),
            Self::Wgpu => "burn:wgpu".to_owned(),
            Self::Cuda(index) => format!("burn:cuda:{index}"),
        }
    }

    /// The backend of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.strip_prefix("burn:")? {
            "cpu" => Some(Self::Flex),
            "wgpu" => Some(Self::Wgpu),
            "cuda" => Some(Self::Cuda(0)),
            other => other.strip_prefix("cuda:")?.parse().ok().map(Self::Cuda),
        }
    }

    /// burn's device, proven by a sum; or why there is none.
    pub(crate) fn device(self) -> Result<Device, String> {
        match self {
            Self::Flex => Ok(Device::flex()),
            #[cfg(feature = "burn-wgpu")]
            Self::Wgpu => proven(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
            #[cfg(feature = "burn-cuda")]
            Self::Cuda(index) => proven(Device::cuda(usize::from(index))),
            #[cfg(not(feature = "burn-wgpu"))]
            Self::Wgpu => Err(not_built("burn-wgpu")),
            #[cfg(not(feature = "burn-cuda"))]
            Self::Cuda(_) => Err(not_built("burn-cuda")),
        }
    }
}

/// The device, if it can add.
#[cfg(any(feature = "burn-wgpu", feature = "burn-cuda"))]
fn proven(device: Device) -> Result<Device, String> {
    use burn::tensor::Tensor;
    let sum = || Tensor::<1>::ones([2], &device).sum().into_scalar::<f32>();
    // burn panics where the machine has no such device or no driver for it.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(sum)) {
        Ok(2.0) => Ok(device),
        Ok(other) => Err(format!("it says that 1 + 1 is {other}")),
        Err(_) => Err("burn finds no such device here, or no driver for it (see above)".into()),
    }
}

#[cfg(not(all(feature = "burn-wgpu", feature = "burn-cuda")))]
fn not_built(feature: &str) -> String {
    format!("this build lacks it: build with `--features {feature}`, or use the device `cpu`")
}
