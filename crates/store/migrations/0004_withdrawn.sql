-- Networks whose games are trained on no more: a rollback may take the games along. The games stay.
CREATE TABLE withdrawn (
    network TEXT    PRIMARY KEY REFERENCES networks (id),
    who     TEXT    NOT NULL,
    why     TEXT    NOT NULL,
    at_us   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
