//! Shows the linker an empty `libcuda.a`.
//!
//! `cust` asks the linker for libcuda. The symbols are in this crate, so an archive without any satisfies the request, and
//! the finished program does not ask the loader for a driver.

use std::path::Path;

fn main() {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR for build scripts");
    println!(
        "cargo::rustc-link-search=native={}",
        Path::new(&manifest).join("toolkit/lib64").display()
    );
    println!("cargo::rerun-if-changed=build.rs");
}
