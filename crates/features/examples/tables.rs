//! Prints the tables of `docs/features.md`, which a test holds to them.

fn main() {
    for set in tengen_features::FeatureSet::ALL {
        println!("## `{}`\n\n{}", set.name(), set.markdown());
    }
}
