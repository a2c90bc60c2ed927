//! The costly half of an import: files to checked and packed games, on any number of threads.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use tengen_record::sgf::{SgfError, SgfGame, SgfTree, for_each_tree};
use tengen_rules::Rules;
use tengen_store::{FileHash, ImportBatch, ImportGame, ImportProgress};

use crate::stop::Stop;

/// Games that are sent to the store at a time: a crash costs no more of a file's work.
const GAMES_A_BATCH: u64 = 256;

/// A game, or a whole file, that was left out.
pub struct Refusal {
    /// The file.
    pub file: String,
    /// Its place in the file, from 1; `None`: the file could not be read.
    pub game: Option<u64>,
    /// Its line and column, where it has one.
    pub place: Option<(u32, u32)>,
    /// Why.
    pub error: String,
}

/// What a reader hands over.
pub struct Chunk {
    /// Games to store; `None` for a file that is stored already or can't be read.
    pub batch: Option<ImportBatch>,
    /// What was left out on the way.
    pub refusals: Vec<Refusal>,
    /// Bytes of the file that this chunk ends, for the progress bar.
    pub bytes: u64,
    /// Whether the file was stored before, whole.
    pub known: bool,
}

/// What all readers share.
pub struct Reader<'a> {
    /// The files, taken in order.
    pub files: &'a [PathBuf],
    /// The next file.
    pub next: AtomicUsize,
    /// How far earlier imports came.
    pub known: HashMap<FileHash, ImportProgress>,
    /// Rules for games that name none.
    pub rules: Rules,
    /// When to end early.
    pub stop: &'a Stop,
}

impl Reader<'_> {
    /// Reads files until there are none left, the stop comes or nobody listens any more.
    pub fn run(&self, chunks: &SyncSender<Chunk>) {
        while let Some(path) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.stop.now() || self.read(path, chunks).is_break() {
                return;
            }
        }
    }

    fn read(&self, path: &Path, chunks: &SyncSender<Chunk>) -> ControlFlow<()> {
        let name = path.display().to_string();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let refusal =
                    Refusal { file: name, game: None, place: None, error: error.to_string() };
                let refusals = vec![refusal];
                return send(chunks, Chunk { batch: None, refusals, bytes: 0, known: false });
            }
        };
        let hash = *blake3::hash(&bytes).as_bytes();
        let progress = self.known.get(&hash).copied().unwrap_or_default();
        let size = bytes.len() as u64;
        if progress.complete {
            return send(chunks, Chunk { batch: None, refusals: vec![], bytes: size, known: true });
        }
        let from = progress.done;
        let start = |from| ImportBatch {
            hash,
            path: name.clone(),
            from,
            to: from,
            games: Vec::new(),
            complete: false,
        };
        let (mut batch, mut refusals) = (start(from), Vec::new());
        let mut index = 0;
        let mut flow = ControlFlow::Continue(());
        for_each_tree(&bytes, |tree| {
            if index >= from {
                match pack(tree, index, self.rules) {
                    Ok(game) => batch.games.push(game),
                    Err((place, error)) => {
                        refusals.push(Refusal {
                            file: name.clone(),
                            game: Some(index + 1),
                            place,
                            error,
                        });
                    }
                }
                batch.to = index + 1;
            }
            index += 1;
            if batch.to - batch.from >= GAMES_A_BATCH {
                let full = std::mem::replace(&mut batch, start(index));
                let refusals = std::mem::take(&mut refusals);
                flow = send(chunks, Chunk { batch: Some(full), refusals, bytes: 0, known: false });
                if self.stop.now() {
                    flow = ControlFlow::Break(());
                }
            }
            flow
        });
        if flow.is_break() {
            return flow;
        }
        batch.complete = true;
        send(chunks, Chunk { batch: Some(batch), refusals, bytes: size, known: false })
    }
}

fn send(chunks: &SyncSender<Chunk>, chunk: Chunk) -> ControlFlow<()> {
    match chunks.send(chunk) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Replays a game by its own rules, or by `rules`, and packs it.
fn pack(
    tree: Result<SgfTree, SgfError>,
    index: u64,
    rules: Rules,
) -> Result<ImportGame, (Option<(u32, u32)>, String)> {
    let game = tree.and_then(|tree| SgfGame::from_tree(&tree));
    let record = game.and_then(|game| game.to_sound_record(rules)).map_err(|error| {
        let place = error.place();
        (Some((place.line, place.column)), error.message())
    })?;
    Ok(ImportGame::pack(index, &record))
}
