//! Links the whole of LibTorch into `tengen` where the feature `libtorch` asks for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if std::env::var_os("CARGO_FEATURE_LIBTORCH").is_some() && is("CARGO_CFG_TARGET_OS", "linux") {
        // LibTorch's CUDA half makes itself known when it is loaded, and nothing of it is called by
        // name: a linker that drops libraries without a called symbol would drop the GPU, and
        // LibTorch would say that there is none. libtorch.so leads to all of them.
        println!("cargo:rustc-link-arg-bins=-Wl,--no-as-needed,-ltorch");
    }
}
