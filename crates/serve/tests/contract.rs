//! What a conversation with a run promises, as the store tells it, through HTTPS: the store's own suite, in front
//! of a run in a file and of a login on a PostgreSQL server that may call a worker's functions alone.

#![allow(clippy::unwrap_used)]

#[path = "../../store/tests/common/mod.rs"]
mod common;
mod served;

/// Makes two tests of each function that takes a fresh `Bench` and a way to talk to it.
macro_rules! conversations {
    ($($name:ident),* $(,)?) => {
        mod https_to_a_file {
            $(#[test]
            fn $name() {
                let mut bench = crate::common::Bench::sqlite();
                let served = crate::served::Served::file(&bench);
                super::$name(&mut bench, &mut served.upstream());
            })*
        }
        mod https_to_a_worker_login {
            $(#[test]
            fn $name() {
                if let Some(mut bench) = crate::common::Bench::postgres() {
                    let served = crate::served::Served::worker_login(&mut bench);
                    super::$name(&mut bench, &mut served.upstream());
                }
            })*
        }
    };
}

#[path = "../../store/tests/contract/upstream.rs"]
mod upstream;
