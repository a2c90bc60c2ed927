-- What keeps a run going beside its data: leases, a diary, measurements.
CREATE TABLE leases (
    name     TEXT    PRIMARY KEY,
    holder   TEXT    NOT NULL,
    epoch    INTEGER NOT NULL CHECK (epoch > 0),   -- the fencing number: only grows
    until_us INTEGER NOT NULL                      -- 0 once released
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    event_id    INTEGER PRIMARY KEY,
    at_us       INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    detail_json TEXT    NOT NULL
) STRICT;

CREATE TABLE metrics (
    metric_id INTEGER PRIMARY KEY,
    step      INTEGER NOT NULL,
    at_us     INTEGER NOT NULL,
    json      TEXT    NOT NULL
) STRICT;
