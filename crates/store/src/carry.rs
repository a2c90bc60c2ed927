//! A whole run from one store into another, on either engine.

use crate::copies::digest_of;
use crate::db::{Database, Engine, Param, ToParam, Value, dialect, params};
use crate::{Store, StoreError, journal, run};

/// How the rows of a table are read, page by page.
#[derive(Clone, Copy)]
enum By {
    /// Its first column, a number that grows.
    Number,
    /// These columns, which order it.
    Columns(&'static str),
}

/// Every table but the list of migrations, after those that it points to.
const TABLES: [(&str, By); 20] = [
    ("configs", By::Columns("digest")),
    ("networks", By::Columns("place")),
    ("runs", By::Number),
    ("games", By::Number),
    ("matches", By::Number),
    ("match_games", By::Columns("match_id, pair, colour")),
    ("promotions", By::Number),
    ("leases", By::Columns("name")),
    ("events", By::Number),
    ("metrics", By::Number),
    ("withdrawn", By::Columns("network")),
    ("import_files", By::Number),
    ("imported_games", By::Number),
    ("workers", By::Columns("name")),
    ("uploads", By::Number),
    ("quarantine", By::Number),
    ("damaged_networks", By::Columns("network, worker")),
    ("match_blocks", By::Columns("match_id, block")),
    ("match_uploads", By::Columns("match_id, pair, colour")),
    ("network_chunks", By::Columns("hash, chunk")),
];

/// Tables that number their rows themselves, with the column.
const NUMBERED: [(&str, &str); 7] = [
    ("matches", "match_id"),
    ("promotions", "promotion_id"),
    ("events", "event_id"),
    ("metrics", "metric_id"),
    ("import_files", "file_id"),
    ("uploads", "upload_id"),
    ("quarantine", "quarantine_id"),
];

/// Rows read at a time: a page of a megabyte a row still fits into memory.
const PAGE: u32 = 32;

/// Rows read at a time of games and other small rows.
const LONG_PAGE: u32 = 1024;

/// What was carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Rows of all tables.
    pub rows: u64,
    /// Games among them.
    pub games: u64,
    /// The run's digest, the same in both stores.
    pub digest: String,
}

impl Store {
    /// Carries the whole run into `target`, which must hold none yet: every table, one state of it, in one
    /// transaction. Others may go on working with this store; what they write later stays behind. If it
    /// ends halfway, the target is as empty as before: begin again.
    ///
    /// # Errors
    /// [`StoreError::NoRun`] here, [`StoreError::TargetInUse`] there; [`StoreError::Damaged`] if the
    /// copy's digest is another one, which leaves the target empty.
    pub fn copy_to(&self, target: &mut Self) -> Result<Carried, StoreError> {
        let from = self.snapshot()?;
        run::require(&*from)?;
        let place = target.place().to_owned();
        let to = target.write()?;
        if let Some(run) = run::read(&*to)? {
            return Err(StoreError::TargetInUse { place, run: run.name });
        }
        let (mut rows, mut games) = (0, 0);
        for (table, by) in TABLES {
            let copied = copy_table(&*from, &*to, table, by)?;
            rows += copied;
            if table == "games" {
                games = copied;
            }
        }
        if to.engine() == Engine::Postgres {
            for (table, column) in NUMBERED {
                to.query(&dialect::count_on(table, column), &[])?;
            }
        }
        let (digest, copy) = (digest_of(&*from)?, digest_of(&*to)?);
        if digest != copy {
            let reason = format!("the copy's digest is {copy}, the original's {digest}");
            return Err(StoreError::Damaged { reason });
        }
        journal::note(&*to, "moved", &format!(r#"{{"games":{games},"digest":"{digest}"}}"#))?;
        to.commit()?;
        Ok(Carried { rows, games, digest })
    }
}

fn copy_table(
    from: &dyn Database,
    to: &dyn Database,
    table: &str,
    by: By,
) -> Result<u64, StoreError> {
    let (sql, page) = match by {
        By::Number => {
            let first = first_column(table);
            (
                format!("SELECT * FROM {table} WHERE {first} > ?1 ORDER BY {first} LIMIT ?2"),
                LONG_PAGE,
            )
        }
        By::Columns(columns) => {
            (format!("SELECT * FROM {table} ORDER BY {columns} LIMIT ?2 OFFSET ?1"), PAGE)
        }
    };
    let (mut copied, mut after) = (0_u64, 0_i64);
    loop {
        let rows: Vec<Vec<Value>> = from.rows(&sql, params![after, page], |row| Ok(row.take()))?;
        let Some(last) = rows.last() else { return Ok(copied) };
        after = match (by, last.first()) {
            (By::Number, Some(Value::Int(number))) => *number,
            _ => after + rows.len() as i64,
        };
        copied += rows.len() as u64;
        insert(to, table, &rows)?;
    }
}

/// The column that numbers a table.
fn first_column(table: &str) -> &'static str {
    match table {
        "runs" => "run_id",
        "games" => "seq",
        "imported_games" => "import_seq",
        _ => NUMBERED.iter().find(|(name, _)| *name == table).map_or("rowid", |(_, column)| column),
    }
}

/// Many rows a statement: a server far away answers once for all of them.
fn insert(to: &dyn Database, table: &str, rows: &[Vec<Value>]) -> Result<(), StoreError> {
    const TOGETHER: usize = 32;
    for group in rows.chunks(TOGETHER) {
        let width = group.first().map_or(0, Vec::len);
        let mut sql = format!("INSERT INTO {table} VALUES ");
        for row in 0..group.len() {
            let marks: Vec<_> = (1..=width).map(|k| format!("?{}", row * width + k)).collect();
            sql.push_str(if row == 0 { "(" } else { ", (" });
            sql.push_str(&marks.join(", "));
            sql.push(')');
        }
        let values: Vec<Param<'_>> = group.iter().flatten().map(ToParam::to_param).collect();
        to.execute(&sql, &values)?;
    }
    Ok(())
}
