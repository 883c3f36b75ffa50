//! What a launch would cost: executions, requests, sectors, bank conflicts.
//!
//! The lanes of a warp run one after the other, so a warp's request is put together afterwards: the accesses of the
//! same line that were their lane's n-th since the warp last met are one request.

use super::Instruction;
use super::site::Site;
use std::ops::AddAssign;
use std::panic::Location;

const LANES: usize = 32;
/// Bytes of a sector, the unit in which global memory travels.
const SECTOR: u64 = 32;
/// Banks of shared memory, four bytes wide.
const BANKS: u32 = 32;
/// Accesses of a lane that are remembered before its warp must catch up.
const REMEMBERED: u32 = 4096;

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

/// The addresses of one line, until the warp's lanes have caught up.
#[derive(Default)]
struct Pending {
    instruction: Option<Instruction>,
    bytes: u32,
    lanes: [Vec<u64>; LANES],
}

/// The counters of one block, by the number of the line.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) sums: Vec<Traffic>,
    pending: Vec<Pending>,
    active: Vec<u16>,
    remembered: [u32; LANES],
}

impl Counters {
    /// Notes a lane's access; true if the lane should let its warp catch up.
    #[inline]
    pub(super) fn access(&mut self, number: u16, site: &Site, lane: usize, address: u64) -> bool {
        let index = usize::from(number);
        if index >= self.pending.len() {
            self.pending.resize_with(index + 1, Pending::default);
        }
        let pending = &mut self.pending[index];
        if pending.instruction.is_none() {
            pending.instruction = Some(site.instruction);
            pending.bytes = site.bytes;
            self.active.push(number);
        }
        pending.lanes[lane].push(address);
        self.remembered[lane] += 1;
        self.remembered[lane] >= REMEMBERED
    }

    /// Notes an instruction that moves nothing, or whose addresses are given elsewhere.
    pub(super) fn execute(&mut self, number: u16, executions: u64, requests: u64) -> &mut Traffic {
        let sum = sum(&mut self.sums, number);
        sum.executions += executions;
        sum.requests += requests;
        sum
    }

    /// Puts requests together: all of them if no lane is in between, else those that the lanes in between have passed.
    pub(super) fn gather(&mut self, lanes_in_between: u32) {
        let Self {
            sums,
            pending,
            active,
            remembered,
        } = self;
        remembered.fill(0);
        active.retain(|&number| {
            let Pending {
                instruction,
                bytes,
                lanes,
            } = &mut pending[usize::from(number)];
            let passed = lanes
                .iter()
                .enumerate()
                .filter(|(lane, addresses)| lanes_in_between >> lane & 1 == 1 && !addresses.is_empty())
                .map(|(_, addresses)| addresses.len())
                .min()
                .or_else(|| lanes.iter().map(Vec::len).max())
                .unwrap_or(0);
            let sum = sum(sums, number);
            let shared = matches!(
                instruction,
                Some(Instruction::SharedLoad | Instruction::SharedStore | Instruction::SharedAtomic)
            );
            let mut request = Request::default();
            for occurrence in 0..passed {
                request.clear();
                for (lane, addresses) in lanes.iter().enumerate() {
                    if let Some(&address) = addresses.get(occurrence) {
                        request.add(lane, address);
                    }
                }
                *sum += if shared {
                    request.shared(*bytes)
                } else {
                    request.global(*bytes)
                };
            }
            let mut left = false;
            for addresses in lanes {
                addresses.drain(..passed.min(addresses.len()));
                left |= !addresses.is_empty();
            }
            if !left {
                *instruction = None;
            }
            left
        });
    }

    /// Forgets what a launch that ended with a fault left.
    pub(super) fn clear(&mut self) {
        self.sums.clear();
        self.pending.clear();
        self.active.clear();
        self.remembered.fill(0);
    }
}

#[inline]
fn sum(sums: &mut Vec<Traffic>, number: u16) -> &mut Traffic {
    let index = usize::from(number);
    if index >= sums.len() {
        sums.resize(index + 1, Traffic::default());
    }
    &mut sums[index]
}

/// The addresses that a warp sends at once.
#[derive(Default)]
pub(super) struct Request {
    lanes: [u8; LANES],
    addresses: [u64; LANES],
    length: usize,
}

impl Request {
    fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds a lane's address; lanes come in their order.
    pub(super) fn add(&mut self, lane: usize, address: u64) {
        self.lanes[self.length] = lane as u8;
        self.addresses[self.length] = address;
        self.length += 1;
    }

    /// In global memory: distinct bytes and sectors. Accesses are aligned, so none lies in two sectors.
    fn global(&mut self, bytes: u32) -> Traffic {
        let addresses = &mut self.addresses[..self.length];
        addresses.sort_unstable();
        let (mut distinct, mut sectors) = (0, 0);
        let mut last = None;
        for &address in &*addresses {
            distinct += u64::from(last != Some(address));
            sectors += u64::from(last.map(|last| last / SECTOR) != Some(address / SECTOR));
            last = Some(address);
        }
        Traffic {
            executions: self.length as u64,
            requests: 1,
            sectors,
            bytes: distinct * u64::from(bytes),
            bank_conflicts: 0,
        }
    }

    /// In shared memory: 128 bytes a pass, so a half of the warp at 8 bytes a lane, a quarter at 16. Lanes that want
    /// different words of one bank take further passes.
    pub(super) fn shared(&self, bytes: u32) -> Traffic {
        let lanes_a_pass = (128 / bytes.max(4)) as u8;
        let words_a_lane = u64::from(bytes.div_ceil(4));
        let (mut distinct, mut conflicts) = (0, 0);
        let mut at = 0;
        while at < self.length {
            let pass = self.lanes[at] / lanes_a_pass;
            let mut words = [0; LANES];
            let mut length = 0;
            while at < self.length && self.lanes[at] / lanes_a_pass == pass {
                for word in 0..words_a_lane {
                    words[length] = self.addresses[at] / 4 + word;
                    length += 1;
                }
                at += 1;
            }
            let words = &mut words[..length];
            words.sort_unstable();
            let mut in_bank = [0_u64; BANKS as usize];
            let mut last = None;
            for &word in &*words {
                if last != Some(word) {
                    in_bank[(word % u64::from(BANKS)) as usize] += 1;
                    distinct += 1;
                }
                last = Some(word);
            }
            conflicts += in_bank.iter().max().map_or(0, |most| most - 1);
        }
        Traffic {
            executions: self.length as u64,
            requests: 1,
            sectors: 0,
            bytes: distinct * u64::from(bytes.min(4)),
            bank_conflicts: conflicts,
        }
    }
}

/// The environment variable that names a file to which every launch adds a line: kernel, blocks, threads, seconds.
pub const LAUNCH_LOG: &str = "CUDA_STD_LAUNCH_LOG";

/// Adds the launch to the log, if there is one.
pub(super) fn log(report: &Report) -> Result<(), String> {
    use std::io::Write;
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
