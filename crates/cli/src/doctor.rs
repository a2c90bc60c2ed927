//! `tengen doctor`: what of this machine Tengen can use, each path proven by a computed check, and
//! what to do about the rest.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde::Serialize;
use tengen_network::{DeviceKind, Peaks, Precision, check_device, check_kernels, libtorch_facts};
use tengen_store::Store;

use crate::args::DoctorArgs;
use crate::fleet;

/// Memory that a quickstart needs, with room.
const MEMORY_WANTED_MIB: u64 = 512;
/// Room for a day of games and checkpoints of a small network.
const DISK_WANTED_MIB: u64 = 1024;
/// File systems over a network, on which SQLite's write-ahead log is not safe.
const SHARES: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph"];

/// One thing looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    name: String,
    ok: bool,
    /// Whether Tengen cannot do its work while this is not ok.
    needed: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    /// What was found, and what to do about it if that is not ok.
    pub fn new(name: &str, needed: bool, ok: bool, found: String, remedy: &str) -> Self {
        let remedy = (!ok).then(|| remedy.to_owned());
        Self { name: name.to_owned(), ok, needed, found, remedy }
    }
}

/// Looks, prints, and says whether everything that is needed is there.
pub fn run(args: &DoctorArgs) -> Result<bool> {
    let mut checks = vec![processor()];
    checks.extend(kernels()?);
    checks.extend(libtorch()?);
    checks.push(memory());
    checks.push(file_system(&args.dir));
    checks.push(disk(&args.dir));
    checks.push(sqlite(&args.dir));
    checks.extend(args.fleet.as_deref().map(fleet::reach::check));
    let ok = checks.iter().all(|check| check.ok || !check.needed);
    if args.json {
        let peaks = Peaks::measure();
        println!("{}", serde_json::json!({ "ok": ok, "checks": checks, "peaks": peaks }));
    } else {
        for check in &checks {
            let mark = match (check.ok, check.needed) {
                (true, _) => "ok  ",
                (false, true) => "FAIL",
                (false, false) => "-   ",
            };
            println!("{mark} {}: {}", check.name, check.found);
            if let Some(remedy) = &check.remedy {
                println!("       {remedy}");
            }
        }
    }
    Ok(ok)
}

fn processor() -> Check {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |key: &str| {
        let found = info.lines().find(|line| line.starts_with(key));
        found.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
    };
    let wanted = ["avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "asimd"];
    let features = [line("flags"), line("Features")].join(" ");
    let has: Vec<&str> = features.split_whitespace().filter(|f| wanted.contains(f)).collect();
    let model = if line("model name").is_empty() { "unknown model" } else { line("model name") };
    let found = format!("{model}, {cores} cores, {}", has.join(" "));
    Check::new("processor", true, true, found, "")
}

fn kernels() -> Result<Vec<Check>> {
    let checks = check_kernels()?.into_iter().map(|kernel| {
        let found = match kernel.worst_difference {
            Some(worst) => format!(
                "computed, differs from the portable kernel by {worst:.1e} at most{}",
                if kernel.chosen { "; this one is used" } else { "" }
            ),
            None => "not on this machine".to_owned(),
        };
        // One that runs must compute rightly; one that cannot run is not missed.
        let needed = kernel.worst_difference.is_some();
        let name = format!("kernel {}", kernel.kernel);
        Check::new(&name, needed, kernel.usable, found, kernel.remedy.unwrap_or(""))
    });
    Ok(checks.collect())
}

/// What is needed to have LibTorch in a build.
const NO_LIBTORCH: &str = "none needed on a CPU; for GPUs: scripts/libtorch.sh, then build with \
     `--features libtorch` (docs/gpu.md)";

/// LibTorch and each of its devices, in every precision that they have.
fn libtorch() -> Result<Vec<Check>> {
    let Some(facts) = libtorch_facts() else {
        let found = "not in this build".to_owned();
        return Ok(vec![Check::new("libtorch", false, false, found, NO_LIBTORCH)]);
    };
    let mut checks = vec![Check::new("libtorch", false, true, facts, "")];
    let gpus = (0..=u16::MAX).map(DeviceKind::Cuda).take_while(|gpu| gpu.require().is_ok());
    let mut devices = vec![(DeviceKind::LibtorchCpu, vec![Precision::F32, Precision::Bf16])];
    devices.extend(gpus.map(|gpu| (gpu, vec![Precision::F32, Precision::Fp16, Precision::Bf16])));
    if devices.len() == 1 {
        // What is missing, and its remedy.
        devices.push((DeviceKind::Cuda(0), vec![Precision::F32]));
    }
    for (device, precisions) in devices {
        for precision in precisions {
            let check = check_device(device, precision)?;
            let found = match check.worst_difference {
                Some(worst) => format!(
                    "computed, differs from the portable kernel by {worst:.1e} at most, {:.0e} allowed",
                    check.tolerance
                ),
                None => "nothing computed".to_owned(),
            };
            let name = format!("device {device} {}", precision.name());
            let remedy = check.remedy.unwrap_or_default();
            // As with kernels: what runs must be right, what does not is not missed.
            let needed = check.worst_difference.is_some();
            checks.push(Check::new(&name, needed, check.usable, found, &remedy));
        }
    }
    Ok(checks)
}

fn memory() -> Check {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let mib = available
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .map(|kib| kib / 1024);
    let found = mib.map_or("not told by this system".to_owned(), |m| format!("{m} MiB available"));
    let ok = mib.is_none_or(|m| m >= MEMORY_WANTED_MIB);
    Check::new("memory", true, ok, found, "free some: a quickstart wants 512 MiB")
}

/// The folder itself, or the nearest one above it that exists.
fn existing(dir: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let whole = here.join(dir);
    let found = whole.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"));
    found.canonicalize().unwrap_or_else(|_| found.to_owned())
}

fn file_system(dir: &Path) -> Check {
    let folder = existing(dir);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let kind = mount_kind(&mounts, &folder);
    let found = match kind {
        Some(kind) => format!("{} lies on {kind}", folder.display()),
        None => format!("{}: not told by this system", folder.display()),
    };
    let ok = kind.is_none_or(|kind| !SHARES.contains(&kind));
    Check::new(
        "file system",
        true,
        ok,
        found,
        "put the run's folder on a local disk: SQLite's log breaks on shares",
    )
}

/// The type of the file system that `path` lies on, from the lines of `/proc/self/mounts`.
fn mount_kind<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let lines = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let above = lines.filter(|(at, _)| path.starts_with(at.replace("\\040", " ")));
    // Of two mounts at one place the later hides the earlier.
    above.max_by_key(|(at, _)| at.len()).map(|(_, kind)| kind)
}

fn disk(dir: &Path) -> Check {
    let folder = existing(dir);
    let output = Command::new("df").arg("-Pk").arg(&folder).output();
    let mib = output.ok().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let free = text.lines().nth(1)?.split_whitespace().nth(3)?.parse::<u64>().ok()?;
        Some(free / 1024)
    });
    let found = mib.map_or("not told by this system".to_owned(), |m| format!("{m} MiB free"));
    let ok = mib.is_none_or(|m| m >= DISK_WANTED_MIB);
    Check::new("disk", true, ok, found, "make room, or give another folder with --dir")
}

/// Opens a store beside where the run would lie, and takes it away again.
fn sqlite(dir: &Path) -> Check {
    let folder = existing(dir).join(format!(".tengen-doctor-{}", std::process::id()));
    let tried = std::fs::create_dir(&folder).map_err(|e| e.to_string()).and_then(|()| {
        let store = Store::open(&folder.join("store.sqlite")).map_err(|e| e.to_string())?;
        store.networks().map(|networks| networks.len()).map_err(|e| e.to_string())
    });
    // Nothing of use is lost when a folder just made cannot be removed again.
    let _ = std::fs::remove_dir_all(&folder);
    let found = match &tried {
        Ok(_) => "a store was made, read and removed".to_owned(),
        Err(error) => error.clone(),
    };
    Check::new(
        "sqlite",
        true,
        tried.is_ok(),
        found,
        "make the folder writable, or give another with --dir",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_decides_and_a_later_one_hides_an_earlier() {
        let mounts = "/dev/a / ext4 rw 0 0\nsrv:/x /data nfs4 rw 0 0\n\
                      tmpfs /data/my\\040runs tmpfs rw 0 0\n/dev/b /data2 xfs rw 0 0\n\
                      /dev/c /data2 btrfs rw 0 0\n";
        let kind = |path: &str| mount_kind(mounts, Path::new(path));
        assert_eq!(kind("/home/me"), Some("ext4"));
        assert_eq!(kind("/data/runs"), Some("nfs4"));
        assert_eq!(kind("/data/my runs/one"), Some("tmpfs"));
        assert_eq!(kind("/data2"), Some("btrfs"));
        assert_eq!(mount_kind("", Path::new("/")), None);
    }

    #[test]
    fn a_writable_folder_passes_and_one_that_cannot_be_made_is_told_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let check = sqlite(&folder.path().join("runs/new"));
        assert!(check.ok, "{check:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        let check = sqlite(Path::new("/proc"));
        assert!(!check.ok && check.remedy.is_some(), "{check:?}");
    }
}
