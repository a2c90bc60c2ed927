-- Networks that workers say came damaged, one row for each of them; a process that hands networks out
-- looks into it and deletes the rows.
CREATE TABLE damaged_networks (
    network TEXT    NOT NULL REFERENCES networks (id),
    worker  TEXT    NOT NULL REFERENCES workers (name),
    why     TEXT    NOT NULL,                   -- what came, as the worker tells it
    at_us   INTEGER NOT NULL,                   -- when it said so last
    PRIMARY KEY (network, worker)
) STRICT, WITHOUT ROWID;
