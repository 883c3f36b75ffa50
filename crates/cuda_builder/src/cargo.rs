//! What cargo knows about a kernels crate, and the environment its runs get.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId, Target};

use crate::Error;

/// The target that all kernels are compiled for.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// A kernels crate, its workspace and what it depends on for the device.
pub(crate) struct KernelsCrate {
    pub(crate) metadata: Metadata,
    pub(crate) id: PackageId,
}

impl KernelsCrate {
    /// Asks cargo about the crate in `folder`. An existing lock file stays as it is.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let failed = |message: String| Error::Metadata {
            path: folder.to_owned(),
            message,
        };
        let manifest = folder.join("Cargo.toml");
        let manifest = manifest.canonicalize().map_err(Error::io("read", manifest))?;
        let run = |options: &[&str]| {
            MetadataCommand::new()
                .manifest_path(&manifest)
                // The crate's own configuration counts, not that of the folder this program was started in.
                .current_dir(folder)
                .other_options(options.iter().map(|&o| o.to_owned()).collect::<Vec<_>>())
                .exec()
        };
        let workspace = run(&["--no-deps"]).map_err(|e| failed(e.to_string()))?;
        let [first, second] = lock_options(workspace.workspace_root.as_std_path());
        let resolved = |lock: &[&str]| run(&[&["--filter-platform", TARGET], lock].concat());
        let metadata = resolved(first)
            .or_else(|_| resolved(second))
            .map_err(|e| failed(e.to_string()))?;
        let package = metadata.packages.iter().find(|p| p.manifest_path == manifest);
        let id = package
            .map(|p| p.id.clone())
            .ok_or_else(|| failed("its Cargo.toml describes no package".to_owned()))?;
        let kernels = Self { metadata, id };
        if kernels.library().is_none() {
            return Err(failed("it has no library target".to_owned()));
        }
        Ok(kernels)
    }

    pub(crate) fn package(&self) -> &Package {
        &self.metadata[&self.id]
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.package()
            .manifest_path
            .as_std_path()
            .parent()
            .unwrap_or(Path::new("."))
            .to_owned()
    }

    pub(crate) fn library(&self) -> Option<&Target> {
        self.package()
            .targets
            .iter()
            .find(|t| t.is_lib() || t.is_rlib() || t.is_cdylib() || t.is_dylib())
    }

    pub(crate) fn workspace_root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    pub(crate) fn target_dir(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }
}

/// The options of a first try without the network and of a second one with it, neither of which changes a lock file.
pub(crate) fn lock_options(workspace_root: &Path) -> [&'static [&'static str]; 2] {
    if workspace_root.join("Cargo.lock").exists() {
        [&["--locked", "--offline"], &["--locked"]]
    } else {
        [&["--offline"], &[]]
    }
}

/// Removes from a child's environment what the cargo and rustup that run this program have put there.
pub(crate) fn clean_environment(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_caller) {
            command.env_remove(name);
        }
    }
}

/// Where the registry's crates and the network are stays; which toolchain, flags and folders are in use goes.
fn belongs_to_caller(name: &str) -> bool {
    let stays = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
    ];
    // cargo adds the host toolchain's libraries to the loader's paths.
    let goes = [
        "CARGO",
        "RUSTC",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
        "LD_LIBRARY_PATH",
        "DYLD_",
    ];
    goes.iter().any(|p| name.starts_with(p)) && !stays.iter().any(|p| name.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_keeps_the_network_settings_and_loses_the_toolchain() {
        for name in [
            "CARGO",
            "CARGO_MANIFEST_DIR",
            "CARGO_TARGET_DIR",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(belongs_to_caller(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_HTTP_PROXY",
            "CARGO_NET_OFFLINE",
            "RUSTUP_HOME",
            "PATH",
            "HOME",
        ] {
            assert!(!belongs_to_caller(name), "{name}");
        }
    }
}
