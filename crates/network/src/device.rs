//! The one file that chooses burn devices.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::NetworkError;

/// Where a network is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor, through burn's `flex` backend: pure Rust, present in every build.
    #[default]
    Cpu,
}

impl DeviceKind {
    /// Every kind that this build can run on.
    pub const ALL: [Self; 1] = [Self::Cpu];

    /// The name in configs and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
        }
    }

    /// The device for answering: no gradients, running statistics.
    #[must_use]
    pub fn device(self) -> Device {
        match self {
            Self::Cpu => Device::flex(),
        }
    }

    /// The device for training: gradients, batch statistics.
    #[must_use]
    pub fn training_device(self) -> Device {
        self.device().autodiff()
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DeviceKind {
    type Err = NetworkError;

    fn from_str(name: &str) -> Result<Self, NetworkError> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| NetworkError::Device {
            device: name.to_owned(),
            why: format!("this build knows only: {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_a_device_of_another_build_is_refused_by_name() {
        for kind in DeviceKind::ALL {
            assert_eq!(kind.name().parse::<DeviceKind>().unwrap(), kind);
        }
        let message = "libtorch".parse::<DeviceKind>().unwrap_err().to_string();
        assert!(message.contains("libtorch") && message.contains("cpu"), "{message}");
    }

    #[test]
    fn only_the_training_device_keeps_gradients() {
        assert!(!DeviceKind::Cpu.device().is_autodiff());
        assert!(DeviceKind::Cpu.training_device().is_autodiff());
    }
}
