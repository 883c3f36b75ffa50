//! The results file: one a device, merged by operation, case, implementation and variant.

use crate::measure::Measured;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpbeam::Backend;

/// The results of one device.
pub(crate) struct File {
    path: PathBuf,
    content: Content,
}

#[derive(Deserialize, Serialize)]
struct Content {
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver: Option<String>,
    host: String,
    runs: Vec<Run>,
}

/// One row.
#[derive(Deserialize, Serialize)]
pub(crate) struct Run {
    operation: String,
    case: String,
    implementation: String,
    variant: String,
    milliseconds: Milliseconds,
    points: u64,
    relative_error: f64,
    commit: String,
    date: String,
}

#[derive(Deserialize, Serialize)]
struct Milliseconds {
    median: f64,
    min: f64,
    max: f64,
    runs: usize,
}

impl Run {
    pub(crate) fn new(operation: &str, case: &str, variant: &str, measured: &Measured) -> Self {
        let milliseconds = |index: usize| (measured.times[index].as_secs_f64() * 1e6).round() / 1e3;
        let last = measured.times.len() - 1;
        Self {
            operation: operation.to_owned(),
            case: case.to_owned(),
            implementation: "warpbeam".to_owned(),
            variant: variant.to_owned(),
            milliseconds: Milliseconds {
                median: milliseconds(measured.times.len() / 2),
                min: milliseconds(0),
                max: milliseconds(last),
                runs: last + 1,
            },
            points: measured.points,
            relative_error: measured.relative_error,
            commit: env!("WARPBEAM_COMMIT").to_owned(),
            date: time::OffsetDateTime::now_utc().date().to_string(),
        }
    }

    fn key(&self) -> [&str; 4] {
        [&self.operation, &self.case, &self.implementation, &self.variant]
    }
}

impl File {
    /// The file of a backend's device in a folder, with what it holds already.
    pub(crate) fn open(folder: &Path, backend: &Backend) -> anyhow::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let name = if backend.is_cuda() {
            backend
                .name()
                .to_lowercase()
                .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        } else {
            format!("cpu-{cores}")
        };
        let path = folder.join(format!("{name}.json"));
        let content = if path.exists() {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            serde_json::from_str(&text).with_context(|| path.display().to_string())?
        } else {
            Content {
                device: backend.name(),
                driver: backend.is_cuda().then(driver_version).flatten(),
                host: format!("{cores} cores"),
                runs: Vec::new(),
            }
        };
        Ok(Self { path, content })
    }

    /// Adds a row, in the place of an older one with its key.
    pub(crate) fn insert(&mut self, run: Run) {
        match self.content.runs.iter_mut().find(|old| old.key() == run.key()) {
            Some(old) => *old = run,
            None => self.content.runs.push(run),
        }
    }

    /// Writes the file, through a temporary one beside it.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        let folder = self.path.parent().context("the results file has no folder")?;
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &self.content)?;
        file.write_all(b"\n")?;
        file.persist(&self.path)?;
        Ok(())
    }
}

/// The NVIDIA driver's version as its kernel module gives it, such as 580.159.04.
fn driver_version() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}
