//! The project's tasks: `cargo xtask <task>`.
//!
//! One file a task; what a task does to the machine (what it installs, what it writes) stands in its first lines.

mod bench;
mod bundle;
mod demo;
mod dependency;
mod gate;
mod profile;
mod ptx;
mod resources;
mod workspace;

use std::path::PathBuf;

mod flags {
    use super::PathBuf;

    xflags::xflags! {
        /// The project's tasks.
        cmd xtask {
            /// Simulates an acquisition, or reads one, and reconstructs a picture.
            cmd demo {
                /// A plane-wave acquisition in a MATLAB 5 file instead of the simulation.
                optional --input file: PathBuf
                /// Folder of the results (default: out).
                optional --output folder: PathBuf
            }
            /// The whole gate: format, lints, documentation, PTX, all tests, a program that depends on the library.
            cmd test {
                /// One part alone: format, lints, docs, ptx, tests, dependency; or of the tests emulator.
                optional --only part: String
            }
            /// Compiles the kernels to PTX, and writes what they take into benches/results/kernel-resources.json.
            cmd ptx {
                /// Writes nothing, and fails if the committed files do not belong to the sources.
                optional --check
                /// Prints the machine code of one kernel instead.
                optional --sass kernel: String
            }
            /// Puts tests, benchmarks and what they read into target/gpu-bundle, for a GPU machine without Rust.
            cmd bundle {}
            /// Times reconstructions and writes benches/results; `cargo xtask bench --help` has the arguments.
            cmd bench {
                repeated arguments: String
            }
            /// Makes BENCHMARKS.md and the pictures from benches/results; `cargo xtask report --help` has the arguments.
            cmd report {
                repeated arguments: String
            }
            /// Hardware counters of our kernels; `cargo xtask profile --help` has the arguments.
            cmd profile {
                repeated arguments: String
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // Their arguments are the benchmark's.
    match arguments.split_first() {
        Some((task, rest)) if task == "bench" => return bench::run(rest),
        Some((task, rest)) if task == "report" => return bench::report(rest),
        Some((task, rest)) if task == "profile" => return profile::run(rest),
        _ => {}
    }
    let flags = flags::Xtask::from_env_or_exit();
    match flags.subcommand {
        flags::XtaskCmd::Demo(demo) => demo::run(&demo::Flags {
            input: demo.input,
            output: demo.output.unwrap_or_else(|| PathBuf::from("out")),
        }),
        flags::XtaskCmd::Test(test) => gate::run(test.only.as_deref()),
        flags::XtaskCmd::Ptx(ptx) => ptx::run(ptx.check, ptx.sass.as_deref()),
        flags::XtaskCmd::Bundle(_) => bundle::run(),
        flags::XtaskCmd::Bench(bench) => bench::run(&bench.arguments),
        flags::XtaskCmd::Report(report) => bench::report(&report.arguments),
        flags::XtaskCmd::Profile(profile) => profile::run(&profile.arguments),
    }
}
