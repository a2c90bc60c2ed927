//! A PostgreSQL server of their own for tests: initialised in a temporary folder, reached through a
//! socket in it, and gone with the process, however that ends.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// Where Debian and Ubuntu keep a version's programs.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Stops the server and removes its folder as soon as its standard input ends, which it does when
/// the process that holds the other end is gone.
const KEEPER: &str = r#"cat > /dev/null; "$1"/pg_ctl -D "$2"/data stop -m immediate -w > /dev/null 2>&1; rm -rf "$2""#;

/// A running server that nobody else knows. Every commit of it is synced, as in earnest.
#[derive(Debug)]
pub struct PgServer {
    programs: PathBuf,
    folder: PathBuf,
    keeper: Child,
}

impl PgServer {
    /// Starts one, or says in one line on stderr why tests without it are skipped.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_in(&home())
    }

    /// As [`PgServer::start`], with its data under `folder`: on a disk, say, for a measurement.
    #[must_use]
    pub fn start_in(folder: &Path) -> Option<Self> {
        Self::try_start(folder)
            .inspect_err(|why| {
                // Past the test harness, which keeps what tests print to itself.
                let _ = writeln!(std::io::stderr(), "SKIPPED: tests on PostgreSQL: {why}");
            })
            .ok()
    }

    /// The one that all tests of this process share; each takes a schema of its own.
    #[must_use]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<PgServer>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    fn try_start(home: &Path) -> Result<Self, String> {
        let programs = programs()?;
        let folder: TempDir = tempfile::Builder::new()
            .prefix("tengen-pg-")
            .tempdir_in(home)
            .map_err(|e| e.to_string())?;
        if let Some(user) = stand_in() {
            std::os::unix::fs::chown(folder.path(), Some(user), None).map_err(|e| e.to_string())?;
        }
        let folder = folder.keep();
        let keeper = as_user("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&programs)
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .current_dir("/")
            .spawn()
            .map_err(|e| format!("sh: {e}"))?;
        let server = Self { programs, folder, keeper };
        server.call(
            "initdb",
            &["--auth=trust", "--username=tengen", "--encoding=UTF8", "--locale=C", "--no-sync"],
        )?;
        let mut settings = format!("unix_socket_directories = '{}'\n", server.folder.display());
        settings.push_str("listen_addresses = ''\nmax_connections = 100\nshared_buffers = 32MB\n");
        let file = server.folder.join("data/postgresql.auto.conf");
        fs::write(file, settings).map_err(|e| e.to_string())?;
        server.call("pg_ctl", &["start", "-w"])?;
        Ok(server)
    }

    /// The URL of the run in `schema`, with all rights.
    #[must_use]
    pub fn url(&self, schema: &str) -> String {
        self.url_of("tengen", schema)
    }

    /// The URL of the run in `schema` for another login; this server asks nobody for a password.
    #[must_use]
    pub fn url_of(&self, user: &str, schema: &str) -> String {
        format!("postgres:///postgres?host={}&user={user}&schema={schema}", self.folder.display())
    }

    /// A schema's name that no other test has.
    #[must_use]
    pub fn fresh_schema(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        format!("run_{}", NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Kills every process of the server at once, as a crash does; what was acknowledged must be there
    /// after [`PgServer::start_again`].
    ///
    /// # Errors
    /// What `pg_ctl` says.
    pub fn crash(&self) -> Result<(), String> {
        self.call("pg_ctl", &["stop", "-m", "immediate", "-w"])
    }

    /// Starts a crashed server; it repairs itself from its log first.
    ///
    /// # Errors
    /// What `pg_ctl` says.
    pub fn start_again(&self) -> Result<(), String> {
        self.call("pg_ctl", &["start", "-w"])
    }

    /// Lets the server listen on a port of this machine, with TLS and nothing else, under the name `localhost`.
    /// Returns the port and the certificate to trust.
    ///
    /// # Errors
    /// What `openssl` or `pg_ctl` says.
    pub fn serve_tls(&self) -> Result<(u16, PathBuf), String> {
        let made = |step: &str, args: &str| {
            let mut command = as_user("openssl");
            command.args(args.split(' ')).current_dir(&self.folder).stderr(Stdio::null());
            match command.stdout(Stdio::null()).status() {
                Ok(status) if status.success() => Ok(()),
                other => Err(format!("openssl, {step}: {other:?}")),
            }
        };
        let write = |name: &str, text: &str| {
            fs::write(self.folder.join(name), text).map_err(|error| error.to_string())
        };
        write("names", "subjectAltName=DNS:localhost")?;
        made(
            "authority",
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
        )?;
        made(
            "request",
            "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr",
        )?;
        made(
            "certificate",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
        )?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let home = self.folder.display();
        let mut settings = format!("unix_socket_directories = '{home}'\nport = {port}\nssl = on\n");
        settings.push_str("listen_addresses = '127.0.0.1'\n");
        settings.push_str(&format!(
            "ssl_cert_file = '{home}/server.pem'\nssl_key_file = '{home}/server.key'\n"
        ));
        write("data/postgresql.auto.conf", &settings)?;
        write("data/pg_hba.conf", "hostssl all all 127.0.0.1/32 trust\n")?;
        self.call("pg_ctl", &["restart", "-m", "fast", "-w"])?;
        Ok((port, self.folder.join("ca.pem")))
    }

    /// A client program of the server's release, such as `pg_dump`, that connects to it with all rights.
    #[must_use]
    pub fn client(&self, program: &str) -> Command {
        let mut command = as_user(self.programs.join(program));
        command.env("PGHOST", &self.folder).env("PGUSER", "tengen").env("PGDATABASE", "postgres");
        command.current_dir("/");
        command
    }

    /// The folder with the socket and the data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn call(&self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut command = as_user(self.programs.join(program));
        command.arg("-D").arg(self.folder.join("data")).args(args).current_dir("/");
        if program == "pg_ctl" {
            command.arg("-l").arg(self.folder.join("log"));
        }
        // The server inherits these; a pipe would wait for its end.
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                Err(format!("{program} {args:?}: {status}\n{log}"))
            }
            Err(error) => Err(format!("{program}: {error}")),
        }
    }
}

impl Drop for PgServer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// The newest server on this machine.
fn programs() -> Result<PathBuf, String> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            let programs = entry.path().join("bin");
            programs.join("initdb").is_file().then_some((version, programs))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, programs)| programs).ok_or_else(|| {
        format!("no server in {DEBIAN}/*/bin; `apt-get install postgresql` brings one")
    })
}

/// A folder in memory if there is room, as hundreds of tests sync thousands of times; else where
/// temporary files go. A killed server forgets neither: only a power cut would tell them apart.
fn home() -> PathBuf {
    const SHARED_MEMORY: &str = "/dev/shm";
    let df = Command::new("df").args(["--output=avail", "-BM", SHARED_MEMORY]).output();
    let told = df.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    let free = told.lines().last().and_then(|line| line.trim().trim_end_matches('M').parse().ok());
    if free.unwrap_or(0) >= 1024 { PathBuf::from(SHARED_MEMORY) } else { std::env::temp_dir() }
}

/// Whom to run the server as: it refuses to be root.
fn stand_in() -> Option<u32> {
    let id = |args: &[&str]| -> Option<u32> {
        let out = Command::new("id").args(args).stderr(Stdio::null()).output().ok()?;
        String::from_utf8(out.stdout).ok()?.trim().parse().ok()
    };
    if id(&["-u"])? != 0 {
        return None;
    }
    id(&["-u", "postgres"]).or_else(|| id(&["-u", "nobody"]))
}

fn as_user(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let Some(user) = stand_in() else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={user}")).arg("--clear-groups").arg(program);
    command
}
