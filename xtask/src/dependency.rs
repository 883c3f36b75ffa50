//! A program outside the workspace that depends on the library, built and run as README's "As a dependency" says.
//!
//! It is made in an empty folder, with and without the feature `cuda`; nothing of the workspace's settings reaches it.

use crate::workspace;
use anyhow::{Context, ensure};
use std::fs;
use xshell::{Shell, cmd};

/// Builds and runs the program with and without CUDA.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = workspace::root();
    let readme = fs::read_to_string(root.join("README.md")).context("README.md")?;
    let section = section(&readme)?;
    let program = block(section, "rust")?;
    let settings = block(section, "toml")?;
    for (name, features) in [("with", ""), ("without", ", default-features = false")] {
        let folder = tempfile::tempdir()?;
        let library = root.join("crates/warpbeam");
        let manifest = format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             ndarray = \"0.17\"\nwarpbeam = {{ path = {:?}{features} }}\n",
            library.display().to_string(),
        );
        fs::create_dir_all(folder.path().join("src"))?;
        fs::write(folder.path().join("Cargo.toml"), manifest)?;
        fs::write(folder.path().join("src/main.rs"), program)?;
        // The versions that were tested, not the newest.
        fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock"))?;
        if features.is_empty() {
            fs::create_dir_all(folder.path().join(".cargo"))?;
            fs::write(folder.path().join(".cargo/config.toml"), settings)?;
            fs::create_dir_all(folder.path().join("cuda/lib64"))?;
        }
        let shell = Shell::new()?;
        shell.change_dir(folder.path());
        let target = workspace::target().join("dependency");
        let output = cmd!(shell, "cargo run --quiet --target-dir {target}")
            .env_remove("CUDA_LIBRARY_PATH")
            .env_remove("CARGO_TARGET_DIR")
            .read()?;
        println!("a program {name} the feature `cuda` says: {output}");
        ensure!(
            output.contains("the brightest voxel"),
            "the program's output is not what README says"
        );
    }
    Ok(())
}

/// README's section for users of the library.
fn section(readme: &str) -> anyhow::Result<&str> {
    let start = readme
        .find("## As a dependency")
        .context("README.md has no section \"As a dependency\"")?;
    let rest = &readme[start..];
    Ok(rest[3..].find("\n## ").map_or(rest, |end| &rest[..end + 3]))
}

/// The first code block of a language.
fn block<'a>(text: &'a str, language: &str) -> anyhow::Result<&'a str> {
    let open = format!("```{language}\n");
    let start = text
        .find(&open)
        .with_context(|| format!("README.md's section has no {language} block"))?
        + open.len();
    let end = text[start..].find("```").context("a code block is not closed")?;
    Ok(&text[start..start + end])
}
