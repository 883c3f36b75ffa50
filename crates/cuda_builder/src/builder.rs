//! The build itself: one run of the device's cargo, and what is done to the PTX that it leaves.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    Arch, DeviceCompiler, Error, LaunchBounds, PtxHeader,
    cargo::{KernelsCrate, TARGET, clean_environment, lock_options},
    header, launch_bounds, sources,
};

/// Flags of every crate, `core` included. No flag relaxes floating-point arithmetic.
const RUSTFLAGS: [&str; 5] = [
    // Jump threading copies barriers into the arms of a branch.
    "-Zmir-enable-passes=-JumpThreading",
    "-Zunstable-options",
    // A panic is a trap in place: no message, no formatting code, no stack frame.
    "-Cpanic=immediate-abort",
    // An indexed branch among diverged lanes ended in an illegal instruction on an H200 (driver 580.159.04).
    "-Cjump-tables=no",
    // The module is complete after link-time optimisation: its assembly is the PTX, and there is nothing to link.
    "-Clinker=true",
];

/// The profile of every crate, whatever the workspace says.
const PROFILE: [&str; 8] = [
    "lto=\"fat\"",
    "codegen-units=1",
    "panic=\"abort\"",
    "opt-level=3",
    // With debug information LLVM writes a section that ptxas refuses.
    "debug=0",
    "debug-assertions=false",
    "overflow-checks=false",
    "incremental=false",
];

/// Compiles a kernels crate for one architecture.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    folder: PathBuf,
    pub(crate) arch: Arch,
    launch_bounds: Vec<LaunchBounds>,
    copy_to: Option<PathBuf>,
    pub(crate) compiler: Option<DeviceCompiler>,
}

/// PTX text that carries its [`PtxHeader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    header: PtxHeader,
    text: String,
    diagnostics: String,
}

impl Ptx {
    /// What the text's first lines say.
    pub fn header(&self) -> &PtxHeader {
        &self.header
    }

    /// The whole text, header included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The compiler's warnings; empty if it had none.
    pub fn diagnostics(&self) -> &str {
        &self.diagnostics
    }
}

impl CudaBuilder {
    /// Compiles the crate in that folder, for [`Arch::Sm80`] until [`arch`](Self::arch) says otherwise.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            arch: Arch::Sm80,
            launch_bounds: Vec::new(),
            copy_to: None,
            compiler: None,
        }
    }

    /// Compiles for that architecture.
    #[must_use]
    pub fn arch(mut self, arch: Arch) -> Self {
        self.arch = arch;
        self
    }

    /// The launch bounds of all kernels that this architecture has.
    #[must_use]
    pub fn launch_bounds(mut self, bounds: impl IntoIterator<Item = LaunchBounds>) -> Self {
        self.launch_bounds = bounds.into_iter().collect();
        self.launch_bounds.sort();
        self
    }

    /// Writes the PTX to that file, too, when it is built.
    #[must_use]
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(path.into());
        self
    }

    /// Compiles with that compiler; otherwise with what [`DeviceCompiler::find`] finds.
    #[must_use]
    pub fn compiler(mut self, compiler: DeviceCompiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Compiles, writes the launch bounds and the header, and copies the text where it was asked for.
    ///
    /// The first build for an architecture compiles `core`, too. `Cargo.lock` stays as it is.
    ///
    /// # Errors
    /// [`Error::NoDeviceCompiler`], [`Error::Metadata`] and [`Error::Compile`] from the build;
    /// [`Error::LaunchBounds`], [`Error::UnknownKernel`] and [`Error::NoLaunchBounds`] from the bounds;
    /// [`Error::MachinePath`] if the text would differ on another machine; [`Error::Io`].
    pub fn build(&self) -> Result<Ptx, Error> {
        launch_bounds::validate(&self.launch_bounds)?;
        let compiler = self.compiler.clone().map_or_else(DeviceCompiler::find, Ok)?;
        let kernels = KernelsCrate::read(&self.folder)?;
        let ptx = self.build_with(&compiler, &kernels)?;
        if let Some(path) = &self.copy_to {
            write(path, &ptx.text)?;
        }
        Ok(ptx)
    }

    /// The hash of the sources that this build would read, and of its options: see [`PtxHeader::sources`].
    ///
    /// Needs a cargo, but no device compiler.
    ///
    /// # Errors
    /// [`Error::Metadata`] and [`Error::Io`].
    pub fn source_hash(&self) -> Result<String, Error> {
        self.source_hash_of(&KernelsCrate::read(&self.folder)?)
    }

    /// The target folder of the workspace that the kernels crate belongs to.
    ///
    /// # Errors
    /// [`Error::Metadata`] and [`Error::Io`].
    pub fn target_dir(&self) -> Result<PathBuf, Error> {
        Ok(KernelsCrate::read(&self.folder)?.target_dir().to_owned())
    }

    pub(crate) fn kernels(&self) -> Result<KernelsCrate, Error> {
        KernelsCrate::read(&self.folder)
    }

    pub(crate) fn source_hash_of(&self, kernels: &KernelsCrate) -> Result<String, Error> {
        let mut options = self.flags();
        options.push(TARGET.to_owned());
        options.extend(PROFILE.map(str::to_owned));
        options.extend(
            self.launch_bounds
                .iter()
                .map(|b| format!("{} {} {}", b.kernel, b.max_threads_per_block, b.min_blocks_per_sm)),
        );
        sources::hash(kernels, &options)
    }

    pub(crate) fn build_with(&self, compiler: &DeviceCompiler, kernels: &KernelsCrate) -> Result<Ptx, Error> {
        let (assembly, diagnostics) = self.compile(compiler, kernels)?;
        refuse_machine_paths(&assembly, kernels, compiler)?;
        let body = launch_bounds::insert(&assembly, &self.launch_bounds)?;
        let header = PtxHeader {
            package: kernels.package().name.to_string(),
            arch: self.arch,
            compiler: compiler.version().to_owned(),
            sources: self.source_hash_of(kernels)?,
            content: header::hash_text(&body),
        };
        let text = format!("{header}{body}");
        Ok(Ptx {
            header,
            text,
            diagnostics,
        })
    }

    /// Runs cargo, first without the network. Returns the assembly and the compiler's warnings.
    fn compile(&self, compiler: &DeviceCompiler, kernels: &KernelsCrate) -> Result<(String, String), Error> {
        // Each architecture has its own folder: one's build does not throw another's `core` away.
        let folder = kernels.target_dir().join("cuda").join(self.arch.name());
        fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        // Each build writes to a place of its own: checkouts may share a target folder. cargo compiles the crate again
        // every time, because it misses the linked file, and `core` and the dependencies only when they changed.
        let output = TempDir::with_prefix_in("build-", &folder).map_err(Error::io("create", &folder))?;
        let assembly = output.path().join("kernels.s");
        let package = kernels.package().name.to_string();
        let run = |lock: &[&str]| -> Result<(bool, String), Error> {
            let mut command = self.cargo_rustc(compiler, kernels);
            command.arg("--target-dir").arg(&folder).args(lock);
            command.arg("--").arg(format!("--emit=asm={}", assembly.display()));
            let output = command.output().map_err(Error::io("run", compiler.cargo()))?;
            Ok((
                output.status.success(),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            ))
        };
        let [offline, online] = lock_options(kernels.workspace_root());
        let (mut success, mut diagnostics) = run(offline)?;
        // What fails before anything is compiled may have been a crate that is not on this machine yet.
        if !success && !diagnostics.contains("could not compile") {
            (success, diagnostics) = run(online)?;
        }
        if !success {
            return Err(Error::Compile {
                package,
                arch: self.arch,
                diagnostics,
            });
        }
        let text = fs::read_to_string(&assembly).map_err(Error::io("read", &assembly))?;
        Ok((text, diagnostics))
    }

    /// The command up to where it writes.
    fn cargo_rustc(&self, compiler: &DeviceCompiler, kernels: &KernelsCrate) -> Command {
        let mut command = Command::new(compiler.cargo());
        clean_environment(&mut command);
        command
            .env("RUSTC", compiler.rustc())
            // Kernels need unstable features, and the device compiler may be a release.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags().join("\x1f"))
            .current_dir(kernels.folder())
            .stdin(Stdio::null())
            .args(["rustc", "--quiet", "--release", "--lib"])
            .args(["--crate-type", "cdylib", "--manifest-path", "Cargo.toml"])
            .args(["--target", TARGET, "-Zbuild-std=core"])
            // Contents decide what is built again: checkouts may share a target folder, and times mislead there.
            .arg("-Zchecksum-freshness");
        for setting in PROFILE {
            command.args(["--config", &format!("profile.release.{setting}")]);
        }
        command
    }

    fn flags(&self) -> Vec<String> {
        let cpu = format!("-Ctarget-cpu={}", self.arch);
        RUSTFLAGS.iter().map(|&flag| flag.to_owned()).chain([cpu]).collect()
    }
}

/// PTX is committed: it must come out the same on every machine.
fn refuse_machine_paths(assembly: &str, kernels: &KernelsCrate, compiler: &DeviceCompiler) -> Result<(), Error> {
    let cargo_home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let sysroot = compiler
        .rustc()
        .parent()
        .and_then(Path::parent)
        .map(|p| p.join("lib/rustlib/src"));
    let folders = [Some(kernels.workspace_root().to_owned()), cargo_home, sysroot];
    match folders.iter().flatten().find(|folder| contains_path(assembly, folder)) {
        Some(folder) => Err(Error::MachinePath {
            path: folder.display().to_string(),
        }),
        None => Ok(()),
    }
}

/// Whether a path stands in PTX, as text or as the bytes of a constant.
fn contains_path(assembly: &str, path: &Path) -> bool {
    let path = path.to_string_lossy();
    let bytes: Vec<_> = path.bytes().map(|byte| byte.to_string()).collect();
    path.len() > 1 && (assembly.contains(&*path) || assembly.contains(&bytes.join(", ")))
}

/// Replaces a file in one step; one that already says the same keeps its time.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    fs::write(&temporary, text).map_err(Error::io("write", &temporary))?;
    fs::rename(&temporary, path).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_as_text_and_as_bytes() {
        let path = Path::new("/home/x");
        assert!(contains_path(".file 1 \"/home/x/src/lib.rs\"", path));
        assert!(contains_path(
            ".b8 s[9] = {47, 104, 111, 109, 101, 47, 120, 47, 97};",
            path
        ));
        assert!(!contains_path(".b8 s[6] = {47, 104, 111, 109, 101, 47};", path));
        assert!(!contains_path("a / b", Path::new("/")));
    }
}
