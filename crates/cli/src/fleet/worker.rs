//! `tengen selfplay --store`: a worker of a fleet, on whatever machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tengen_blob::BlobSource;
use tengen_fleet::{Host, OpenBlobs, Plan, WorkerConfig, work};
use tengen_inference::LeafEvaluator;
use tengen_network::{DeviceConfig, check_device, check_kernels, load_network};
use tengen_store::RunState;

use crate::args::SelfPlayArgs;
use crate::config::Config;
use crate::fleet::place::{Place, blob_place};
use crate::logging;
use crate::parts::starts;
use crate::pipeline::check_worker;
use crate::stop::Stop;

/// Letters of a name; the worker's whole name has 17 more, and 64 at most.
const MAX_NAME: usize = 47;

/// Works for the run at `store` until told to stop.
pub fn run(args: &SelfPlayArgs, store: &str) -> Result<()> {
    let place = Place::parse_with(store, args.token.as_deref())?;
    let name = args.name.clone().unwrap_or_else(machine);
    check_worker(&name)?;
    if name.len() > MAX_NAME {
        bail!("--name {name:?}: {MAX_NAME} letters at most");
    }
    let devices = args.devices.alone()?;
    let spool = args.spool.clone().unwrap_or_else(|| PathBuf::from("data/spool").join(&name));
    std::fs::create_dir_all(&spool)
        .with_context(|| format!("cannot make the spool folder {}", spool.display()))?;
    logging::init_service(Some(&spool))?;
    check_self(&devices)?;
    let names: Vec<String> = devices.inference.iter().map(|device| device.name()).collect();
    let config = WorkerConfig {
        spool_bytes: (args.spool_gb * 1e9) as u64,
        host: machine(),
        device: names.join(","),
        plays_matches: !args.no_matches,
        blobs: args.blobs.as_deref().map(open_blobs).transpose()?,
        ..WorkerConfig::new(&spool, &name)
    };
    let host = Cli { devices, workers: args.workers };
    let stop = Stop::install(args.until_minutes.unwrap_or(0.0))?;
    let report = work(&config, &host, place.connector(), &|| stop.now())?;
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!(
            "{}: {} games in {:.0} s, {} of them still in {}",
            report.worker,
            report.games,
            report.seconds,
            report.waiting,
            spool.display()
        );
        for (reason, seconds) in &report.idle {
            println!("  {seconds:.0} s without play: {reason}");
        }
    }
    Ok(())
}

/// Goes to a place of networks whenever one is to be fetched; it may be away now, but must be one that this
/// program can go to.
fn open_blobs(place: &str) -> Result<OpenBlobs> {
    let place = blob_place(place)?;
    drop(place.open()?);
    Ok(Arc::new(move || place.open().map(|blobs| blobs as Box<dyn BlobSource>)))
}

/// Nothing is played on a device that computes wrongly: each must agree with the portable kernel.
fn check_self(devices: &DeviceConfig) -> Result<()> {
    for kernel in check_kernels()? {
        if kernel.worst_difference.is_some() && !kernel.usable {
            bail!("kernel {}: {}", kernel.kernel, kernel.remedy.unwrap_or_default());
        }
    }
    for &device in &devices.inference {
        let check = check_device(device, devices.precision)?;
        if !check.usable {
            bail!("device {device}: {}", check.remedy.unwrap_or_default());
        }
    }
    Ok(())
}

/// This machine's name, of letters that a worker's name may have.
fn machine() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = told.trim().chars().filter(|&c| plain(c)).take(40).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

/// What a config asks of those who play; positions to begin from are not read here.
pub fn plan_of(config: Config) -> Result<Plan> {
    Ok(Plan {
        settings: config.rules.settings()?,
        others: config.rules.others()?,
        selfplay: config.selfplay,
        search: config.search,
        starts: Arc::default(),
    })
}

/// What the fleet does not know: config files and networks.
struct Cli {
    devices: DeviceConfig,
    /// Threads that play, if not as the run says.
    workers: Option<usize>,
}

impl Host for Cli {
    fn plan(&self, run: &RunState) -> Result<Plan, String> {
        Config::parse(&run.config_text)
            .and_then(|config| {
                let starts = match config.selfplay.start_positions.as_str() {
                    "" => Vec::new(),
                    file => starts::read(Path::new(file), &config.rules.settings()?)?,
                };
                let mut plan = plan_of(config)?;
                plan.selfplay.workers = self.workers.unwrap_or(plan.selfplay.workers);
                plan.starts = starts.into();
                Ok(plan)
            })
            .map_err(|error| format!("the run's configuration: {error:#}"))
    }

    fn evaluators(
        &self,
        network: &Path,
        count: usize,
    ) -> Result<Vec<Box<dyn LeafEvaluator>>, String> {
        let (config, weights, _) =
            load_network(network).map_err(|error| format!("{}: {error}", network.display()))?;
        (0..count)
            .map(|worker| self.devices.evaluator(&config, &weights, worker))
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{}: {error}", network.display()))
    }
}
