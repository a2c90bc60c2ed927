-- One file holds one run. Times are microseconds since 1970 by the database's
-- clock; JSON columns are opaque here and belong to whoever wrote them.
CREATE TABLE runs (
    run_id        INTEGER PRIMARY KEY CHECK (run_id = 1),
    uid           TEXT    NOT NULL,             -- 32 hex digits, random, part of every game id
    name          TEXT    NOT NULL,
    config_digest TEXT    NOT NULL REFERENCES configs (digest),
    seed          INTEGER NOT NULL,             -- the 64 bits of a u64, read as signed
    last_seq      INTEGER NOT NULL DEFAULT 0 CHECK (last_seq >= 0),
    trained_seq   INTEGER NOT NULL DEFAULT 0 CHECK (trained_seq >= 0),   -- the trainer's cursor
    ahead_limit   INTEGER CHECK (ahead_limit >= 0),   -- games that may lie beyond it; NULL: any number
    best          TEXT    REFERENCES networks (id),
    created_us    INTEGER NOT NULL
) STRICT;

-- Every configuration the run ever had, so that the digest in a game can be read.
CREATE TABLE configs (
    digest TEXT    PRIMARY KEY,
    text   TEXT    NOT NULL,
    at_us  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE games (
    seq           INTEGER PRIMARY KEY CHECK (seq > 0),   -- gapless: 1, 2, 3, … last_seq
    game_id       BLOB    NOT NULL UNIQUE CHECK (length(game_id) = 16),
    worker        TEXT    NOT NULL,
    counter       INTEGER NOT NULL CHECK (counter >= 0),
    network       TEXT    NOT NULL,             -- who played: a network id or "uniform"
    config_digest TEXT    NOT NULL,
    width         INTEGER NOT NULL,
    height        INTEGER NOT NULL,
    result        TEXT    NOT NULL,             -- as in SGF's RE: "B+3.5"
    moves         INTEGER NOT NULL,
    positions     INTEGER NOT NULL,             -- training targets in this game
    cumulative    INTEGER NOT NULL,             -- training targets in games 1..=seq
    payload       BLOB    NOT NULL,             -- the game blob of docs/file-formats.md
    payload_hash  BLOB    NOT NULL CHECK (length(payload_hash) = 32),   -- BLAKE3
    created_us    INTEGER NOT NULL,
    UNIQUE (worker, counter)
) STRICT;
CREATE INDEX games_by_cumulative ON games (cumulative);
CREATE INDEX games_by_network ON games (network);

CREATE TABLE networks (
    id          TEXT    PRIMARY KEY,            -- BLAKE3 of the file's bytes, hex
    parent      TEXT    REFERENCES networks (id),
    file        TEXT    NOT NULL,               -- relative to the run's folder
    step        INTEGER NOT NULL,
    games       INTEGER NOT NULL,               -- games seen by the trainer
    samples     INTEGER NOT NULL,               -- positions trained on
    status      TEXT    NOT NULL CHECK (status IN ('initial', 'candidate', 'best', 'promoted', 'rejected')),
    losses_json TEXT    NOT NULL,
    elo         REAL,
    elo_low     REAL,
    elo_high    REAL,
    created_us  INTEGER NOT NULL
) STRICT;
-- At most one network is the best one.
CREATE UNIQUE INDEX networks_one_best ON networks (status) WHERE status = 'best';

CREATE TABLE matches (
    match_id         INTEGER PRIMARY KEY,
    candidate        TEXT    NOT NULL REFERENCES networks (id),
    base             TEXT    NOT NULL REFERENCES networks (id),
    gate_config_json TEXT    NOT NULL,
    pairs_planned    INTEGER NOT NULL CHECK (pairs_planned > 0),
    verdict          TEXT,                      -- NULL while the match is open
    promoted         INTEGER CHECK (promoted IN (0, 1)),
    detail_json      TEXT,
    created_us       INTEGER NOT NULL,
    decided_us       INTEGER,
    CHECK (candidate <> base),
    CHECK ((verdict IS NULL) = (promoted IS NULL) AND (verdict IS NULL) = (decided_us IS NULL)),
    UNIQUE (candidate, base)
) STRICT;

-- A slot counts once, however often it is played.
CREATE TABLE match_games (
    match_id     INTEGER NOT NULL REFERENCES matches (match_id),
    pair         INTEGER NOT NULL CHECK (pair >= 0),
    colour       INTEGER NOT NULL CHECK (colour IN (0, 1)),            -- of the candidate: 0 Black
    points       REAL    NOT NULL CHECK (points IN (0.0, 0.5, 1.0)),   -- for the candidate
    result       TEXT    NOT NULL,
    moves        INTEGER NOT NULL,
    payload      BLOB    NOT NULL,
    payload_hash BLOB    NOT NULL CHECK (length(payload_hash) = 32),
    created_us   INTEGER NOT NULL,
    PRIMARY KEY (match_id, pair, colour)
) STRICT;

-- How the best pointer ever moved, in order.
CREATE TABLE promotions (
    promotion_id INTEGER PRIMARY KEY,
    kind         TEXT    NOT NULL CHECK (kind IN ('initial', 'match', 'hand', 'rollback')),
    network      TEXT    NOT NULL REFERENCES networks (id),
    previous     TEXT    REFERENCES networks (id),
    match_id     INTEGER UNIQUE REFERENCES matches (match_id),
    who          TEXT    NOT NULL,
    why          TEXT    NOT NULL,
    at_us        INTEGER NOT NULL,
    CHECK ((kind = 'match') = (match_id IS NOT NULL)),
    CHECK ((kind = 'initial') = (previous IS NULL))
) STRICT;
