//! NVIDIA's programs that check PTX without a GPU: where they are, and how they are installed.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::{Error, Rejected};

/// The environment variable that names a `ptxas`.
const VARIABLE: &str = "WARPBEAM_PTXAS";

/// The Python packages that hold the programs. One version: the resource report depends on it.
const PACKAGES: [(&str, &str); 3] = [
    ("nvidia-cuda-nvcc==13.5.37", "ptxas"),
    ("nvidia-cuda-nvdisasm==13.5.37", "nvdisasm"),
    ("nvidia-cuda-cuobjdump==13.5.37", "cuobjdump"),
];

/// Where the packages keep their programs.
const FOLDER_IN_PACKAGE: &str = "nvidia/cu13/bin";

/// A `ptxas` and, where they stand beside it, its companions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaTools {
    ptxas: PathBuf,
    version: String,
}

impl CudaTools {
    /// The `ptxas` that `WARPBEAM_PTXAS` names, or the first of `PATH`, `target_dir/cuda-tools` (where [`install`]
    /// puts it) and `/usr/local/cuda/bin`.
    ///
    /// # Errors
    /// [`Error::NoTool`], which says where it was looked for and how to get it.
    pub fn find(target_dir: impl AsRef<Path>) -> Result<Self, Error> {
        if let Some(named) = env::var_os(VARIABLE) {
            return Self::find_in(&[named.into()]);
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&path)
            .map(|folder| folder.join("ptxas"))
            .filter(|ptxas| ptxas.exists());
        let elsewhere = [folder(target_dir.as_ref()), "/usr/local/cuda/bin".into()].map(|folder| folder.join("ptxas"));
        Self::find_in(&on_path.chain(elsewhere).collect::<Vec<_>>())
    }

    /// The first of these files that runs.
    ///
    /// # Errors
    /// As [`CudaTools::find`].
    pub fn find_in(places: &[PathBuf]) -> Result<Self, Error> {
        let mut looked_at = Vec::new();
        for ptxas in places {
            let reason = if ptxas.exists() {
                match run(ptxas, &["--version".as_ref()]) {
                    Ok((out, _)) => {
                        let release = out.lines().find(|line| line.contains("release"));
                        let version = release.unwrap_or(out.trim()).to_owned();
                        return Ok(Self {
                            ptxas: ptxas.clone(),
                            version,
                        });
                    }
                    Err(error) => error.to_string(),
                }
            } else {
                "not there".to_owned()
            };
            looked_at.push(Rejected {
                path: ptxas.clone(),
                reason,
            });
        }
        let install = "`cargo xtask test` installs it from its Python package; or set WARPBEAM_PTXAS to one.";
        Err(Error::NoTool {
            tool: "ptxas",
            looked_at,
            install,
        })
    }

    /// The assembler.
    pub fn ptxas(&self) -> &Path {
        &self.ptxas
    }

    /// The line in which `ptxas --version` names its release.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The disassembler beside `ptxas`.
    ///
    /// # Errors
    /// [`Error::NoTool`] if there is none.
    pub fn nvdisasm(&self) -> Result<PathBuf, Error> {
        self.companion("nvdisasm")
    }

    /// The cubin inspector beside `ptxas`.
    ///
    /// # Errors
    /// [`Error::NoTool`] if there is none.
    pub fn cuobjdump(&self) -> Result<PathBuf, Error> {
        self.companion("cuobjdump")
    }

    fn companion(&self, tool: &'static str) -> Result<PathBuf, Error> {
        let path = self.ptxas.with_file_name(tool);
        if path.exists() {
            return Ok(path);
        }
        let looked_at = vec![Rejected {
            path,
            reason: "not there".to_owned(),
        }];
        Err(Error::NoTool {
            tool,
            looked_at,
            install: "`cargo xtask test` installs it beside its own ptxas.",
        })
    }
}

/// Puts `ptxas`, `nvdisasm` and `cuobjdump` into `target_dir/cuda-tools`, from their Python packages; what is there
/// already is kept. Needs `python3` with `pip`, and the network.
///
/// # Errors
/// [`Error::Program`] with what `pip` said, [`Error::Io`].
pub fn install(target_dir: impl AsRef<Path>) -> Result<CudaTools, Error> {
    let destination = folder(target_dir.as_ref());
    fs::create_dir_all(&destination).map_err(Error::io("create", &destination))?;
    for (package, program) in PACKAGES {
        let installed = destination.join(program);
        if installed.exists() {
            continue;
        }
        // In the same file system, so that the program can be renamed into its place.
        let staging = TempDir::with_prefix_in(".install-", &destination).map_err(Error::io("create", &destination))?;
        download(package, staging.path())?;
        let unpacked = staging.path().join(FOLDER_IN_PACKAGE).join(program);
        make_executable(&unpacked)?;
        fs::rename(&unpacked, &installed).map_err(Error::io("write", &installed))?;
    }
    CudaTools::find_in(&[destination.join("ptxas")])
}

/// Where [`install`] puts the programs.
fn folder(target_dir: &Path) -> PathBuf {
    target_dir.join("cuda-tools")
}

/// Fetches a Python package and unpacks it into `staging`.
fn download(package: &str, staging: &Path) -> Result<(), Error> {
    let python = Path::new("python3");
    let options = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
    ];
    let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    arguments.extend([staging.as_os_str(), package.as_ref()]);
    run(python, &arguments)?;
    for entry in fs::read_dir(staging).map_err(Error::io("list", staging))? {
        let wheel = entry.map_err(Error::io("list", staging))?.path();
        if wheel.extension().is_some_and(|extension| extension == "whl") {
            run(
                python,
                &[
                    "-m".as_ref(),
                    "zipfile".as_ref(),
                    "-e".as_ref(),
                    wheel.as_ref(),
                    staging.as_ref(),
                ],
            )?;
        }
    }
    Ok(())
}

fn make_executable(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(Error::io("make executable", path))?;
    }
    Ok(())
}

/// A folder that goes away with the value.
pub(crate) fn temporary_folder() -> Result<TempDir, Error> {
    TempDir::new().map_err(Error::io("create", env::temp_dir()))
}

/// What a program writes to its two outputs; an error, with what it said, if it fails.
pub(crate) fn run(program: impl AsRef<Path>, arguments: &[&OsStr]) -> Result<(String, String), Error> {
    let program = program.as_ref();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::io("run", program))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        Ok((out, err))
    } else {
        Err(Error::Program {
            program: program.display().to_string(),
            message: format!("{out}{err}").trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_ptxas_is_reported_with_every_place() {
        let folder = temporary_folder().unwrap();
        let places = [folder.path().join("a/ptxas"), folder.path().join("ptxas")];
        fs::write(&places[1], "not a program").unwrap();
        let message = CudaTools::find_in(&places).unwrap_err().to_string();
        assert!(
            message.contains(&format!("{}: not there", places[0].display())),
            "{message}"
        );
        assert!(
            message.contains(&format!("{}: cannot run", places[1].display())),
            "{message}"
        );
        assert!(message.contains("cargo xtask test"), "{message}");
    }
}
