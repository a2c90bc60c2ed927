//! What a server has done since it began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::exposition::Exposition;

/// How often, and how long in all.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: u64,
    seconds: f64,
}

/// Counters of one server.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// By name and HTTP status.
    calls: Mutex<BTreeMap<(&'static str, u16), Calls>>,
    /// Games handed in, sound or not.
    pub games: AtomicU64,
    /// Bytes of bodies read.
    pub bytes: AtomicU64,
    /// Connections now.
    pub connections: AtomicU64,
    /// Connections that were turned away.
    pub turned_away: AtomicU64,
    /// Connections that ended before they had agreed on TLS.
    pub handshakes_failed: AtomicU64,
}

impl Figures {
    pub fn called(&self, call: &'static str, status: u16, took: Duration) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = calls.entry((call, status)).or_default();
        calls.count += 1;
        calls.seconds += took.as_secs_f64();
    }

    /// In Prometheus's format.
    pub fn text(&self, tokens: usize) -> String {
        let mut out = Exposition::default();
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        out.metric("serve_calls_total", "counter", "Calls by HTTP status.");
        for ((call, status), Calls { count, .. }) in &calls {
            out.line(format_args!(
                "tengen_serve_calls_total{{call=\"{call}\",status=\"{status}\"}} {count}"
            ));
        }
        out.metric("serve_call_seconds_total", "counter", "Time that they took.");
        for ((call, status), Calls { seconds, .. }) in &calls {
            out.line(format_args!(
                "tengen_serve_call_seconds_total{{call=\"{call}\",status=\"{status}\"}} {seconds}"
            ));
        }
        let counters = [
            ("serve_games_total", "counter", "Games handed in, sound or not.", &self.games),
            ("serve_body_bytes_total", "counter", "Bytes of bodies read.", &self.bytes),
            ("serve_connections", "gauge", "Connections now.", &self.connections),
            ("serve_turned_away_total", "counter", "Connections over a limit.", &self.turned_away),
            (
                "serve_handshakes_failed_total",
                "counter",
                "Connections that ended before TLS.",
                &self.handshakes_failed,
            ),
        ];
        for (name, kind, help, value) in counters {
            out.one(name, kind, help, value.load(Ordering::Relaxed));
        }
        out.one("serve_tokens", "gauge", "Tokens on the list.", tokens);
        out.into_text()
    }
}
