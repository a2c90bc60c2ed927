-- Games from elsewhere (SGF files). They have tables and numbers of their own: whatever reads
-- `games` (self-play's window, the trainer's cursor, the counts) cannot come upon one.
CREATE TABLE import_files (
    file_id    INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),   -- BLAKE3 of the file's bytes
    path       TEXT    NOT NULL,                -- where it was first found
    done       INTEGER NOT NULL CHECK (done >= 0),       -- games looked at: an import goes on here
    refused    INTEGER NOT NULL CHECK (refused >= 0),    -- of those, broken or illegal ones
    repeated   INTEGER NOT NULL CHECK (repeated >= 0),   -- of those, games that were stored before
    complete   INTEGER NOT NULL CHECK (complete IN (0, 1)),
    created_us INTEGER NOT NULL
) STRICT;

CREATE TABLE imported_games (
    import_seq   INTEGER PRIMARY KEY CHECK (import_seq > 0),   -- gapless: 1, 2, 3, …
    content      BLOB    NOT NULL UNIQUE CHECK (length(content) = 16),   -- of board, stones and moves
    file_id      INTEGER NOT NULL REFERENCES import_files (file_id),
    file_index   INTEGER NOT NULL CHECK (file_index >= 0),     -- its place in the file, from 0
    black        TEXT    NOT NULL,
    white        TEXT    NOT NULL,
    width        INTEGER NOT NULL,
    height       INTEGER NOT NULL,
    result       TEXT    NOT NULL,              -- as in SGF's RE: "B+3.5"
    moves        INTEGER NOT NULL,
    payload      BLOB    NOT NULL,              -- the game blob of docs/file-formats.md
    payload_hash BLOB    NOT NULL CHECK (length(payload_hash) = 32),   -- BLAKE3
    created_us   INTEGER NOT NULL
) STRICT;
