//! `bench report`: the document and the pictures, from the files of results and from nothing else.
//!
//! The same files give the same bytes: nothing here asks for the time, the machine or the repository.

mod counters;
mod kernels;
mod speeds;
mod table;

use crate::figures::{self, Picture};
use crate::profile::{self, Profile};
use crate::results::{self, Results};
use crate::{flags, results_folder};
use anyhow::{Context, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The file of what kernels take, beside those of results.
const KERNELS: &str = "kernel-resources.json";

/// The files of a folder, each with its name.
struct Files {
    results: Vec<(String, Results)>,
    profiles: Vec<(String, Profile)>,
    kernels: Option<kernels::Kernels>,
}

/// A device's figures.
struct Device<'a> {
    name: &'a str,
    results: &'a Results,
    profile: Option<&'a Profile>,
    pictures: Vec<Picture>,
}

/// Writes or checks the document and the pictures.
pub(crate) fn run(flags: &flags::Report) -> anyhow::Result<()> {
    let folder = results_folder(flags.results.as_ref());
    let path = flags.document.clone().unwrap_or_else(|| PathBuf::from("BENCHMARKS.md"));
    let figures = flags
        .figures
        .clone()
        .unwrap_or_else(|| PathBuf::from("benches/figures"));
    let files = read(&folder)?;
    let devices = devices(&files);
    let text = document(&devices, files.kernels.as_ref(), &figures)?;
    if flags.check {
        return check(&devices, &text, &path, &figures);
    }
    fs::create_dir_all(&figures)?;
    for device in &devices {
        for picture in &device.pictures {
            picture.write_svg(&figures, &format!("{}-", device.name))?;
            picture.write_png(&figures, &format!("{}-", device.name))?;
        }
    }
    results::write(&path, text.as_bytes())?;
    println!("{} and the pictures in {}", path.display(), figures.display());
    Ok(())
}

/// Whether the document and the pictures belong to the files.
fn check(devices: &[Device], text: &str, path: &Path, figures: &Path) -> anyhow::Result<()> {
    let is = |path: &Path, text: &str| {
        let found = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        ensure!(
            found == text,
            "{} does not belong to the files of results: `cargo xtask report`",
            path.display()
        );
        Ok(())
    };
    is(path, text)?;
    for device in devices {
        for picture in &device.pictures {
            for (name, text) in picture.svg()? {
                is(&figures.join(format!("{}-{name}", device.name)), &text)?;
            }
        }
    }
    println!("{} and the pictures belong to the files of results", path.display());
    Ok(())
}

/// Reads a folder, in the order of file names.
fn read(folder: &Path) -> anyhow::Result<Files> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    let mut files = Files {
        results: Vec::new(),
        profiles: Vec::new(),
        kernels: None,
    };
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".json") else {
            continue;
        };
        if name == KERNELS {
            files.kernels = Some(kernels::Kernels::read(path)?);
        } else if let Some(stem) = stem.strip_suffix("-profile") {
            files.profiles.push((stem.to_owned(), profile::read(path)?));
        } else if fs::read_to_string(path)?.contains("\"runs\": [") {
            files.results.push((stem.to_owned(), Results::read(path)?));
        }
    }
    // GPUs first.
    files.results.sort_by_key(|(name, _)| name.starts_with("cpu"));
    Ok(files)
}

fn devices(files: &Files) -> Vec<Device<'_>> {
    files
        .results
        .iter()
        .map(|(name, results)| {
            let profile = files
                .profiles
                .iter()
                .find(|(of, _)| of == name)
                .map(|(_, profile)| profile);
            Device {
                name,
                results,
                profile,
                pictures: figures::of(results, profile),
            }
        })
        .collect()
}

/// The document.
fn document(devices: &[Device], kernels: Option<&kernels::Kernels>, figures: &Path) -> anyhow::Result<String> {
    let mut text = String::from(INTRODUCTION);
    for device in devices {
        speeds::write(&mut text, device)?;
        if let Some(profile) = device.profile {
            counters::write(&mut text, profile)?;
        }
        for picture in &device.pictures {
            let file = format!("{}/{}-{}", figures.display(), device.name, picture.name);
            writeln!(
                text,
                "\n<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{file}-dark.svg\">\
                 <img alt=\"{}\" src=\"{file}-light.svg\"></picture>",
                picture.title
            )?;
        }
    }
    if let Some(kernels) = kernels {
        kernels.write(&mut text)?;
    }
    Ok(text)
}

const INTRODUCTION: &str = "\
# Benchmarks

Written by `cargo xtask report` from the files in `benches/results`; do not edit it. Every figure was measured by the
tools of this repository on the machine that its section names, at the commit that its row names.

```sh
cargo xtask bench --peers    # times, into benches/results/<device>.json
cargo xtask profile --case ex64,rf-vol    # hardware counters, into benches/results/<device>-profile.json
cargo xtask ptx              # what kernels take, into benches/results/kernel-resources.json
cargo xtask report           # this page and the pictures
cargo xtask bench --against benches/results/<device>.json    # fails where a case became slower
```

For a GPU machine without Rust, `cargo xtask bundle` makes `target/gpu-bundle`; there `run.sh bench --peers` and
`run.sh profile` do the same.

What the figures mean:

- A *point* is one sample interpolated, weighted and added to one voxel: voxels × channels × transmits × frames.
- A time is the device's own, between two events around a run; data and result stay on the device. It includes the
  permutation to batch-inner order and the conversion to the storage's type. It is the median of the runs after warm-up.
- Samples are random, the same for all libraries. A sample of each result is compared with a direct sum in double
  precision of the same samples in the same run; the relative error is of that. Ours is compared with the sum of the
  samples as stored, the peers' with the sum of the `f32` samples that they were given. What is wrong does not count.
- *Best to best* compares points a second of the fastest variant of each library.
- Peers: ffdas takes the same input. mach takes one transmit a call and another order of the data, which is not timed.
  vbeam is timed by the host, on one frame. A library that is not in a table was not there when it was measured.
- A case named `ex64/batch=16` is the case `ex64` with that one quantity changed.
- Of the other operations a point is a term of a sum or a number that is moved; their sizes are those of
  `benches/src/operations.rs`. ffdas and CuPy (for `einsum` its matrix product, which is cuBLAS) get the same numbers, and
  results are compared in places with the right ones. `interpolate` is timed at points drawn at random that were prepared
  beforehand, `truncate_rank` with its decomposition on the host.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::OURS;
    use crate::results::tests::{machine, row};

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    /// The text is made as the task makes it: with paths from the root.
    #[test]
    fn the_committed_document_and_pictures_belong_to_the_files() {
        let files = read(&root().join("benches/results")).unwrap();
        let devices = devices(&files);
        let text = document(&devices, files.kernels.as_ref(), Path::new("benches/figures")).unwrap();
        check(
            &devices,
            &text,
            &root().join("BENCHMARKS.md"),
            &root().join("benches/figures"),
        )
        .unwrap();
    }

    #[test]
    fn the_same_files_give_the_same_text_with_every_library() {
        let mut results = Results::new(machine());
        for (implementation, variant, median) in [
            (OURS, "voxel-f32", 4.0),
            (OURS, "batch-f16", 2.0),
            ("ffdas-0.1.1", "alg1-f32", 8.0),
            ("ffdas-0.1.1", "alg2-f16", 5.0),
            ("mach-0.2.1", "c64", 10.0),
        ] {
            results.insert(row("vol", implementation, variant, median));
        }
        results.insert(row("ex64/batch=16", OURS, "voxel-f32", 0.5));
        results.insert(row("ex64/batch=128", OURS, "voxel-f32", 3.0));
        let files = Files {
            results: vec![("nvidia-test".into(), results)],
            profiles: Vec::new(),
            kernels: None,
        };
        let make = || document(&devices(&files), None, Path::new("figures")).unwrap();
        let text = make();
        assert_eq!(text, make());
        for expected in [
            "NVIDIA Test",
            "alg2-f16",
            "c64",
            "2.50",
            "5.00",
            "figures/nvidia-test-5-frame-rates-light.svg",
        ] {
            assert!(text.contains(expected), "no {expected:?} in\n{text}");
        }
        let pictures = devices(&files).remove(0).pictures;
        let names: Vec<_> = pictures.iter().map(|picture| picture.name.as_str()).collect();
        assert_eq!(names, ["2-scaling-ex64", "5-frame-rates"]);
        assert_eq!(pictures[0].svg().unwrap(), pictures[0].svg().unwrap());
    }
}
