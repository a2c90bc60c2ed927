//! What `tengen bench rules` measures, without building the rest of the binary.

#[path = "../../cli/src/bench_rules.rs"]
mod bench_rules;

fn main() -> anyhow::Result<()> {
    println!("{:#}", bench_rules::measure(9, 200)?);
    Ok(())
}
