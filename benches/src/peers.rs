//! Other libraries on the same cases: a Python program beside this one, asked case by case.
//!
//! `benches/peers/das.py` and `operations.py` say how each is timed. A program stays alive between cases, so that a case costs no start-up, and
//! works only while this program waits.

use crate::measure::{Job, Limits};
use crate::operations::{Expected, Operation};
use crate::reference::Compared;
use crate::results::{Milliseconds, Run};
use anyhow::{Context, bail};
use num_complex::Complex;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// The programs; the second imports the first.
const PROGRAMS: [(&str, &str); 2] = [
    ("das.py", include_str!("../peers/das.py")),
    ("operations.py", include_str!("../peers/operations.py")),
];

/// Most relative error of a peer's row that counts: those that store 16 bits are about 5e-4 off.
const MOST_ERROR: f64 = 5e-3;

/// The program, waiting for a case.
pub(crate) struct Peers {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    folder: TempDir,
}

#[derive(Deserialize)]
struct Greeting {
    present: Vec<String>,
    missing: std::collections::BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Request<'a> {
    folder: &'a Path,
    n_batch: usize,
    n_channels: usize,
    n_transmits: usize,
    n_samples: usize,
    grid: &'a [usize],
    sampling_frequency_hz: f64,
    demodulation_frequency_hz: Option<f64>,
    angles_rad: Vec<f64>,
    places: &'a [[usize; 2]],
    sums: &'a [[f64; 2]],
    first_frame_sums: &'a [[f64; 2]],
    warm_up: usize,
    runs: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct OperationRequest<'a> {
    operation: &'a str,
    sizes: Vec<usize>,
    indices: &'a [usize],
    values: &'a [[f64; 2]],
    warm_up: usize,
    runs: usize,
    seconds: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reply {
    Row(Row),
    Failed {
        implementation: String,
        variant: String,
        failed: String,
    },
    Done {
        done: bool,
    },
}

#[derive(Deserialize)]
struct Row {
    implementation: String,
    variant: String,
    milliseconds: Milliseconds,
    points: u64,
    relative_error: f64,
}

impl Peers {
    /// Starts a program and tells which libraries are there; `None` if there is none.
    pub(crate) fn start(program: &str) -> anyhow::Result<Option<Self>> {
        let folder = tempfile::tempdir()?;
        for (name, text) in PROGRAMS {
            fs::write(folder.path().join(name), text)?;
        }
        let mut child = Command::new("python3")
            .arg(folder.path().join(program))
            // JAX would take most of the device's memory for itself.
            .env("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("python3, which runs the peers")?;
        let requests = child.stdin.take().context("the peers' input")?;
        let replies = BufReader::new(child.stdout.take().context("the peers' output")?);
        let mut peers = Self {
            child,
            requests,
            replies,
            folder,
        };
        let greeting: Greeting = serde_json::from_str(&peers.line()?)?;
        for (name, reason) in &greeting.missing {
            println!("peer {name} is missing: {reason}");
        }
        println!("peers: {}", greeting.present.join(", "));
        Ok((!greeting.present.is_empty()).then_some(peers))
    }

    /// Times all peers on a case; rows that are wrong or failed are told and not returned.
    pub(crate) fn time(&mut self, job: &Job) -> anyhow::Result<Vec<Run>> {
        self.write_geometry(job)?;
        let case = job.case;
        let Limits { warm_up, runs, time } = job.limits;
        let sums = |compared: &Compared| {
            if case.is_iq() {
                compared.sums::<Complex<f32>>(case, &job.geometry)
            } else {
                compared.sums::<f32>(case, &job.geometry)
            }
        };
        let request = Request {
            folder: self.folder.path(),
            n_batch: case.n_batch,
            n_channels: case.n_channels(),
            n_transmits: case.n_transmits,
            n_samples: case.n_samples,
            grid: job.geometry.grid_shape(),
            sampling_frequency_hz: case.sampling_frequency_hz,
            demodulation_frequency_hz: case.demodulation_frequency_hz,
            angles_rad: case.angles_rad(),
            places: &job.compared.places,
            sums: &sums(&job.compared),
            first_frame_sums: &sums(&job.compared.of_first_frame()),
            warm_up,
            runs,
            seconds: time.as_secs_f64(),
        };
        let request = serde_json::to_string(&request)?;
        self.ask(&request, |row| row.checked("das", &case.name))
    }

    /// Times all peers on an operation, as [`Peers::time`].
    pub(crate) fn time_operation(
        &mut self,
        operation: &Operation,
        limits: Limits,
        expected: &Expected,
    ) -> anyhow::Result<Vec<Run>> {
        let case = operation.case();
        let request = OperationRequest {
            operation: operation.name,
            sizes: case.split('x').map(str::parse).collect::<Result<_, _>>()?,
            indices: &expected.indices,
            values: &expected.values,
            warm_up: limits.warm_up,
            runs: limits.runs,
            seconds: limits.time.as_secs_f64(),
        };
        let request = serde_json::to_string(&request)?;
        self.ask(&request, |mut row| {
            row.points = operation.points();
            row.checked(operation.name, &case)
        })
    }

    /// Sends a request and keeps the rows that `check` does not drop.
    fn ask(&mut self, request: &str, check: impl Fn(Row) -> Option<Run>) -> anyhow::Result<Vec<Run>> {
        self.requests
            .write_all(format!("{request}\n").as_bytes())
            .context("the peers' program has ended")?;
        let mut rows = Vec::new();
        loop {
            match parse(&self.line()?)? {
                Reply::Done { .. } => return Ok(rows),
                Reply::Failed {
                    implementation,
                    variant,
                    failed,
                } => {
                    println!("  {implementation:<14} {variant:<18} failed: {failed}");
                }
                Reply::Row(row) => rows.extend(check(row)),
            }
        }
    }

    fn write_geometry(&self, job: &Job) -> anyhow::Result<()> {
        let write = |name: &str, values: &mut dyn Iterator<Item = f64>| {
            let bytes: Vec<u8> = values.flat_map(|value| (value as f32).to_le_bytes()).collect();
            fs::write(self.folder.path().join(name), bytes)
        };
        write("elements", &mut job.geometry.element_positions.iter().copied())?;
        write("voxels", &mut job.geometry.voxel_positions.iter().copied())?;
        write("offsets", &mut job.geometry.transmit_offsets.iter().copied())?;
        Ok(())
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.replies.read_line(&mut line)? == 0 {
            bail!("the peers' program has ended: {}", self.child.wait()?);
        }
        Ok(line)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It may be in the midst of a case that this program gave up.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Row {
    /// The row, if its result is right.
    fn checked(self, operation: &str, case: &str) -> Option<Run> {
        let round = |milliseconds: f64| (milliseconds * 1e3).round() / 1e3;
        let Milliseconds { median, min, max, runs } = self.milliseconds;
        let milliseconds = Milliseconds {
            median: round(median),
            min: round(min),
            max: round(max),
            runs,
        };
        let run = Run::new(
            operation,
            case,
            &self.implementation,
            &self.variant,
            milliseconds,
            self.points,
            self.relative_error,
        );
        crate::summary::print_run(&run);
        let is_right = self.relative_error <= MOST_ERROR;
        if !is_right {
            println!("  this result is wrong and does not count");
        }
        is_right.then_some(run)
    }
}

/// Reads a line of the program.
fn parse(line: &str) -> anyhow::Result<Reply> {
    match serde_json::from_str(line).with_context(|| format!("the peers' program said {line:?}"))? {
        Reply::Done { done: false } => bail!("the peers' program said {line:?}"),
        reply => Ok(reply),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_does_not_count() {
        let line = |error: &str| {
            format!(
                r#"{{"implementation": "mach-0.2.1", "variant": "c64", "relative_error": {error}, "points": 5,
                "milliseconds": {{"median": 1.23456, "min": 1, "max": 2, "runs": 3}}}}"#
            )
        };
        for (error, counts) in [("1e-4", true), ("0.9", false)] {
            let Reply::Row(row) = parse(&line(error)).unwrap() else {
                panic!("not a row")
            };
            let run = row.checked("das", "ex16");
            assert_eq!(run.is_some(), counts);
            assert!(run.is_none_or(|run| run.case == "ex16" && (run.milliseconds.median - 1.235).abs() < 1e-9));
        }
        // JSON has no NaN; Python writes one all the same.
        assert!(parse(&line("NaN")).is_err());
    }

    #[test]
    fn failures_and_the_end_are_read() {
        let failed = parse(r#"{"implementation": "ffdas-0.1.1", "variant": "alg4-f32", "failed": "no"}"#).unwrap();
        assert!(matches!(failed, Reply::Failed { .. }));
        assert!(matches!(parse(r#"{"done": true}"#).unwrap(), Reply::Done { .. }));
        assert!(parse("Traceback").is_err());
    }
}
