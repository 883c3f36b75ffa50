//! Times reconstructions of the standard cases and keeps the figures in `benches/results/<device>.json`.
//!
//! Times are those of the device (events on its stream), data and output on the device, host copies excluded; after
//! warm-up runs, median, minimum and maximum of the rest. A sample of voxels is compared with a direct sum in double
//! precision in the same run.

mod cases;
mod measure;
mod reference;
mod results;

use anyhow::bail;
use half::f16;
use num_complex::Complex;
use std::path::PathBuf;
use warpbeam::{Algorithm, Backend};

mod flags {
    use super::PathBuf;

    xflags::xflags! {
        /// Times delay-and-sum on the standard cases.
        cmd bench {
            /// Cases to run, separated by commas (default: all that the backend can hold).
            optional --case names: String
            /// Storage of the samples: f32, f16, i16 or f64 (default: f32).
            optional --storage name: String
            /// voxel, batch or auto (default: auto).
            optional --algorithm name: String
            /// cpu or cuda (default: the best there is).
            optional --backend name: String
            /// Timed runs (default: 10).
            optional --runs count: usize
            /// Folder of the results (default: benches/results).
            optional --output folder: PathBuf
        }
    }
}

fn main() -> anyhow::Result<()> {
    let flags = flags::Bench::from_env_or_exit();
    let backend = match flags.backend.as_deref() {
        None => Backend::best(),
        Some("cpu") => Backend::cpu(),
        Some("cuda") => Backend::cuda(0)?,
        Some(other) => bail!("there is no backend {other:?}; cpu and cuda are possible"),
    };
    let chosen = cases::named(flags.case.as_deref())?;
    let runs = flags.runs.unwrap_or(10);
    let algorithm_name = flags.algorithm.as_deref().unwrap_or("auto");
    let algorithm = match algorithm_name {
        "voxel" => Algorithm::Voxel,
        "batch" => Algorithm::Batch,
        "frame" => Algorithm::Frame,
        "distinct" => Algorithm::Distinct,
        "window" => Algorithm::Window,
        "auto" => Algorithm::Auto,
        other => bail!("there is no algorithm {other:?}; voxel, batch and auto are possible"),
    };
    let storage = flags.storage.as_deref().unwrap_or("f32");
    let mut file = results::File::open(
        &flags.output.unwrap_or_else(|| PathBuf::from("benches/results")),
        &backend,
    )?;
    println!("{} ({})", backend.name(), env!("WARPBEAM_COMMIT"));
    println!(
        "{:<8} {:<12} {:>12} {:>14} {:>10}",
        "case", "variant", "ms", "10^12 pts/s", "error"
    );
    for case in chosen {
        let measured = match (storage, case.is_iq()) {
            ("f32", true) => measure::run::<Complex<f32>>(&backend, case, algorithm, runs)?,
            ("f32", false) => measure::run::<f32>(&backend, case, algorithm, runs)?,
            ("f16", true) => measure::run::<Complex<f16>>(&backend, case, algorithm, runs)?,
            ("f16", false) => measure::run::<f16>(&backend, case, algorithm, runs)?,
            ("i16", true) => measure::run::<Complex<i16>>(&backend, case, algorithm, runs)?,
            ("i16", false) => measure::run::<i16>(&backend, case, algorithm, runs)?,
            ("f64", true) => measure::run::<Complex<f64>>(&backend, case, algorithm, runs)?,
            ("f64", false) => measure::run::<f64>(&backend, case, algorithm, runs)?,
            (other, _) => bail!("there is no storage {other:?}; f32, f16, i16 and f64 are possible"),
        };
        let variant = format!("{algorithm_name}-{storage}");
        println!(
            "{:<8} {:<12} {:>12.3} {:>14.4} {:>10.2e}",
            case.name,
            variant,
            measured.median_ms(),
            measured.points as f64 / measured.median_ms() / 1e9,
            measured.relative_error,
        );
        file.insert(results::Run::new("das", case.name, &variant, &measured));
        file.write()?;
    }
    Ok(())
}
