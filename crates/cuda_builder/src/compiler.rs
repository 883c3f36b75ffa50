//! Finds a rustc that can compile kernels: it generates NVPTX code and has the sources of `core` beside it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    Arch, Error, Rejected,
    cargo::{TARGET, clean_environment},
};

/// The environment variable that names a rustc to compile kernels with; a cargo stands beside it.
const VARIABLE: &str = "WARPBEAM_DEVICE_RUSTC";

/// The oldest release that has all that the builder asks for.
const OLDEST: (u32, u32) = (1, 95);

/// A compiler for the device and the cargo that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCompiler {
    rustc: PathBuf,
    cargo: PathBuf,
    version: String,
}

/// Where a device compiler is looked for.
#[derive(Clone, Debug, Default)]
pub struct SearchList {
    /// A rustc that the user named: if there is one, no other is tried.
    pub chosen: Option<PathBuf>,
    /// The folder that holds rustup's toolchains.
    pub rustup_toolchains: Option<PathBuf>,
    /// Folders in which a distribution puts `rustc` and `rustc-1.96` and the like.
    pub program_folders: Vec<PathBuf>,
    /// The text of `/etc/os-release`, for the advice what to install.
    pub os_release: String,
}

impl SearchList {
    /// The places of this system: `WARPBEAM_DEVICE_RUSTC`, rustup's home, `/usr/bin` and `/usr/local/bin`.
    pub fn of_this_system() -> Self {
        let rustup_home = env::var_os("RUSTUP_HOME")
            .map(PathBuf::from)
            .or_else(|| env::home_dir().map(|home| home.join(".rustup")));
        Self {
            chosen: env::var_os(VARIABLE).map(PathBuf::from),
            rustup_toolchains: rustup_home.map(|home| home.join("toolchains")),
            program_folders: vec!["/usr/bin".into(), "/usr/local/bin".into()],
            os_release: fs::read_to_string("/etc/os-release").unwrap_or_default(),
        }
    }

    /// What to type on this system to get a device compiler.
    fn advice(&self) -> String {
        let rustup = "rustup toolchain install nightly --component rust-src";
        let debian = self.os_release.lines().any(|line| {
            let value = line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE="));
            value.is_some_and(|v| {
                v.trim_matches('"')
                    .split(' ')
                    .any(|id| id == "debian" || id == "ubuntu")
            })
        });
        let first = if debian {
            format!("apt-get install rustc-web cargo-web rust-web-src\nor\n  {rustup}")
        } else {
            rustup.to_owned()
        };
        format!(
            "Install one with\n  {first}\nor set {VARIABLE} to a rustc ({}.{} or newer) that has its library sources \
             and a cargo beside it.",
            OLDEST.0, OLDEST.1
        )
    }
}

impl DeviceCompiler {
    /// The first usable compiler of this system: the one that `WARPBEAM_DEVICE_RUSTC` names, one of rustup's, one of
    /// the distribution's.
    ///
    /// # Errors
    /// [`Error::NoDeviceCompiler`], which says what was looked at and what to install.
    pub fn find() -> Result<Self, Error> {
        Self::find_in(&SearchList::of_this_system())
    }

    /// The first usable compiler of that list.
    ///
    /// # Errors
    /// As [`DeviceCompiler::find`].
    pub fn find_in(list: &SearchList) -> Result<Self, Error> {
        Self::find_where(list, |_| true)
    }

    /// The first usable compiler that is `wanted`.
    pub(crate) fn find_where(list: &SearchList, wanted: impl Fn(&Self) -> bool) -> Result<Self, Error> {
        let (candidates, mut looked_at) = candidates(list);
        for rustc in candidates {
            match Self::probe(&rustc) {
                Ok(compiler) if wanted(&compiler) => return Ok(compiler),
                Ok(compiler) => looked_at.push(Rejected {
                    path: rustc,
                    reason: compiler.version,
                }),
                Err(reason) => looked_at.push(Rejected { path: rustc, reason }),
            }
        }
        Err(Error::NoDeviceCompiler {
            looked_at,
            install: list.advice(),
        })
    }

    /// The rustc.
    pub fn rustc(&self) -> &Path {
        &self.rustc
    }

    /// The cargo that runs it.
    pub fn cargo(&self) -> &Path {
        &self.cargo
    }

    /// Release, commit, LLVM and host: compilers with the same version write the same PTX.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Checks that a rustc runs, is new enough, generates code for every [`Arch`] and has its library's sources.
    fn probe(named: &Path) -> Result<Self, String> {
        let sysroot = PathBuf::from(output(named, &["--print", "sysroot"])?.trim());
        // rustup's proxies choose a toolchain by folder and environment: take the one they mean now.
        let real = sysroot.join("bin/rustc");
        let rustc = if real.exists() && !is_same_file(&real, named) {
            real
        } else {
            named.to_owned()
        };
        let cargo = beside(&rustc, "cargo");
        if !cargo.exists() {
            return Err(format!("no {} beside it", cargo.display()));
        }
        let description = output(&rustc, &["-vV"])?;
        let line = |key: &str| {
            description
                .lines()
                .find_map(|l| l.strip_prefix(key))
                .unwrap_or("unknown")
                .trim()
        };
        let release = line("release:");
        if number(release).is_none_or(|n| n < OLDEST) {
            return Err(format!("its release {release} is older than {}.{}", OLDEST.0, OLDEST.1));
        }
        let library = sysroot.join("lib/rustlib/src/rust/library");
        if !library.join("core/src/lib.rs").exists() || !library.join("Cargo.lock").exists() {
            return Err(format!("its library's sources are not in {}", library.display()));
        }
        let cpus = output(&rustc, &["--print", "target-cpus", "--target", TARGET])?;
        let known = |arch: Arch| cpus.split_whitespace().any(|cpu| cpu == arch.name());
        if let Some(missing) = Arch::ALL.into_iter().find(|&arch| !known(arch)) {
            return Err(format!("it cannot generate code for {missing} ({TARGET})"));
        }
        output(&cargo, &["--version"])?;
        let first = description.lines().next().unwrap_or_default();
        let version = format!("{first}, LLVM {}, {}", line("LLVM version:"), line("host:"));
        Ok(Self { rustc, cargo, version })
    }
}

/// The compilers to try in order, and the places where there is none.
fn candidates(list: &SearchList) -> (Vec<PathBuf>, Vec<Rejected>) {
    if let Some(chosen) = &list.chosen {
        return (vec![chosen.clone()], Vec::new());
    }
    let mut found = Vec::new();
    let mut empty = Vec::new();
    let mut look = |folder: &Path, what: &str, keep: &dyn Fn(PathBuf) -> Option<PathBuf>| {
        let mut here: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| keep(entry.path()))
            .collect();
        if here.is_empty() {
            empty.push(Rejected {
                path: folder.to_owned(),
                reason: format!("no {what} there"),
            });
        }
        // Releases before nightlies, the newest first: unstable features change from nightly to nightly.
        here.sort_by_cached_key(|path| {
            let name = path.to_string_lossy().into_owned();
            (name.contains("nightly"), std::cmp::Reverse(last_number(&name)), name)
        });
        found.extend(here);
    };
    if let Some(toolchains) = &list.rustup_toolchains {
        look(toolchains, "toolchain", &|folder| {
            Some(folder.join("bin/rustc")).filter(|rustc| rustc.exists())
        });
    }
    for folder in &list.program_folders {
        look(folder, "rustc", &|path| {
            let suffix = path.file_name()?.to_str()?.strip_prefix("rustc")?;
            (suffix.is_empty() || suffix.strip_prefix('-').and_then(number).is_some()).then_some(path)
        });
    }
    (found, empty)
}

/// The program of the same folder and with the same suffix (`rustc-1.96`, `cargo-1.96`).
fn beside(rustc: &Path, program: &str) -> PathBuf {
    let name = rustc.file_name().unwrap_or_default().to_string_lossy();
    rustc.with_file_name(name.replacen("rustc", program, 1))
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Major and minor of `1.96.0` or `1.96`.
fn number(release: &str) -> Option<(u32, u32)> {
    let (major, minor) = release.split_once('.')?;
    let minor = minor.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The release in a toolchain's path (`1.96.0-x86_64-unknown-linux-gnu`) or a program's (`rustc-1.96`).
fn last_number(path: &str) -> Option<(u32, u32)> {
    path.split(['/', '-']).filter_map(number).next_back()
}

/// What a program prints, or why it does not.
fn output(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    clean_environment(&mut command);
    // A folder of the project could choose another toolchain, or let rustup install one.
    command
        .args(arguments)
        .current_dir(env::temp_dir())
        .stdin(Stdio::null());
    let output = command.output().map_err(|e| format!("does not run: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!(
            "`{}` failed: {}",
            arguments.join(" "),
            said.lines().next().unwrap_or("it says nothing")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read() {
        assert_eq!(number("1.101.0-nightly"), Some((1, 101)));
        assert_eq!(number("1.96"), Some((1, 96)));
        assert_eq!(number("nightly"), None);
        assert_eq!(
            last_number("/home/u.3/toolchains/1.96.0-x86_64-unknown-linux-gnu/bin/rustc"),
            Some((1, 96))
        );
    }

    #[test]
    fn cargo_has_the_suffix_of_rustc() {
        assert_eq!(
            beside(Path::new("/usr/bin/rustc-1.96"), "cargo"),
            Path::new("/usr/bin/cargo-1.96")
        );
    }

    #[test]
    fn advice_fits_the_system() {
        let advice = |os_release: &str| {
            SearchList {
                os_release: os_release.into(),
                ..Default::default()
            }
            .advice()
        };
        assert!(advice("NAME=x\nID=debian\n").contains("apt-get install rustc-web cargo-web rust-web-src"));
        assert!(advice("ID=pop\nID_LIKE=\"ubuntu debian\"\n").contains("apt-get install"));
        assert!(!advice("ID=fedora\n").contains("apt-get"));
        assert!(advice("ID=fedora\n").contains("rustup toolchain install nightly --component rust-src"));
    }
}
