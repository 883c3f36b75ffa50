//! `cargo xtask bundle`: tests and benchmarks for a GPU machine that has no Rust.
//!
//! Writes `target/gpu-bundle`: compressed programs, the data that tests read, what kernels take, and `run.sh`.

use crate::workspace;
use anyhow::{Context, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};
use xshell::{Shell, cmd};

/// Most bytes that a bundle may have.
const LIMIT_BYTES: u64 = 60_000_000;

/// Data of real acquisitions that tests read, where they are at hand.
const DATA: [&str; 2] = ["PWI_disk.mat", "pwi_disk_pymust.npz"];

const RUN: &str = r#"#!/usr/bin/env bash
# Runs the bundle: `run.sh` all tests, `run.sh test PATTERN` some of them; `run.sh bench ...` times and
# `run.sh profile ...` counts, each with the benchmark's arguments. Both write results/*.json, BENCHMARKS.md and figures/
# into $WARPBEAM_OUTPUT, or beside this script.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export WARPBEAM_TEST_DATA="$here/data"
output=${WARPBEAM_OUTPUT:-$here}
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
unpack() {
    gzip -dc "$here/$1.gz" >"$programs/$1" && chmod +x "$programs/$1"
}
report() {
    mkdir -p "$output/results"
    cp "$here/kernel-resources.json" "$output/results/" 2>/dev/null
    (cd "$output" && "$programs/bench" report --results results --figures figures)
}
case "${1:-}" in
bench)
    shift
    unpack bench || exit
    "$programs/bench" --output "$output/results" "$@"
    status=$?
    report
    exit "$status"
    ;;
profile)
    shift
    unpack bench || exit
    "$programs/bench" profile --output "$output/results" "$@"
    status=$?
    if [ "$status" = 3 ]; then
        echo "The emulator counts sectors and requests instead, on a part of the case:"
        unpack emulator && "$programs/emulator" payload --nocapture
        exit
    fi
    report
    exit "$status"
    ;;
test) shift ;;
esac
failed=0
for packed in "$here"/*.gz; do
    name=$(basename "$packed" .gz)
    [ "$name" = bench ] && continue
    echo "== $name"
    { unpack "$name" && "$programs/$name" --include-ignored "$@"; } || failed=$((failed + 1))
done
echo "$failed test programs failed"
exit "$failed"
"#;

/// Builds the bundle.
pub(crate) fn run() -> anyhow::Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    let folder = workspace::target().join("gpu-bundle");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("data"))?;

    let profile = ["--profile", "bundle"];
    let messages = cmd!(
        shell,
        "cargo test {profile...} --no-run --message-format=json --package integration-tests --package warpbeam"
    )
    .read()?;
    for (name, program) in test_programs(&messages)? {
        pack(&program, &folder.join(format!("{name}.gz")))?;
    }
    cmd!(shell, "cargo build {profile...} --package warpbeam-bench").run()?;
    pack(&workspace::target().join("bundle/bench"), &folder.join("bench.gz"))?;
    fs::copy(
        workspace::root().join("benches/results/kernel-resources.json"),
        folder.join("kernel-resources.json"),
    )?;
    for name in DATA {
        let source = workspace::root().join("../shared/data").join(name);
        if source.exists() {
            // Read and write: the copy must not inherit a read-only mode.
            fs::write(folder.join("data").join(name), fs::read(source)?)?;
        } else {
            println!(
                "without {name}: {} is not here, and the tests that read it will skip",
                source.display()
            );
        }
    }
    let script = folder.join("run.sh");
    fs::write(&script, RUN)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;

    let bytes = size(&folder)?;
    println!("{}: {:.1} MB", folder.display(), bytes as f64 / 1e6);
    ensure!(
        bytes < LIMIT_BYTES,
        "the bundle has {bytes} bytes; it must stay under {LIMIT_BYTES}"
    );
    Ok(())
}

/// The test programs in cargo's messages, each with its target's name.
fn test_programs(messages: &str) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: serde_json::Value = serde_json::from_str(line).context("cargo's message")?;
        if let (Some(program), Some(name), Some(true)) = (
            message["executable"].as_str(),
            message["target"]["name"].as_str(),
            message["profile"]["test"].as_bool(),
        ) {
            programs.push((name.to_owned(), PathBuf::from(program)));
        }
    }
    ensure!(!programs.is_empty(), "cargo built no test program");
    Ok(programs)
}

/// A program, compressed: `run.sh` unpacks what it runs.
fn pack(program: &Path, packed: &Path) -> anyhow::Result<()> {
    let mut from = fs::File::open(program).with_context(|| program.display().to_string())?;
    let mut to = GzEncoder::new(fs::File::create(packed)?, Compression::best());
    io::copy(&mut from, &mut to)?;
    to.finish()?;
    Ok(())
}

fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}
