//! `tengen serve`: a run for workers that nobody trusts, over HTTPS with tokens.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use tengen_serve::{Limits, ServeConfig, Server, add_token};

use crate::fleet::place::Place;
use crate::fleet::{exposition, metrics};
use crate::logging;
use crate::stop::Stop;

/// How often to look whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// `tengen serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ServeArgs {
    /// What else there is to do.
    #[command(subcommand)]
    pub other: Option<ServeCommand>,
    /// The server.
    #[command(flatten)]
    pub server: Option<ServerArgs>,
}

/// What is not the server itself.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Make a token, append its hash to the file of tokens, and print the token, this once.
    Token {
        /// Whose it is: a box, or whoever owns some. Letters, digits and . _ -
        name: String,
        /// The file of tokens; made where there is none.
        #[arg(long)]
        tokens: PathBuf,
    },
}

/// The server's own arguments.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The run: `postgres://…` with a worker's login, the run's folder, or `env:NAME` for a variable with either.
    #[arg(long)]
    pub store: String,
    /// The file of tokens, as `tengen serve token` writes it. Read again whenever it changes.
    #[arg(long)]
    pub tokens: PathBuf,
    /// Where to listen; 0.0.0.0:8443 for all of the machine's addresses.
    #[arg(long, default_value = "127.0.0.1:8443")]
    pub listen: SocketAddr,
    /// The certificate with its chain, PEM. Read again whenever it changes.
    #[arg(long, requires = "key")]
    pub cert: Option<PathBuf>,
    /// Its key, PEM.
    #[arg(long, requires = "cert")]
    pub key: Option<PathBuf>,
    /// Plain HTTP at an address that other machines reach: behind a proxy that does TLS.
    #[arg(long, conflicts_with = "cert")]
    pub plain: bool,
    /// Connections to the run.
    #[arg(long, default_value_t = 4)]
    pub connections: usize,
    /// Megabytes a second that the workers of one token may hand in, over time.
    #[arg(long, default_value_t = 4.0)]
    pub rate_mb: f64,
    /// Answer Prometheus's GET /metrics at this address, such as 127.0.0.1:9464; in the clear, to whoever asks.
    #[arg(long)]
    pub metrics: Option<SocketAddr>,
    /// Stop after so many minutes; 0 = never.
    #[arg(long, default_value_t = 0.0)]
    pub until_minutes: f64,
}

/// Serves until told to stop, or makes a token.
pub fn run(args: &ServeArgs) -> Result<()> {
    if let Some(ServeCommand::Token { name, tokens }) = &args.other {
        println!("{}", add_token(tokens, name)?);
        eprintln!(
            "{name}: its hash is in {}; the token is shown this once and kept nowhere",
            tokens.display()
        );
        return Ok(());
    }
    let args = args.server.as_ref().context("give --store and --tokens")?;
    logging::init_service(None)?;
    let place = Place::parse(&args.store)?;
    let connect = place.shared_connector()?;
    let stop = Stop::install(args.until_minutes)?;
    let mut limits = Limits { rate: args.rate_mb.max(0.001) * 1e6, ..Limits::default() };
    if args.plain {
        // All come from the proxy.
        limits.connections_of_one = None;
    }
    let config = ServeConfig {
        listen: args.listen,
        identity: args.cert.clone().zip(args.key.clone()),
        plain: args.plain,
        tokens: args.tokens.clone(),
        connections: args.connections,
        limits,
    };
    let server = Server::start(&config, connect)?;
    let figures = figures(&server, place);
    let metrics = args.metrics.map(|address| metrics::start(address, figures)).transpose()?;
    let scheme = if config.identity.is_some() { "https" } else { "http" };
    tracing::info!("serves {scheme}://{}", server.address());
    while !stop.now() {
        std::thread::sleep(LOOK);
    }
    drop(server);
    drop(metrics);
    Ok(())
}

/// The server's figures, and the run's where this process may read them: a worker's login may not.
fn figures(server: &Server, place: Place) -> impl Fn() -> Result<String> + Send + Sync + use<> {
    let own = server.figures();
    let readable = place.open().is_ok();
    move || {
        let mut text = own();
        if readable {
            text.push_str(&exposition::text(&place.open()?.0)?);
        }
        Ok(text)
    }
}
