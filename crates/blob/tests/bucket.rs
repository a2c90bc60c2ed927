//! A bucket against a server whose answers come wrong, late or not at all.
#![cfg(feature = "s3")]
#![allow(clippy::unwrap_used)]

mod common;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use common::{Fault, Server};
use tengen_blob::{BlobError, BlobSource, BlobStore, Bucket, MAX_BLOB_BYTES};

/// A bucket that holds one network, and its name.
fn bucket(server: &Server) -> (Bucket, String) {
    let mut bucket = Bucket::at(&server.endpoint, ["key", "geheim"], "nets", "run").unwrap();
    let name = bucket.put_if_absent(&weights()).unwrap();
    (bucket, name)
}

fn weights() -> Vec<u8> {
    (0..20_000_u32).map(|byte| (byte % 251) as u8).collect()
}

#[test]
fn a_blob_is_put_once_in_one_request_under_its_hash() {
    let server = Server::start();
    let (mut bucket, name) = bucket(&server);
    let key = format!("/nets/run/{name}.safetensors");
    assert_eq!(
        server.with(|state| std::mem::take(&mut state.requests)),
        [format!("HEAD {key}"), format!("PUT {key}")]
    );
    assert_eq!(bucket.put_if_absent(&weights()).unwrap(), name);
    assert_eq!(server.with(|state| state.requests.clone()), [format!("HEAD {key}")]);
    assert_eq!(bucket.get(&name).unwrap(), weights());
}

#[test]
fn bytes_that_come_wrong_are_damaged_and_those_that_stop_coming_are_away() {
    let server = Server::start();
    let (mut bucket, name) = bucket(&server);
    let mut flipped = weights();
    flipped[777] ^= 16;
    for bytes in [weights()[..9_999].to_vec(), flipped, Vec::new()] {
        let much = bytes.len();
        server.faults([Fault::Other(bytes)]);
        let refused = bucket.get(&name).unwrap_err();
        assert!(
            matches!(&refused, BlobError::Damaged { bytes, .. } if *bytes == much),
            "{refused}"
        );
        assert!(refused.to_string().contains(&name), "{refused}");
    }
    for fault in [Fault::Cut, Fault::Status(503), Fault::Status(500), Fault::Status(403)] {
        server.faults([fault.clone()]);
        let away = bucket.get(&name).unwrap_err();
        assert!(matches!(away, BlobError::Away(_)), "{fault:?}: {away}");
        let told = away.to_string();
        assert!(told.starts_with("s3://nets/run: ") && !told.contains("geheim"), "{told}");
    }
    assert_eq!(bucket.get(&name).unwrap(), weights(), "it is well again");
    let asked = server.with(|state| state.requests.len());
    assert_eq!(asked, 2 + 7 + 1, "when to try again is the caller's to say");
}

#[test]
fn ten_kilobytes_a_second_are_slow_and_right() {
    let server = Server::start();
    let (mut bucket, name) = bucket(&server);
    server.faults([Fault::Slow(10_000)]);
    let begun = Instant::now();
    assert_eq!(bucket.get(&name).unwrap(), weights());
    assert!(begun.elapsed() > Duration::from_millis(1_500));
}

#[test]
fn more_than_anybody_takes_is_not_taken() {
    let server = Server::start();
    let (mut bucket, name) = bucket(&server);
    server.faults([Fault::Promise(MAX_BLOB_BYTES + 1)]);
    assert!(matches!(bucket.get(&name), Err(BlobError::TooLarge { .. })));
}

/// Two janitors at once: both looked, both put.
#[test]
fn a_name_taken_meanwhile_is_success_if_size_and_then_bytes_agree() {
    let server = Server::start();
    let (mut bucket, name) = bucket(&server);
    for conflict in [409, 412] {
        server.faults([Fault::Status(404), Fault::Status(conflict)]);
        assert_eq!(bucket.put_if_absent(&weights()).unwrap(), name, "{conflict}");
    }
    // Without a fault on the PUT the server says 412 itself.
    server.faults([Fault::Status(404)]);
    assert_eq!(bucket.put_if_absent(&weights()).unwrap(), name);
    let key = format!("/nets/run/{name}.safetensors");
    server.with(|state| state.objects.insert(key, b"weigh".to_vec()));
    let refused = bucket.put_if_absent(&weights()).unwrap_err();
    assert!(matches!(&refused, BlobError::Damaged { bytes: 5, .. }), "{refused}");
    assert!(refused.to_string().contains(&name), "{refused}");
}

#[test]
fn where_nobody_answers_that_is_told_soon() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut bucket =
        Bucket::at(&format!("http://{free}"), ["key", "geheim"], "nets", "run").unwrap();
    let begun = Instant::now();
    assert!(matches!(bucket.get(&"a".repeat(64)), Err(BlobError::Away(_))));
    assert!(matches!(bucket.put_if_absent(b"weights"), Err(BlobError::Away(_))));
    assert!(matches!(bucket.list(), Err(BlobError::Away(_))));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn plain_http_to_another_machine_is_refused() {
    let mut bucket =
        Bucket::at("http://s3.example:9000", ["key", "geheim"], "nets", "run").unwrap();
    let refused = bucket.get(&"a".repeat(64)).unwrap_err().to_string();
    assert!(refused.to_lowercase().contains("http"), "{refused}");
}
