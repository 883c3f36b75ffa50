//! What can go wrong, each with the offending values and what would be right.

use std::{fmt, io, path::PathBuf};

use crate::Arch;

/// A compiler that was looked at and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The compiler, or the folder in which one was looked for.
    pub path: PathBuf,
    /// Why it cannot be used.
    pub reason: String,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// Why PTX could not be built, checked or reported on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler here can generate code for the device.
    #[error("no rustc here can compile kernels. Looked at:\n{}{install}", list(looked_at))]
    NoDeviceCompiler {
        /// Everything that was looked at.
        looked_at: Vec<Rejected>,
        /// What to install on this system.
        install: String,
    },
    /// `cargo metadata` failed on the kernels crate.
    #[error("cannot read the kernels crate at {path}: {message}")]
    Metadata {
        /// The kernels crate's folder.
        path: PathBuf,
        /// What cargo said.
        message: String,
    },
    /// The kernels crate did not compile for the device.
    #[error("{package} does not compile for {arch}:\n{diagnostics}")]
    Compile {
        /// The kernels crate's package name.
        package: String,
        /// The architecture it was compiled for.
        arch: Arch,
        /// What the compiler said.
        diagnostics: String,
    },
    /// The PTX holds a path of this machine, so that it would differ on another one.
    #[error("the PTX contains the path {path} of this machine; a kernel uses `Location::caller`, `file!` or the like")]
    MachinePath {
        /// The path.
        path: String,
    },
    /// Launch bounds were given for a kernel that the PTX does not have.
    #[error("launch bounds were given for `{kernel}`, but the PTX has only [{}]", present.join(", "))]
    UnknownKernel {
        /// The kernel that bounds were given for.
        kernel: String,
        /// The kernels of the PTX.
        present: Vec<String>,
    },
    /// A kernel has no launch bounds.
    #[error("kernel `{kernel}` has no launch bounds; every kernel needs them")]
    NoLaunchBounds {
        /// The kernel.
        kernel: String,
    },
    /// Launch bounds that no device can satisfy, or that are given twice.
    #[error(
        "launch bounds ({max_threads_per_block} threads a block, {min_blocks_per_sm} blocks a multiprocessor) of \
         `{kernel}`: {expected}"
    )]
    LaunchBounds {
        /// The kernel.
        kernel: String,
        /// The threads a block that were given.
        max_threads_per_block: u32,
        /// The blocks a multiprocessor that were given.
        min_blocks_per_sm: u32,
        /// What would be right.
        expected: &'static str,
    },
    /// The text is not PTX as rustc writes it.
    #[error("not PTX as rustc writes it: {what}")]
    Ptx {
        /// What was found or is missing.
        what: String,
    },
    /// Functions of the PTX that were not inlined, so that their instructions belong to no kernel.
    #[error(
        "[{}] are called, not inlined; give them `#[inline(always)]` so that every kernel can be counted",
        functions.join(", ")
    )]
    NotInlined {
        /// The functions.
        functions: Vec<String>,
    },
    /// The PTX does not start with the header that this crate writes.
    #[error("no PTX header of cuda_builder: {what}")]
    Header {
        /// What is missing or wrong.
        what: String,
    },
    /// A program of NVIDIA's is not there.
    #[error("no usable {tool} on PATH or elsewhere. Looked at:\n{}{install}", list(looked_at))]
    NoTool {
        /// The program's name.
        tool: &'static str,
        /// Where it was looked for.
        looked_at: Vec<Rejected>,
        /// How to get it.
        install: &'static str,
    },
    /// A program failed.
    #[error("{program} failed: {message}")]
    Program {
        /// The program.
        program: String,
        /// What it said.
        message: String,
    },
    /// `ptxas -v` printed something that is not understood.
    #[error("ptxas wrote a line that is not understood: {line}")]
    PtxasOutput {
        /// The line.
        line: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// Names what was tried with `path` when an I/O error came back.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

fn list(rejected: &[Rejected]) -> String {
    rejected
        .iter()
        .fold(String::new(), |text, r| text + &format!("  {r}\n"))
}
