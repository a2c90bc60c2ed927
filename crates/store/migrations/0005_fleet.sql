-- What many machines need: who works, what they hand in, which pairs of a match they play, and the
-- bytes of small networks. Nothing here is believed before a trusted process has replayed it.

-- Networks in the order they were registered, on every engine.
ALTER TABLE networks ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
UPDATE networks SET place = (
    SELECT count(*) FROM networks AS other
    WHERE other.created_us < networks.created_us
       OR (other.created_us = networks.created_us AND other.step < networks.step)
       OR (other.created_us = networks.created_us AND other.step = networks.step AND other.id <= networks.id));

-- Whether workers should play.
ALTER TABLE runs ADD COLUMN mode TEXT NOT NULL DEFAULT 'running' CHECK (mode IN ('running', 'paused', 'draining'));

CREATE TABLE workers (
    name          TEXT    PRIMARY KEY,
    login         TEXT    NOT NULL,             -- the server's login that owns the name; '' in a file
    host          TEXT    NOT NULL,
    device        TEXT    NOT NULL,
    version       TEXT    NOT NULL,
    protocol      INTEGER NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('ok', 'suspect', 'blocked')),
    games         INTEGER NOT NULL CHECK (games >= 0),   -- as the worker says, since it registered
    evals         INTEGER NOT NULL CHECK (evals >= 0),   -- the same
    refused       INTEGER NOT NULL CHECK (refused >= 0), -- games of it that turned out unsound
    registered_us INTEGER NOT NULL,
    last_seen_us  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Games handed in and not yet looked at, in the order they came.
CREATE TABLE uploads (
    upload_id    INTEGER PRIMARY KEY,
    game_id      BLOB    NOT NULL CHECK (length(game_id) = 16),
    worker       TEXT    NOT NULL,
    counter      INTEGER NOT NULL CHECK (counter >= 0),
    network      TEXT    NOT NULL,
    payload      BLOB    NOT NULL,
    payload_hash BLOB    NOT NULL CHECK (length(payload_hash) = 32),
    created_us   INTEGER NOT NULL,
    UNIQUE (worker, counter)
) STRICT;

-- What was handed in and must never enter a window, with the reason.
CREATE TABLE quarantine (
    quarantine_id INTEGER PRIMARY KEY,
    game_id       BLOB    NOT NULL,             -- empty for a game of a match
    worker        TEXT    NOT NULL,
    counter       INTEGER,                      -- NULL for a game of a match
    network       TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    payload       BLOB    NOT NULL,
    payload_hash  BLOB    NOT NULL,
    created_us    INTEGER NOT NULL
) STRICT;
CREATE INDEX quarantine_by_origin ON quarantine (worker, counter);

-- The pairs of an open match in blocks of eight; the verdict removes them.
CREATE TABLE match_blocks (
    match_id   INTEGER NOT NULL REFERENCES matches (match_id),
    block      INTEGER NOT NULL CHECK (block >= 0),      -- pairs 8 * block .. 8 * block + 8
    state      TEXT    NOT NULL CHECK (state IN ('ready', 'leased', 'done', 'failed')),
    worker     TEXT    NOT NULL,                -- who has it; '' before the first
    epoch      INTEGER NOT NULL CHECK (epoch >= 0),      -- the fencing number: only grows
    attempts   INTEGER NOT NULL CHECK (attempts >= 0),   -- leases that brought nothing, in a row
    until_us   INTEGER NOT NULL,
    PRIMARY KEY (match_id, block)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_blocks_to_lease ON match_blocks (state, match_id, block);

-- Games of a match handed in and not yet looked at; a slot handed in twice keeps the newer one.
CREATE TABLE match_uploads (
    match_id     INTEGER NOT NULL REFERENCES matches (match_id),
    pair         INTEGER NOT NULL CHECK (pair >= 0),
    colour       INTEGER NOT NULL CHECK (colour IN (0, 1)),
    worker       TEXT    NOT NULL,
    payload      BLOB    NOT NULL,
    payload_hash BLOB    NOT NULL CHECK (length(payload_hash) = 32),
    created_us   INTEGER NOT NULL,
    PRIMARY KEY (match_id, pair, colour)
) STRICT, WITHOUT ROWID;

-- The bytes of networks up to 16 MB, in rows of 1 MB.
CREATE TABLE network_chunks (
    hash  TEXT    NOT NULL,                     -- BLAKE3 of the whole, hex: the network's id
    chunk INTEGER NOT NULL CHECK (chunk >= 0),
    bytes BLOB    NOT NULL CHECK (length(bytes) > 0),
    PRIMARY KEY (hash, chunk)
) STRICT;
