//! A bucket of a real implementation of S3: moto's server, which `make test-s3` brings.
#![cfg(feature = "s3")]
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tengen_blob::{BlobError, BlobPlace, BlobSource, BlobStore, Bucket};

/// A server with an empty bucket `nets`; gone with the value.
struct Moto {
    server: Child,
    endpoint: String,
}

impl Moto {
    fn start() -> Option<Self> {
        let Ok(program) = std::env::var("MOTO_SERVER") else {
            let told =
                "SKIPPED: tests on a real S3: MOTO_SERVER names no server; see `make test-s3`";
            let _ = writeln!(std::io::stderr(), "{told}");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &free.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moto = Self { server, endpoint: format!("http://{free}") };
        let begun = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "moto's server does not come up");
            thread::sleep(Duration::from_millis(100));
        }
        let mut link = TcpStream::connect(free).unwrap();
        write!(
            link,
            "PUT /nets HTTP/1.1\r\nHost: {free}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        link.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Some(moto)
    }

    fn bucket(&self, prefix: &str) -> Bucket {
        Bucket::at(&self.endpoint, ["key", "secret"], "nets", prefix).unwrap()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn networks_of_two_runs_in_one_bucket_are_kept_listed_and_deleted_apart() {
    let Some(moto) = Moto::start() else { return };
    let (mut one, mut other) = (moto.bucket("runs/one"), moto.bucket("runs/other"));
    one.claim("uid 1").unwrap();
    other.claim("uid 2").unwrap();
    one.claim("uid 1").unwrap();
    let taken = moto.bucket("runs/one").claim("uid 2").unwrap_err();
    assert!(taken.to_string().contains("uid 1"), "{taken}");
    let weights = vec![7; 3_000_000];
    let name = one.put_if_absent(&weights).unwrap();
    assert_eq!(one.put_if_absent(&weights).unwrap(), name);
    assert_eq!(one.get(&name).unwrap(), weights);
    assert_eq!(other.get(&name), Err(BlobError::Missing(name.clone())));
    let kept = one.list().unwrap();
    assert_eq!((kept.len(), &kept[0].name, kept[0].bytes), (1, &name, 3_000_000));
    assert!(kept[0].age < Duration::from_secs(60), "{:?}", kept[0]);
    assert!(other.list().unwrap().is_empty());
    // A prefix with networks that nobody claimed is somebody's all the same.
    moto.bucket("runs/unclaimed").put_if_absent(b"weights").unwrap();
    assert!(matches!(moto.bucket("runs/unclaimed").claim("x"), Err(BlobError::Taken { .. })));
    one.delete(&name).unwrap();
    one.delete(&name).unwrap();
    assert!(one.list().unwrap().is_empty());
    // Whoever puts at the same time puts the same.
    let names: Vec<String> = thread::scope(|scope| {
        let putters: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| moto.bucket("runs/one").put_if_absent(&weights).unwrap()))
            .collect();
        putters.into_iter().map(|putter| putter.join().unwrap()).collect()
    });
    assert_eq!(names, vec![name; 4]);
    assert_eq!(one.list().unwrap().len(), 1);
    // A process that knows the place's name, and the rest from its environment.
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_goes_where_its_environment_says", "--nocapture"])
        .env("TENGEN_TEST_PLACE", "s3://nets/runs/child")
        .env("AWS_ENDPOINT_URL", &moto.endpoint)
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let kept = moto.bucket("runs/child").list().unwrap();
    assert_eq!(kept.len(), 1, "{}", String::from_utf8_lossy(&child.stdout));
    let mut nowhere = Bucket::at(&moto.endpoint, ["key", "secret"], "nobodys", "x").unwrap();
    assert!(nowhere.put_if_absent(b"weights").is_err());
}

#[test]
fn child_goes_where_its_environment_says() {
    let Ok(place) = std::env::var("TENGEN_TEST_PLACE") else { return };
    let mut blobs = place.parse::<BlobPlace>().unwrap().open().unwrap();
    blobs.claim("child").unwrap();
    let name = blobs.put_if_absent(b"weights").unwrap();
    assert_eq!(blobs.get(&name).unwrap(), b"weights");
}
