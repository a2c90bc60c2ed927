//! Blobs as objects of a bucket, in any store that speaks S3.
//!
//! One object is one PUT under its name, so no reader ever sees half of one. Where a PUT finds the name
//! taken (AlreadyExists, from 409 or 412), the object there is looked at: the same name and size is
//! the same blob.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use crate::blobs::{check_name, check_size};
use crate::{BlobError, BlobSource, BlobStore, EXTENSION, Kept, verify};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// How long nothing may come of an answer that has begun.
const STALLED: Duration = Duration::from_secs(30);
/// How long a request may take as a whole: 100 MB at 170 KB/s.
const WHOLE: Duration = Duration::from_secs(600);
/// The object that says whose the prefix is.
const OWNER: &str = "owner.txt";

/// The objects `PREFIX/NAME.safetensors` of a bucket.
#[derive(Debug)]
pub struct Bucket {
    runtime: Runtime,
    store: AmazonS3,
    prefix: Path,
    place: String,
}

impl Bucket {
    /// Reaches the bucket as the environment says: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, and the others that the `object_store` crate
    /// reads; without a key, the machine's role. Plain HTTP is for this machine alone, unless
    /// `AWS_ALLOW_HTTP=true`. Nothing is sent yet.
    ///
    /// # Errors
    /// [`BlobError::Place`].
    pub fn from_env(bucket: &str, prefix: &str) -> Result<Self, BlobError> {
        let mut builder = AmazonS3Builder::from_env();
        let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
        if is_here(&endpoint) {
            builder = builder.with_allow_http(true);
        }
        Self::new(builder, bucket, prefix)
    }

    /// As [`Bucket::from_env`], with an endpoint and a key of one's own.
    ///
    /// # Errors
    /// [`BlobError::Place`].
    pub fn at(
        endpoint: &str,
        [key, secret]: [&str; 2],
        bucket: &str,
        prefix: &str,
    ) -> Result<Self, BlobError> {
        let builder = AmazonS3Builder::new()
            .with_endpoint(endpoint)
            .with_allow_http(is_here(endpoint))
            .with_access_key_id(key)
            .with_secret_access_key(secret);
        Self::new(builder, bucket, prefix)
    }

    fn new(builder: AmazonS3Builder, bucket: &str, prefix: &str) -> Result<Self, BlobError> {
        let place = format!("s3://{bucket}/{prefix}");
        let refused = |error: &dyn std::error::Error| BlobError::Place(told(&place, error));
        // Whoever set another one first may keep it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let allow_http = builder
            .get_config_value(&"aws_allow_http".parse().map_err(|error: Error| refused(&error))?)
            .is_some_and(|value| value == "true");
        let client = ClientOptions::new()
            .with_allow_http(allow_http)
            .with_connect_timeout(CONNECT)
            .with_read_timeout(STALLED)
            .with_timeout(WHOLE);
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let store = builder
            .with_bucket_name(bucket)
            .with_client_options(client)
            .with_retry(retry)
            // Not every store that speaks S3 knows the call that deletes many at once.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(|error| refused(&error))?;
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| refused(&error))?;
        Ok(Self { runtime, store, prefix: Path::from(prefix), place })
    }

    fn key(&self, name: &str) -> Path {
        self.prefix.clone().join(format!("{name}.{EXTENSION}"))
    }

    fn away(&self, error: &Error) -> BlobError {
        BlobError::Away(told(&self.place, error))
    }

    /// The bytes of an object, `None` if there is none; `name` is for messages.
    fn read(&self, key: &Path, name: &str) -> Result<Option<Vec<u8>>, BlobError> {
        let read = self.runtime.block_on(async {
            let answer = match self.store.get(key).await {
                Err(Error::NotFound { .. }) => return Ok(None),
                answer => answer.map_err(|error| self.away(&error))?,
            };
            check_size(name, answer.meta.size)?;
            answer.bytes().await.map(Some).map_err(|error| self.away(&error))
        })?;
        Ok(read.map(Vec::from))
    }

    /// The size of an object, `None` if there is none.
    fn size(&self, key: &Path) -> Result<Option<u64>, BlobError> {
        match self.runtime.block_on(self.store.head(key)) {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.away(&error)),
        }
    }

    /// One PUT; false if the key is taken.
    fn create(&self, key: &Path, bytes: &[u8]) -> Result<bool, BlobError> {
        let put = |mode: PutMode| {
            let payload = PutPayload::from(bytes.to_vec());
            self.runtime.block_on(self.store.put_opts(key, payload, mode.into()))
        };
        match put(PutMode::Create) {
            Err(Error::AlreadyExists { .. }) => Ok(false),
            // A store that cannot tell whether a key is taken. The caller has looked, and whoever
            // came between writes the same bytes.
            Err(Error::NotImplemented { .. }) => {
                put(PutMode::Overwrite).map(|_| true).map_err(|error| self.away(&error))
            }
            put => put.map(|_| true).map_err(|error| self.away(&error)),
        }
    }
}

impl BlobSource for Bucket {
    fn get(&mut self, name: &str) -> Result<Vec<u8>, BlobError> {
        check_name(name)?;
        let read = self.read(&self.key(name), name)?;
        let bytes = read.ok_or_else(|| BlobError::Missing(name.to_owned()))?;
        verify(name, &bytes)?;
        Ok(bytes)
    }
}

impl BlobStore for Bucket {
    fn claim(&mut self, owner: &str) -> Result<(), BlobError> {
        let key = self.prefix.clone().join(OWNER);
        let place = self.place.clone();
        let taken =
            |owner: &str| BlobError::Taken { place: place.clone(), owner: owner.to_owned() };
        let known = |bytes: Vec<u8>| match String::from_utf8_lossy(&bytes).trim() {
            known if known == owner => Ok(()),
            known => Err(taken(known)),
        };
        match self.read(&key, OWNER)? {
            Some(bytes) => return known(bytes),
            None if !self.list()?.is_empty() => return Err(taken("nobody known")),
            None => {}
        }
        if !self.create(&key, format!("{owner}\n").as_bytes())? {
            // Somebody was quicker.
            return known(self.read(&key, OWNER)?.unwrap_or_default());
        }
        Ok(())
    }

    fn put_if_absent(&mut self, bytes: &[u8]) -> Result<String, BlobError> {
        let name = blake3::hash(bytes).to_hex().to_string();
        check_size(&name, bytes.len() as u64)?;
        let (key, size) = (self.key(&name), bytes.len() as u64);
        // Asked first, so that what is there is not sent again.
        let mut there = self.size(&key)?;
        if there.is_none() && !self.create(&key, bytes)? {
            there = self.size(&key)?;
        }
        match there {
            Some(found) if found != size => self.get(&name).map(|_| name),
            _ => Ok(name),
        }
    }

    fn list(&mut self) -> Result<Vec<Kept>, BlobError> {
        let listed = self
            .runtime
            .block_on(self.store.list_with_delimiter(Some(&self.prefix)))
            .map_err(|error| self.away(&error))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut kept: Vec<Kept> = listed
            .objects
            .into_iter()
            .filter_map(|object| {
                let name =
                    object.location.filename()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
                check_name(name).ok()?;
                let written = u64::try_from(object.last_modified.timestamp()).unwrap_or(0);
                let age = now.saturating_sub(Duration::from_secs(written));
                Some(Kept { name: name.to_owned(), bytes: object.size, age })
            })
            .collect();
        kept.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(kept)
    }

    fn delete(&mut self, name: &str) -> Result<(), BlobError> {
        check_name(name)?;
        match self.runtime.block_on(self.store.delete(&self.key(name))) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.away(&error)),
        }
    }
}

/// Whether an endpoint is on this machine, where nobody else reads along.
fn is_here(endpoint: &str) -> bool {
    let host = |rest: &str| {
        let host = rest.split('/').next().unwrap_or_default();
        host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned()
    };
    endpoint
        .strip_prefix("http://")
        .is_some_and(|rest| matches!(host(rest).as_str(), "localhost" | "127.0.0.1" | "[::1]"))
}

/// An error with its causes, on one line.
fn told(place: &str, error: &dyn std::error::Error) -> String {
    let mut text = format!("{place}: {error}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(600) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
