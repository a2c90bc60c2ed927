//! Who may do what on a server: the run's schema and its four roles.

use std::path::PathBuf;

use crate::db::postgres::Postgres;
use crate::db::{Database, Engine, Purpose, params};
use crate::{Store, StoreError};

/// Makes the run's schema where there is none, and refuses one with somebody else's tables.
pub(crate) fn prepare_schema(db: &Postgres) -> Result<(), StoreError> {
    let schema = db.schema();
    let db: &dyn Database = db;
    let sql = "SELECT count(*) FROM pg_namespace WHERE nspname = ?1";
    if db.get::<u32>(sql, params![schema])? == 0 {
        // Another process may be doing the same: whoever comes second finds it done.
        return match db.batch(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")) {
            Err(StoreError::Query(_)) if db.get::<u32>(sql, params![schema])? == 1 => Ok(()),
            made => made,
        };
    }
    let sql = "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
               WHERE nspname = ?1 AND relkind IN ('r', 'p', 'v', 'm')";
    let ours = "SELECT to_regclass('migrations') IS NOT NULL";
    if db.get::<u32>(sql, params![schema])? > 0 && !db.get::<bool>(ours, &[])? {
        return Err(StoreError::NotAStore { path: PathBuf::from(db.place()) });
    }
    Ok(())
}

/// What may be called by a worker.
const WORKER_CALLS: [&str; 8] = [
    "register_worker(text, text, text, text, bigint)",
    "run_state(text, bigint, bigint)",
    "submit_uploads(text, bytea[], bigint[], text[], bytea[], bytea[])",
    "lease_block(text)",
    "heartbeat(text, bigint, bigint, bigint)",
    "finish_block(text, bigint, bigint, bigint, bigint[], bigint[], bytea[], bytea[])",
    "network_chunk(text, bigint)",
    "report_damaged(text, text, text)",
];

/// The SQL that gives the four roles of a fleet their rights on the run in `schema`; again is harmless.
///
/// | role | may |
/// |---|---|
/// | `tengen_owner` | everything in the schema, its migrations included; the functions act as it |
/// | `tengen_trainer` | read and write the run's rows: trainer, gate, the process that settles uploads |
/// | `tengen_worker` | call the eight functions of a worker, and touch no table |
/// | `tengen_viewer` | read |
///
/// The roles cannot log in; a login gets one by `GRANT tengen_worker TO box_17`. To be run by a superuser,
/// or by somebody who may create roles and owns the schema.
#[must_use]
pub fn fleet_roles_sql(schema: &str) -> String {
    let calls: Vec<_> = WORKER_CALLS.iter().map(|call| format!("{schema}.{call}")).collect();
    let calls = calls.join(",\n    ");
    format!(
        "DO $$
DECLARE
    it TEXT;
BEGIN
    FOREACH it IN ARRAY ARRAY['tengen_owner', 'tengen_trainer', 'tengen_worker', 'tengen_viewer'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = it) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', it);
        END IF;
    END LOOP;
    GRANT tengen_owner TO CURRENT_USER;
    ALTER SCHEMA {schema} OWNER TO tengen_owner;
    -- A function acts as its owner: as this role, not as the superuser who made it.
    FOR it IN SELECT CAST(CAST(oid AS REGPROCEDURE) AS TEXT) FROM pg_proc WHERE pronamespace = CAST('{schema}' AS REGNAMESPACE) LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tengen_owner', it);
    END LOOP;
    FOR it IN SELECT CAST(CAST(oid AS REGCLASS) AS TEXT) FROM pg_class WHERE relnamespace = CAST('{schema}' AS REGNAMESPACE) AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO tengen_owner', it);
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA {schema} TO tengen_trainer, tengen_worker, tengen_viewer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO tengen_trainer;
REVOKE INSERT, UPDATE, DELETE ON {schema}.migrations FROM tengen_trainer;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO tengen_trainer;
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO tengen_viewer;
REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM tengen_worker, PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    {calls}
TO tengen_worker;
"
    )
}

impl Store {
    /// Gives the fleet's roles their rights on this run, making the roles where needed: [`fleet_roles_sql`].
    ///
    /// # Errors
    /// [`StoreError::Denied`] for a login that may not; [`StoreError::Query`] for a run in a file, which
    /// has no logins.
    pub fn grant_roles(&mut self) -> Result<(), StoreError> {
        if self.db.engine() == Engine::Sqlite {
            return Err(StoreError::Query("a run in a file has no logins".to_owned()));
        }
        let schema: String = self.db.get("SELECT CAST(current_schema() AS TEXT)", &[])?;
        let tx = self.db.transaction(Purpose::Migrate)?;
        tx.batch(&fleet_roles_sql(&schema))?;
        tx.commit()
    }
}
