//! An [`UpstreamError`] as an HTTP status with a few words of JSON, and back.

use axum::http::StatusCode;
use tengen_store::{PROTOCOL, UpstreamError};

use crate::wire::Failure;

/// Letters of an answer in unknown words that are worth showing.
const SHOWN: usize = 200;

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) enum CallError {
    /// It is no call: what is wrong with its body.
    Malformed(String),
    /// What the run says.
    Run(UpstreamError),
}

impl From<UpstreamError> for CallError {
    fn from(error: UpstreamError) -> Self {
        Self::Run(error)
    }
}

/// What a call answers that the run turned down.
pub(crate) fn failure(error: &UpstreamError) -> (StatusCode, Failure) {
    let (status, word) = match error {
        UpstreamError::Away(_) => (StatusCode::SERVICE_UNAVAILABLE, "away"),
        UpstreamError::Refused(_) => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
        UpstreamError::Blocked(_) => (StatusCode::FORBIDDEN, "blocked"),
        UpstreamError::Version { .. } => (StatusCode::UPGRADE_REQUIRED, "version"),
        // An error of a later release: whoever asks again is no worse off.
        _ => (StatusCode::SERVICE_UNAVAILABLE, "away"),
    };
    let mut told = Failure::new(word, error.to_string());
    match error {
        UpstreamError::Away(reason) | UpstreamError::Refused(reason) => {
            told.reason.clone_from(reason);
        }
        UpstreamError::Blocked(worker) => told.worker = Some(worker.clone()),
        UpstreamError::Version { theirs, needed, .. } => {
            (told.theirs, told.needed) = (Some(*theirs), Some(needed.clone()));
        }
        _ => {}
    }
    (status, told)
}

/// What an answer means that is not 200. Proxies and other servers answer too, in words of their own.
pub(crate) fn meaning(status: u16, location: Option<&str>, body: &[u8]) -> UpstreamError {
    let told: Option<Failure> = serde_json::from_slice(body).ok();
    let text = match &told {
        Some(failure) => failure.reason.clone(),
        None => {
            let words = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
            let words: Vec<&str> = words.split_whitespace().collect();
            format!("HTTP status {status}: {}", words.join(" "))
        }
    };
    let refused = UpstreamError::Refused;
    match (status, told) {
        (403, Some(Failure { worker: Some(worker), .. })) => UpstreamError::Blocked(worker),
        (426, Some(Failure { theirs: Some(theirs), needed, .. })) => UpstreamError::Version {
            ours: PROTOCOL,
            theirs,
            needed: needed.unwrap_or_else(|| "unknown".to_owned()),
        },
        (300..=399, _) => refused(format!(
            "it answers with a redirection to {}; give the address it should be, as none is followed",
            location.unwrap_or("nowhere")
        )),
        // Too slow, too early, too much at once: later is another matter.
        (408 | 425 | 429, _) => UpstreamError::Away(text),
        (400..=499, _) => refused(text),
        _ => UpstreamError::Away(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_comes_through_as_it_was() {
        let errors = [
            UpstreamError::Away("the server sleeps".into()),
            UpstreamError::Refused("worker \"w\" has not registered".into()),
            UpstreamError::Blocked("w".into()),
            UpstreamError::Version { ours: PROTOCOL, theirs: 7, needed: "0.9".into() },
        ];
        for error in errors {
            let (status, told) = failure(&error);
            let body = serde_json::to_vec(&told).unwrap();
            assert_eq!(meaning(status.as_u16(), None, &body), error);
        }
    }

    #[test]
    fn a_proxy_that_cannot_reach_the_server_is_an_outage_and_another_server_a_mistake() {
        for status in [408, 429, 500, 502, 503, 504, 599] {
            assert!(meaning(status, None, b"<html>").is_temporary(), "{status}");
        }
        for status in [301, 400, 401, 403, 404, 405, 411, 413, 426] {
            assert!(!meaning(status, None, b"<html>").is_temporary(), "{status}");
        }
        let moved = meaning(308, Some("https://b/"), b"");
        assert!(moved.to_string().contains("https://b/"), "{moved}");
        let lost = meaning(404, None, b"<html>\n nothing\there \xff");
        assert!(lost.to_string().contains("404: <html> nothing here"), "{lost}");
    }
}
