//! Which LibTorch this process runs on.

use std::fs;
use std::path::{Path, PathBuf};

/// The file that LibTorch was loaded from, where the system tells it.
pub(crate) fn loaded() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().find_map(|line| {
        let path = line.split_whitespace().last()?;
        path.rsplit('/').next()?.starts_with("libtorch_cpu.so").then_some(path)
    })?;
    Some(PathBuf::from(path))
}

/// LibTorch's version, as its folder says, and those of CUDA and cuDNN where a GPU is seen.
pub(crate) fn versions(library: Option<&Path>) -> String {
    let folder = library.and_then(|path| path.parent()?.parent());
    let of_folder = folder.and_then(|folder| {
        fs::read_to_string(folder.join("build-version")).ok().or_else(|| {
            // PyTorch as Python has it.
            let text = fs::read_to_string(folder.join("version.py")).ok()?;
            let line = text.lines().find(|line| line.starts_with("__version__"))?;
            Some(line.split('\'').nth(1)?.to_owned())
        })
    });
    let mut text = format!(
        "LibTorch {}",
        of_folder.as_deref().map_or("of unknown version (made for 2.9.0)", str::trim)
    );
    if tch::utils::has_mkldnn() {
        text.push_str(", oneDNN");
    }
    if tch::Cuda::is_available() {
        let (cuda, cudnn) = (tch::utils::version_cudart(), tch::utils::version_cudnn());
        text.push_str(&format!(", CUDA {}.{}", cuda / 1000, cuda % 1000 / 10));
        text.push_str(&format!(
            ", cuDNN {}.{}.{}",
            cudnn / 10_000,
            cudnn % 10_000 / 100,
            cudnn % 100
        ));
        text.push_str(&format!(", {} CUDA device(s)", tch::Cuda::device_count()));
    } else if tch::utils::has_cuda() {
        text.push_str(", built for CUDA, no CUDA device seen");
    } else {
        text.push_str(", no CUDA in it");
    }
    text
}
