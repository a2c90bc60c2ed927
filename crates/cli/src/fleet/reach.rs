//! `tengen doctor --fleet`: whether a worker on this machine would come through to its run.

use std::time::Instant;

use tengen_store::{UpstreamError, WorkerCounts};

use crate::doctor::Check;
use crate::fleet::place::Place;

/// A worker's name that nobody registers: whoever is told so has been heard.
const NOBODY: &str = "tengen-doctor";

/// Connects as a worker and asks one question, which leaves no trace in the run.
pub fn check(store: &str) -> Check {
    let begun = Instant::now();
    let asked = Place::parse(store).map_err(|error| format!("{error:#}")).and_then(|place| {
        let mut upstream = (place.connector())().map_err(|error| error.to_string())?;
        match upstream.run_state(NOBODY, WorkerCounts::default()) {
            Ok(_) => Ok(()),
            Err(UpstreamError::Refused(why)) if why.contains(NOBODY) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    });
    let found = match &asked {
        Ok(()) => format!("answers within {:.0} ms", begun.elapsed().as_secs_f64() * 1e3),
        Err(why) => why.clone(),
    };
    let remedy = "check address, login or token, and certificates; on the database: `tengen fleet init` \
                  prints the rights that a worker's login needs";
    Check::new("run", true, asked.is_ok(), found, remedy)
}
