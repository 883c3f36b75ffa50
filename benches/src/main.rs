//! Times reconstructions, profiles them, and makes documents and pictures of the figures.
//!
//! `time` keeps its figures in `benches/results/<device>.json`, `profile` in `<device>-profile.json`; `report` makes
//! `BENCHMARKS.md` and the pictures from those files and from nothing else.

mod against;
mod cases;
mod data;
mod figures;
mod geometry;
mod machine;
mod measure;
mod operations;
mod peers;
mod profile;
mod reference;
mod report;
mod results;
mod storage;
mod summary;
mod sweeps;
mod time;

use std::path::PathBuf;

mod flags {
    use super::PathBuf;

    xflags::xflags! {
        /// Measures delay-and-sum and the operations around it.
        cmd bench {
            /// Times cases and adds the figures to the results file of this device.
            default cmd time {
                /// Cases, separated by commas: a standard case, a sweep (ex64/batch), a point of one (ex64/batch=16), or
                /// `operations` for those beside delay-and-sum. Default: all standard cases and sweeps that the device
                /// does in seconds, on a GPU the operations too.
                optional --case names: String
                /// Algorithms, separated by commas: voxel, frame, batch, distinct, window, auto (default: all but
                /// auto).
                optional --algorithm names: String
                /// Storages of the samples, separated by commas: f32, f16, i16, f64 (default: all; f32 and f16 for sweeps).
                optional --storage names: String
                /// cpu or cuda (default: the best there is).
                optional --backend name: String
                /// Most timed runs a variant (default: 20).
                optional --runs count: usize
                /// Two cases, two storages, few runs.
                optional --quick
                /// Times other libraries on the same cases, in turn with ours, as far as they are installed.
                optional --peers
                /// Fails when a case is 10 % slower than in this file, beyond the spread.
                optional --against file: PathBuf
                /// Folder of the results (default: benches/results).
                optional --output folder: PathBuf
            }
            /// Hardware counters of our kernels, by Nsight Compute.
            cmd profile {
                /// Cases, separated by commas (default: ex64).
                optional --case names: String
                /// Algorithms, separated by commas (default: all but auto).
                optional --algorithm names: String
                /// Storages, separated by commas (default: f32, f16).
                optional --storage names: String
                /// Folder of the results (default: benches/results).
                optional --output folder: PathBuf
            }
            /// Makes the document and the pictures from the files of results.
            cmd report {
                /// Folder of the results (default: benches/results).
                optional --results folder: PathBuf
                /// The document (default: BENCHMARKS.md).
                optional --document file: PathBuf
                /// Folder of the pictures (default: benches/figures).
                optional --figures folder: PathBuf
                /// Writes nothing, and fails where document or pictures do not belong to the files.
                optional --check
            }
            /// Runs a variant once and writes nothing: for a profiler to watch.
            cmd once {
                required --case name: String
                required --algorithm name: String
                required --storage name: String
                /// cpu or cuda (default: the best there is).
                optional --backend name: String
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    match flags::Bench::from_env_or_exit().subcommand {
        flags::BenchCmd::Time(flags) => time::run(&flags),
        flags::BenchCmd::Profile(flags) => profile::run(&flags),
        flags::BenchCmd::Report(flags) => report::run(&flags),
        flags::BenchCmd::Once(flags) => profile::once(&flags),
    }
}

/// Where results are kept unless another folder is named.
fn results_folder(named: Option<&PathBuf>) -> PathBuf {
    named.cloned().unwrap_or_else(|| PathBuf::from("benches/results"))
}
