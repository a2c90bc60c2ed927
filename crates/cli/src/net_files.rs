//! `tengen net`: what a network costs, and networks from and for other programs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use tengen_network::{
    NetworkConfig, NetworkMeta, describe as facts_of, export_onnx, import_pytorch, load_network,
    save_network, training_memory,
};

use crate::config::Config;

/// Arguments of `net export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The network file.
    pub net: PathBuf,
    /// The model to write; must not exist.
    #[arg(long)]
    pub onnx: PathBuf,
}

/// Arguments of `net import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The safetensors file.
    pub file: PathBuf,
    /// The folder that the network is written into, named by its hash.
    #[arg(long)]
    pub to: PathBuf,
    /// The planes that the network reads.
    #[arg(long, default_value_t = NetworkConfig::default().feature_set)]
    pub feature_set: String,
}

/// Prints what the net of a config costs.
pub fn describe(file: &Path, as_json: bool) -> Result<()> {
    let config = Config::load(file)?;
    let size = config.rules.settings()?.size;
    let mut facts = json!(facts_of(&config.network, size)?);
    let memory = training_memory(&config.network, size, config.trainer.batch_size)?;
    if let Value::Object(facts) = &mut facts {
        facts.insert("training_memory".to_owned(), json!(memory));
    }
    match as_json {
        true => println!("{facts}"),
        false => println!("{facts:#}"),
    }
    Ok(())
}

/// Writes a network as an ONNX model.
pub fn export(args: &ExportArgs) -> Result<()> {
    let (config, weights, _) = load_network(&args.net)?;
    if args.onnx.exists() {
        bail!("{} exists already", args.onnx.display());
    }
    let bytes = export_onnx(&config, &weights)?;
    fs::write(&args.onnx, &bytes).with_context(|| format!("writing {}", args.onnx.display()))?;
    println!("{}: {} bytes", args.onnx.display(), bytes.len());
    Ok(())
}

/// Takes a PyTorch network as ours.
pub fn import(args: &ImportArgs) -> Result<()> {
    let wanted =
        NetworkConfig { feature_set: args.feature_set.clone(), ..NetworkConfig::default() };
    let bytes = fs::read(&args.file).with_context(|| format!("reading {}", args.file.display()))?;
    let (config, weights) = import_pytorch(&bytes, wanted.features()?)
        .with_context(|| format!("in {}", args.file.display()))?;
    let id = save_network(&args.to, &config, &weights, &NetworkMeta::default())
        .with_context(|| format!("writing into {}", args.to.display()))?;
    println!("{}", args.to.join(id.file_name()).display());
    Ok(())
}
