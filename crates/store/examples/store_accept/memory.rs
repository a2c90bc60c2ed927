//! How much memory this process and a server's take, by what the kernel says.

use std::fs;
use std::path::Path;

/// Megabytes in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Of this process: what lies in memory.
    pub own: f64,
    /// Of the server's processes together: what is theirs alone, without the buffers that they share.
    pub server: f64,
    /// Of the server's largest process: what lies in memory, shared buffers included.
    pub largest: f64,
}

impl Memory {
    /// As of now, for the server whose data lie in `data`; zeros where the kernel does not say.
    pub fn now(data: &Path) -> Self {
        let of = |pid: &str, key: &str| kilobytes(pid, key).unwrap_or_default() / 1024.0;
        let server = processes(data);
        Self {
            own: of("self", "VmRSS:"),
            server: server.iter().map(|pid| of(pid, "RssAnon:")).sum(),
            largest: server.iter().map(|pid| of(pid, "VmRSS:")).fold(0.0, f64::max),
        }
    }
}

fn kilobytes(pid: &str, key: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// The server's first process and its children.
fn processes(data: &Path) -> Vec<String> {
    let file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let Some(first) = file.lines().next().map(str::to_owned) else { return Vec::new() };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_child = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        parent.is_some_and(|parent| parent.trim() == first)
    };
    let children: Vec<String> = pids.filter(is_child).collect();
    [vec![first.clone()], children].concat()
}
