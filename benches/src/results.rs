//! The results file: one a device, merged by operation, case, implementation and variant.

use crate::machine::{COMMIT, COMPILER, Clocks, Machine};
use crate::measure::Measured;
use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The results of one device.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Results {
    #[serde(flatten)]
    pub(crate) machine: Machine,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) clocks: Option<Clocks>,
    /// The compilers of each commit that rows come from.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) compilers: BTreeMap<String, String>,
    pub(crate) runs: Vec<Run>,
}

/// One row.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Run {
    pub(crate) operation: String,
    pub(crate) case: String,
    pub(crate) implementation: String,
    pub(crate) variant: String,
    pub(crate) milliseconds: Milliseconds,
    pub(crate) points: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) relative_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) date: Option<String>,
}

/// The times of a row's runs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Milliseconds {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) runs: usize,
}

/// What a row is about; a second one replaces the first.
pub(crate) type Key<'a> = [&'a str; 4];

/// The implementation that is ours.
pub(crate) const OURS: &str = "warpbeam";

impl Run {
    /// A row of ours.
    pub(crate) fn ours(operation: &str, case: &str, variant: &str, measured: &Measured) -> Self {
        let milliseconds = |index: usize| (measured.times[index].as_secs_f64() * 1e6).round() / 1e3;
        let runs = measured.times.len();
        let milliseconds = Milliseconds {
            median: milliseconds(runs / 2),
            min: milliseconds(0),
            max: milliseconds(runs - 1),
            runs,
        };
        Self::new(
            operation,
            case,
            OURS,
            variant,
            milliseconds,
            measured.points,
            measured.relative_error,
        )
    }

    /// A row of any implementation, measured by this program now.
    pub(crate) fn new(
        operation: &str,
        case: &str,
        implementation: &str,
        variant: &str,
        milliseconds: Milliseconds,
        points: u64,
        relative_error: f64,
    ) -> Self {
        Self {
            operation: operation.to_owned(),
            case: case.to_owned(),
            implementation: implementation.to_owned(),
            variant: variant.to_owned(),
            milliseconds,
            points,
            relative_error: Some(relative_error),
            commit: Some(COMMIT.to_owned()),
            date: Some(time::OffsetDateTime::now_utc().date().to_string()),
        }
    }

    pub(crate) fn key(&self) -> Key<'_> {
        [&self.operation, &self.case, &self.implementation, &self.variant]
    }

    /// 10¹² points a second.
    pub(crate) fn throughput(&self) -> f64 {
        self.points as f64 / self.milliseconds.median / 1e9
    }

    /// The implementation without its version.
    pub(crate) fn family(&self) -> &str {
        self.implementation.split('-').next().unwrap_or_default()
    }
}

impl Results {
    /// Nothing yet, on a machine.
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            clocks: None,
            compilers: BTreeMap::new(),
            runs: Vec::new(),
        }
    }

    /// Reads a file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Refuses a file of another machine.
    pub(crate) fn expect(&self, machine: &Machine, path: &Path) -> anyhow::Result<()> {
        ensure!(
            self.machine.is_same(machine),
            "{} holds results of {}; this is {machine}: figures of two machines are not mixed or compared",
            path.display(),
            self.machine
        );
        Ok(())
    }

    /// Adds a row, in the place of an older one with its key.
    pub(crate) fn insert(&mut self, run: Run) {
        if let Some(commit) = &run.commit {
            self.compilers.insert(commit.clone(), COMPILER.to_owned());
        }
        match self.runs.iter_mut().find(|old| old.key() == run.key()) {
            Some(old) => *old = run,
            None => self.runs.push(run),
        }
        let in_use = |commit: &String| self.runs.iter().any(|run| run.commit.as_ref() == Some(commit));
        let stale: Vec<_> = self
            .compilers
            .keys()
            .filter(|commit| !in_use(commit))
            .cloned()
            .collect();
        for commit in stale {
            self.compilers.remove(&commit);
        }
    }

    /// The row of a key.
    pub(crate) fn find(&self, key: Key) -> Option<&Run> {
        self.runs.iter().find(|run| run.key() == key)
    }
}

/// A results file that is being added to.
pub(crate) struct File {
    path: PathBuf,
    pub(crate) results: Results,
}

impl File {
    /// The file of a machine in a folder, with what it holds already.
    pub(crate) fn open(folder: &Path, machine: Machine) -> anyhow::Result<Self> {
        let path = folder.join(machine.file_name());
        let results = if path.exists() {
            let mut results = Results::read(&path)?;
            results
                .expect(&machine, &path)
                .context("another --output folder takes them, or that file goes elsewhere first")?;
            results.machine = machine;
            results
        } else {
            Results::new(machine)
        };
        Ok(Self { path, results })
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        write_json(&self.path, &self.results)
    }
}

/// Writes a JSON file, through a temporary one beside it.
pub(crate) fn write_json(path: &Path, content: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(content)?;
    text.push('\n');
    write(path, text.as_bytes())
}

/// Writes a file, through a temporary one beside it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path
        .parent()
        .with_context(|| format!("{} is in no folder", path.display()))?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    // As any other file would be: a temporary one is for its owner alone.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn machine() -> Machine {
        Machine {
            device: "NVIDIA Test".into(),
            driver: Some("1.2".into()),
            host: "2 cores".into(),
        }
    }

    pub(crate) fn row(case: &str, implementation: &str, variant: &str, median: f64) -> Run {
        let milliseconds = Milliseconds {
            median,
            min: 0.99 * median,
            max: 1.01 * median,
            runs: 5,
        };
        Run {
            date: Some("2026-01-01".into()),
            commit: Some("0123abcd".into()),
            ..Run::new("das", case, implementation, variant, milliseconds, 1_000_000_000, 1e-5)
        }
    }

    #[test]
    fn a_second_row_replaces_the_first_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = File::open(folder.path(), machine()).unwrap();
        file.results.insert(row("vol", OURS, "voxel-f32", 2.0));
        file.results.insert(row("vol", OURS, "voxel-f16", 3.0));
        file.write().unwrap();
        let mut file = File::open(folder.path(), machine()).unwrap();
        file.results.insert(row("vol", OURS, "voxel-f32", 1.0));
        file.write().unwrap();
        let results = Results::read(&folder.path().join("nvidia-test.json")).unwrap();
        let medians: Vec<_> = results.runs.iter().map(|run| run.milliseconds.median).collect();
        assert_eq!(medians, [1.0, 3.0]);
        assert_eq!(results.compilers.keys().collect::<Vec<_>>(), ["0123abcd"]);
    }

    #[test]
    fn two_machines_are_not_mixed() {
        let folder = tempfile::tempdir().unwrap();
        File::open(folder.path(), machine()).unwrap().write().unwrap();
        let other = Machine {
            driver: Some("1.3".into()),
            ..machine()
        };
        let error = format!("{:#}", File::open(folder.path(), other).err().unwrap());
        assert!(
            error.contains("driver 1.2") && error.contains("driver 1.3") && error.contains("--output"),
            "{error}"
        );
    }

    #[test]
    fn a_row_says_how_fast_it_is() {
        assert!((row("vol", "ffdas-0.1.1", "alg1-f32", 2.0).throughput() - 0.5).abs() < 1e-12);
        assert_eq!(row("vol", "ffdas-0.1.1", "alg1-f32", 2.0).family(), "ffdas");
    }
}
