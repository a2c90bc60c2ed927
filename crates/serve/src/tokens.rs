//! Who may call: a file with a line `NAME HASH` for each token, the BLAKE3 hash of it in hexadecimal. The
//! token itself is nowhere but with its holder, so who reads the file cannot call.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ServeError;
use crate::watched::Watched;

/// Letters of a name, at most.
const MAX_NAME: usize = 64;
/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The list of tokens, read again whenever its file changes: a line removed revokes its token at once. One name
/// may have several tokens, so that a new one can be handed out before the old one goes.
///
/// A file that is gone holds no token. A file that cannot be read, or with a line that is none, changes
/// nothing until it is put right; the log says so.
#[derive(Debug)]
pub struct Tokens {
    list: Mutex<List>,
}

#[derive(Debug)]
struct List {
    file: Watched,
    known: Vec<(Arc<str>, blake3::Hash)>,
    /// What the log was told of the file.
    complaint: String,
}

impl Tokens {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`ServeError::File`]; [`ServeError::Tokens`] with the line that is none.
    pub fn open(path: &Path) -> Result<Self, ServeError> {
        let mut file = Watched::new(path);
        file.changed();
        let known = read(path)?;
        Ok(Self { list: Mutex::new(List { file, known, complaint: String::new() }) })
    }

    /// Whose token this is; `None` for one that is not on the list.
    #[must_use]
    pub fn holder(&self, token: &str) -> Option<Arc<str>> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.refresh();
        let hash = blake3::hash(token.as_bytes());
        let mut holder = None;
        // Every line is compared, each in constant time: how long it takes tells nothing.
        for (name, known) in &list.known {
            if *known == hash {
                holder = Some(Arc::clone(name));
            }
        }
        holder
    }

    /// How many tokens there are.
    #[must_use]
    pub fn count(&self) -> usize {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.refresh();
        list.known.len()
    }
}

impl List {
    fn refresh(&mut self) {
        if !self.file.changed() {
            return;
        }
        let complaint = match read(self.file.path()) {
            Ok(known) => {
                self.known = known;
                String::new()
            }
            Err(ServeError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                self.known.clear();
                format!("{} is gone: no token is taken", self.file.path().display())
            }
            Err(error) => format!("the tokens of before go on being taken: {error}"),
        };
        if !complaint.is_empty() && complaint != self.complaint {
            tracing::error!("{complaint}");
        }
        self.complaint = complaint;
    }
}

fn read(path: &Path) -> Result<Vec<(Arc<str>, blake3::Hash)>, ServeError> {
    let text = fs::read_to_string(path).map_err(file_error(path))?;
    let mut known = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let refused =
            |reason: String| ServeError::Tokens { path: path.to_owned(), line: number, reason };
        let (name, hash) =
            line.split_once(char::is_whitespace).ok_or_else(|| refused("one word".to_owned()))?;
        check_name(name).map_err(refused)?;
        let hash = blake3::Hash::from_hex(hash.trim())
            .map_err(|error| refused(format!("the hash: {error}")))?;
        known.push((Arc::from(name), hash));
    }
    Ok(known)
}

fn check_name(name: &str) -> Result<(), String> {
    let sound = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(sound) {
        return Ok(());
    }
    Err(format!("the name {name:?}: use 1 to {MAX_NAME} of A-Z a-z 0-9 . _ -"))
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> ServeError {
    let path = path.to_owned();
    move |source| ServeError::File { path: path.clone(), source }
}

/// Makes a token of 32 random bytes for `name`, appends its hash to the file at `path`, which is made where there
/// is none (for its owner's eyes alone), and returns the token, 64 hexadecimal digits.
///
/// # Errors
/// [`ServeError::File`]; [`ServeError::Tokens`] for a name that is none or a file that is no list of tokens;
/// [`ServeError::NoRandomness`].
pub fn add_token(path: &Path, name: &str) -> Result<String, ServeError> {
    let refused = |reason| ServeError::Tokens { path: path.to_owned(), line: 0, reason };
    check_name(name).map_err(refused)?;
    let before = match fs::read_to_string(path) {
        Ok(text) => {
            read(path)?;
            text
        }
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(file_error(path)(error)),
    };
    let mut random = [0; TOKEN_BYTES];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut random).map_err(|_| ServeError::NoRandomness)?;
    let mut token = String::new();
    for byte in random {
        write!(token, "{byte:02x}").expect("a string takes any text");
    }
    let hash = blake3::hash(token.as_bytes()).to_hex();
    let open = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One write, so that a running server sees the line whole.
    let line = format!("{open}{name} {hash}\n");
    options
        .open(path)
        .and_then(|mut file| {
            file.write_all(line.as_bytes())?;
            file.sync_all()
        })
        .map_err(file_error(path))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_and_stands_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let first = add_token(&path, "box-17").unwrap();
        let tokens = Tokens::open(&path).unwrap();
        let second = add_token(&path, "box-18").unwrap();
        assert_eq!((first.len(), tokens.count()), (64, 2));
        assert_eq!(tokens.holder(&first).as_deref(), Some("box-17"));
        assert_eq!(tokens.holder(&second).as_deref(), Some("box-18"));
        for wrong in ["", "x", &first[1..], &first.to_uppercase(), &format!("{first} ")] {
            assert_eq!(tokens.holder(wrong), None, "{wrong}");
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&first) && text.lines().count() == 2, "{text}");
        for bad in ["", "a b", "a\nb", "é", &"x".repeat(65), "/"] {
            assert!(matches!(add_token(&path, bad), Err(ServeError::Tokens { .. })), "{bad:?}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_line_removed_revokes_at_once_and_a_damaged_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let (old, new) = (add_token(&path, "box").unwrap(), add_token(&path, "box").unwrap());
        let tokens = Tokens::open(&path).unwrap();
        assert!(tokens.holder(&old).is_some() && tokens.holder(&new).is_some());
        let text = fs::read_to_string(&path).unwrap();
        let last = text.lines().last().unwrap();
        fs::write(&path, format!("# one has gone\n\n{last}\n")).unwrap();
        assert_eq!(tokens.holder(&old), None);
        assert!(tokens.holder(&new).is_some());
        fs::write(&path, format!("{last}\nbox c0ffee\n")).unwrap();
        assert!(tokens.holder(&new).is_some(), "as before");
        let refused = Tokens::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 2") && refused.contains("tengen serve token"), "{refused}");
        fs::remove_file(&path).unwrap();
        assert_eq!((tokens.holder(&new), tokens.count()), (None, 0));
        // And without a line's end, as editors leave it.
        fs::write(&path, last).unwrap();
        assert!(tokens.holder(&new).is_some());
        let another = add_token(&path, "other").unwrap();
        assert!(tokens.holder(&new).is_some() && tokens.holder(&another).is_some());
    }
}
