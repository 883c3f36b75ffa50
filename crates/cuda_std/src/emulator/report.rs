//! What a launch that ended well answers: its traffic, line by line; and the log of launches.

use super::Instruction;
use super::site::Site;
use std::io::Write;
use std::ops::AddAssign;
use std::panic::Location;

/// What an instruction moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Executions by a thread.
    pub executions: u64,
    /// Executions by a warp.
    pub requests: u64,
    /// Sectors of 32 bytes that the requests touch in global memory.
    pub sectors: u64,
    /// Distinct bytes that the requests touch, each byte counted once a request.
    pub bytes: u64,
    /// Additional passes of shared memory, because lanes want different words of one bank.
    pub bank_conflicts: u64,
}

impl Traffic {
    /// Bytes used of each 32-byte sector: the payload efficiency. NaN where no sector was touched.
    pub fn bytes_per_sector(&self) -> f64 {
        self.bytes as f64 / self.sectors as f64
    }

    /// Sectors that a request touches. NaN where there was no request.
    pub fn sectors_per_request(&self) -> f64 {
        self.sectors as f64 / self.requests as f64
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.bytes += other.bytes;
        self.bank_conflicts += other.bank_conflicts;
    }
}

/// One line of a kernel and what it moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteReport {
    /// The line.
    pub source: &'static Location<'static>,
    /// What it does.
    pub instruction: Instruction,
    /// Bytes a lane, 0 for what moves none.
    pub bytes_per_lane: u32,
    /// The sum over the launch.
    pub traffic: Traffic,
}

/// A launch that ended well.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// How long the emulator took.
    pub seconds: f64,
    /// Every line that did something, in the source's order.
    pub sites: Vec<SiteReport>,
}

impl Report {
    /// The sum over all lines with that instruction.
    pub fn traffic(&self, instruction: Instruction) -> Traffic {
        let mut sum = Traffic::default();
        for site in self.sites.iter().filter(|site| site.instruction == instruction) {
            sum += site.traffic;
        }
        sum
    }

    pub(super) fn new(
        kernel: &'static str,
        blocks: u32,
        threads: u32,
        seconds: f64,
        sites: &[Site],
        sums: &[Traffic],
    ) -> Self {
        let mut sites: Vec<_> = std::iter::zip(sites, sums)
            .map(|(site, &traffic)| SiteReport {
                source: site.source,
                instruction: site.instruction,
                bytes_per_lane: site.bytes,
                traffic,
            })
            .collect();
        sites.sort_by_key(|site| (site.source, site.instruction, site.bytes_per_lane));
        Self {
            kernel,
            blocks: u64::from(blocks),
            threads_per_block: threads,
            seconds,
            sites,
        }
    }
}

/// The environment variable that names a file to which every launch adds a line: kernel, blocks, threads, seconds.
pub const LAUNCH_LOG: &str = "CUDA_STD_LAUNCH_LOG";

/// Adds the launch to the log, if there is one.
pub(super) fn log(report: &Report) -> Result<(), String> {
    let Some(path) = std::env::var_os(LAUNCH_LOG) else {
        return Ok(());
    };
    let line = format!(
        "{}\t{}\t{}\t{:.6}\n",
        report.kernel, report.blocks, report.threads_per_block, report.seconds
    );
    // One write of an append: lines of parallel tests do not mix.
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| format!("the launch log {} cannot be written: {error}", path.display()))
}
