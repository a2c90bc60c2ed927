//! What the store promises, told once and tried on both engines: every case runs on SQLite and on a
//! PostgreSQL server that the tests start themselves.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

/// Makes two tests of each function that takes a fresh `Bench`: `sqlite::NAME` and `postgres::NAME`.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name(&mut crate::common::Bench::sqlite());
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                if let Some(mut bench) = crate::common::Bench::postgres() {
                    super::$name(&mut bench);
                }
            })*
        }
    };
}

/// Makes three tests of each function that takes a fresh `Bench` and a way to talk to it.
macro_rules! conversations {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                let mut bench = crate::common::Bench::sqlite();
                let mut upstream = bench.again();
                super::$name(&mut bench, &mut upstream);
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                if let Some(mut bench) = crate::common::Bench::postgres() {
                    let mut upstream = bench.again();
                    super::$name(&mut bench, &mut upstream);
                }
            })*
        }
        mod worker_login {
            $(#[test]
            fn $name() {
                if let Some(mut bench) = crate::common::Bench::postgres() {
                    let mut upstream = bench.worker_login();
                    super::$name(&mut bench, &mut upstream);
                }
            })*
        }
    };
}

mod books;
mod games;
mod gate;
mod imports;
mod leases;
mod model;
mod moves;
mod parties;
mod upstream;
