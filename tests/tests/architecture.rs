//! ARCHITECTURE.md against the tree: the rooms it names are there, and its invariants hold.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder with this ending, generated ones left out.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the entry is readable").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                found.extend(files(&path, ending));
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}

/// The code of a file, without what stands behind `//`.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the file is text");
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|token| token == word)
}

/// Whether this source is here; a carried test program has none.
fn is_here() -> bool {
    let is_here = root().join("ARCHITECTURE.md").exists();
    if !is_here {
        println!("skipped: the sources are not here");
    }
    is_here
}

#[test]
fn named_places_exist() {
    if !is_here() {
        return;
    }
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is text");
    let mut checked = 0;
    for name in text.split('`').skip(1).step_by(2) {
        let is_place = ["crates/", "benches/"].iter().any(|room| name.starts_with(room));
        if is_place || ["xtask", "tests", "benches"].contains(&name) {
            assert!(
                root().join(name).exists(),
                "ARCHITECTURE.md names {name}, which is not there"
            );
            checked += 1;
        }
    }
    assert!(checked > 12, "only {checked} places were found in ARCHITECTURE.md");
}

#[test]
fn dependencies_point_down() {
    if !is_here() {
        return;
    }
    // A crate, and the crates of the workspace that it may depend on.
    let allowed: [(&str, &[&str]); 6] = [
        ("cuda_std", &[]),
        ("cuda_driver", &[]),
        ("cuda_builder", &[]),
        ("wavefield", &["cuda_std"]),
        ("kernels", &["cuda_std", "wavefield"]),
        ("warpbeam", &["cuda_driver", "cuda_std", "kernels", "wavefield"]),
    ];
    let all = [
        "cuda_builder",
        "cuda_driver",
        "cuda_std",
        "kernels",
        "warpbeam",
        "wavefield",
        "xtask",
    ];
    for (name, may_use) in allowed {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).expect("a manifest");
        for line in manifest.lines() {
            let dependency = line.split([' ', '=', '.']).next().unwrap_or_default();
            if all.contains(&dependency) && line.contains('=') && !line.starts_with("name") {
                assert!(may_use.contains(&dependency), "{name} must not depend on {dependency}");
            }
        }
    }
}

#[test]
fn unsafe_code_and_assembly_stay_in_their_rooms() {
    if !is_here() {
        return;
    }
    let crates = root().join("crates");
    let rooms = |path: &Path, rooms: &[&str]| rooms.iter().any(|room| path.starts_with(crates.join(room)));
    let mut checked = 0;
    for path in files(&crates, "rs") {
        // Tests of a crate stand beside its sources; a kernel in a text there is no code of the crate.
        if !path.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        let code = code(&path);
        checked += 1;
        let may_be_unsafe = ["cuda_std", "cuda_driver", "kernels", "warpbeam/src/device"];
        assert!(
            !has_word(&code, "unsafe") || rooms(&path, &may_be_unsafe),
            "unsafe code in {}",
            path.display()
        );
        let is_assembly = ["asm", "global_asm", "naked_asm"]
            .iter()
            .any(|name| code.contains(&format!("{name}!(")));
        assert!(
            !is_assembly || rooms(&path, &["cuda_std", "cuda_driver"]),
            "assembly in {}",
            path.display()
        );
        let asks_for_a_target = code.contains("cfg(target") || code.contains("cfg!(target");
        let is_kernel = path.starts_with(crates.join("kernels/src")) && !path.ends_with("kernels/src/lib.rs");
        assert!(
            !(asks_for_a_target && is_kernel),
            "a kernel asks for its target in {}",
            path.display()
        );
    }
    assert!(checked > 50, "only {checked} files were found");
}
