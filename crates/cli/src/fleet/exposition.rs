//! A run's figures for Prometheus, in its text format: `tengen fleet status --prometheus`, for the textfile
//! collector of node_exporter or any other that runs a command, and `GET /metrics` of `--metrics`.

use anyhow::Result;
use tengen_serve::{Exposition, escaped};
use tengen_store::Store;

/// Everything that is worth a curve or an alert.
pub fn text(store: &Store) -> Result<String> {
    let (counts, run) = (store.counts()?, store.run()?);
    let mut out = Exposition::default();
    out.one("games_total", "counter", "Games of the run.", counts.games);
    out.one("positions_total", "counter", "Training targets in them.", counts.positions);
    out.one(
        "inbox_games",
        "gauge",
        "Games handed in and not checked yet.",
        store.waiting_uploads()?,
    );
    if let Some(run) = run {
        let ahead = run.last_seq.saturating_sub(run.trained_seq);
        out.one("games_ahead", "gauge", "Games past the trainer's cursor.", ahead);
        if let Some(limit) = run.ahead_limit {
            out.one("games_ahead_limit", "gauge", "What they may be.", limit);
        }
    }
    let promotions = store.promotions()?.len();
    out.one("promotions_total", "counter", "Moves of the best pointer.", promotions);
    out.one("open_matches", "gauge", "Matches without a verdict.", store.open_matches()?.len());
    if let Some(age) = store.best_age_seconds()? {
        out.one("best_age_seconds", "gauge", "Since the best network became it.", age);
    }
    let reports = store.damage_reports()?.len();
    out.one("damage_reports", "gauge", "Networks said to be damaged, once a worker.", reports);
    let workers = store.workers()?;
    type Figure = fn(&tengen_store::WorkerRow) -> f64;
    let figures: [(&str, &str, &str, Figure); 4] = [
        ("worker_games_total", "counter", "Games since it registered.", |w| w.counts.games as f64),
        ("worker_evaluations_total", "counter", "Positions evaluated since.", |w| {
            w.counts.evals as f64
        }),
        ("worker_unsound_games", "gauge", "Its games put aside.", |w| w.refused as f64),
        ("worker_silent_seconds", "gauge", "Since it was heard of.", |w| w.silent_seconds),
    ];
    for (name, kind, help, figure) in figures {
        out.metric(name, kind, help);
        for worker in &workers {
            let (label, device) = (escaped(&worker.name), escaped(&worker.device));
            let value = figure(worker);
            out.line(format_args!(
                "tengen_{name}{{worker=\"{label}\",device=\"{device}\"}} {value}"
            ));
        }
    }
    out.metric("worker_state", "gauge", "1 for the state that holds: ok, suspect or blocked.");
    for worker in &workers {
        let (label, state) = (escaped(&worker.name), worker.state);
        out.line(format_args!("tengen_worker_state{{worker=\"{label}\",state=\"{state}\"}} 1"));
    }
    Ok(out.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_store_has_its_figures_each_with_help_and_type() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("tengen.db")).unwrap();
        let text = text(&store).unwrap();
        assert!(
            text.contains("# TYPE tengen_games_total counter\ntengen_games_total 0\n"),
            "{text}"
        );
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("tengen_") && value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
