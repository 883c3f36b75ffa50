//! The hash that says from which sources, and with which options, a PTX file was made.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use cargo_metadata::{DependencyKind, Package, PackageId, TargetKind};
use sha2::{Digest, Sha256};

use crate::{Error, cargo::KernelsCrate, header};

/// Hashes everything that decides a PTX file, the compiler apart.
///
/// That is, each with its length in front: `options`; for the kernels crate and every crate of its own tree that it
/// depends on for the device, the relative paths and contents of `Cargo.toml`, build script and library sources, in
/// order, and its dependencies as the workspace completes them; the name and version of every crate from elsewhere.
/// Absolute paths, times and line endings do not enter.
pub(crate) fn hash(kernels: &KernelsCrate, options: &[String]) -> Result<String, Error> {
    let mut hasher = Hasher(Sha256::new());
    for option in options {
        hasher.field(option.as_bytes());
    }
    let mut own = BTreeMap::new();
    let mut foreign = BTreeSet::new();
    for id in dependencies(kernels) {
        let package = &kernels.metadata[id];
        if package.source.is_none() {
            own.insert(package.name.to_string(), package);
        } else {
            foreign.insert(format!("{} {}", package.name, package.version));
        }
    }
    for (name, package) in own {
        for (path, content) in files(package)? {
            hasher.field(format!("{name}/{path}").as_bytes());
            hasher.field(&content);
        }
        for declared in declared_dependencies(package) {
            hasher.field(declared.as_bytes());
        }
    }
    for package in foreign {
        hasher.field(package.as_bytes());
    }
    Ok(header::hex(&hasher.0.finalize()))
}

struct Hasher(Sha256);

impl Hasher {
    fn field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

/// The packages that a build of the kernels crate compiles, itself included: no dev-dependencies.
fn dependencies(kernels: &KernelsCrate) -> BTreeSet<&PackageId> {
    let nodes = kernels
        .metadata
        .resolve
        .as_ref()
        .map_or(&[][..], |resolve| &resolve.nodes);
    let nodes: BTreeMap<_, _> = nodes.iter().map(|node| (&node.id, node)).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![&kernels.id];
    while let Some(id) = open.pop() {
        if found.insert(id) {
            let edges = nodes.get(id).map_or(&[][..], |node| &node.deps);
            let built = edges
                .iter()
                .filter(|e| e.dep_kinds.iter().any(|k| k.kind != DependencyKind::Development));
            open.extend(built.map(|edge| &edge.pkg));
        }
    }
    found
}

/// A manifest may say `workspace = true`: this is what cargo makes of it.
fn declared_dependencies(package: &Package) -> Vec<String> {
    let built = package
        .dependencies
        .iter()
        .filter(|d| d.kind != DependencyKind::Development);
    let mut declared: Vec<_> = built
        .map(|d| {
            let target = d.target.as_ref().map(ToString::to_string);
            format!(
                "{} {} {:?} {} {} {target:?}",
                d.name, d.req, d.features, d.uses_default_features, d.optional
            )
        })
        .collect();
    declared.sort();
    declared
}

/// The files that a package's library is made of: `/`-separated path within the package, content with `\n` endings.
fn files(package: &Package) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let root = package.manifest_path.as_std_path().parent().unwrap_or(Path::new("."));
    let mut found = BTreeMap::new();
    read(root, package.manifest_path.as_std_path(), &mut found)?;
    for target in &package.targets {
        let path = target.src_path.as_std_path();
        let built_for_the_library = [
            TargetKind::Lib,
            TargetKind::RLib,
            TargetKind::CDyLib,
            TargetKind::ProcMacro,
        ];
        if target.kind.contains(&TargetKind::CustomBuild) {
            read(root, path, &mut found)?;
        } else if target.kind.iter().any(|kind| built_for_the_library.contains(kind)) {
            read(root, path.parent().unwrap_or(root), &mut found)?;
        }
    }
    Ok(found)
}

/// Reads a file, or a folder's files but hidden ones.
fn read(root: &Path, path: &Path, found: &mut BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(Error::io("list", path))? {
            let entry = entry.map_err(Error::io("list", path))?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                read(root, &entry.path(), found)?;
            }
        }
        return Ok(());
    }
    let content = fs::read(path).map_err(Error::io("read", path))?;
    let relative = path.strip_prefix(root).unwrap_or(path);
    let relative: Vec<_> = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    found.insert(relative.join("/"), with_unix_endings(content));
    Ok(())
}

fn with_unix_endings(mut content: Vec<u8>) -> Vec<u8> {
    let mut kept = 0;
    for i in 0..content.len() {
        if !(content[i] == b'\r' && content.get(i + 1) == Some(&b'\n')) {
            content[kept] = content[i];
            kept += 1;
        }
    }
    content.truncate(kept);
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_endings_are_made_alike() {
        assert_eq!(with_unix_endings(b"a\r\nb\n\r\r\n\xff\r".to_vec()), b"a\nb\n\r\n\xff\r");
    }

    #[test]
    fn a_field_ends_where_it_ends() {
        let hash = |fields: &[&str]| {
            let mut hasher = Hasher(Sha256::new());
            for field in fields {
                hasher.field(field.as_bytes());
            }
            hasher.0.finalize()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }
}
