//! What a launch would cost: executions, requests, sectors, bank conflicts.
//!
//! The lanes of a warp run one after the other, so a warp's request is put together afterwards: the accesses of the
//! same line that were their lane's n-th since the warp last met are one request.

use super::Instruction;
use super::report::Traffic;
use super::site::Site;

const LANES: usize = 32;
/// Bytes of a sector, the unit in which global memory travels.
const SECTOR: u64 = 32;
/// Banks of shared memory, four bytes wide.
const BANKS: u32 = 32;
/// Accesses of a lane that are remembered before its warp must catch up.
const REMEMBERED: u32 = 4096;

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

    /// Forgets all, also what a block that ended with a fault left.
    pub(super) fn clear(&mut self) {
        self.sums.clear();
        for number in self.active.drain(..) {
            let pending = &mut self.pending[usize::from(number)];
            pending.instruction = None;
            pending.lanes.iter_mut().for_each(Vec::clear);
        }
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
        let distinct = distinct(addresses);
        let sectors = addresses.chunk_by(|a, b| a / SECTOR == b / SECTOR).count();
        Traffic {
            executions: self.length as u64,
            requests: 1,
            sectors: sectors as u64,
            bytes: distinct * u64::from(bytes),
            bank_conflicts: 0,
        }
    }

    /// In shared memory: 128 bytes a pass, so a half of the warp at 8 bytes a lane, a quarter at 16. Lanes that want
    /// different words of one bank take further passes.
    pub(super) fn shared(&mut self, bytes: u32) -> Traffic {
        let lanes_a_pass = (128 / bytes.max(4)) as u8;
        let words_a_lane = u64::from(bytes.div_ceil(4));
        let mut conflicts = 0;
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
            for same in words.chunk_by(|a, b| a == b) {
                in_bank[(same[0] % u64::from(BANKS)) as usize] += 1;
            }
            conflicts += in_bank.iter().max().map_or(0, |most| most - 1);
        }
        Traffic {
            executions: self.length as u64,
            requests: 1,
            sectors: 0,
            bytes: distinct(&mut self.addresses[..self.length]) * u64::from(bytes),
            bank_conflicts: conflicts,
        }
    }
}

/// Sorts the addresses; how many they are, equal ones counted once.
fn distinct(addresses: &mut [u64]) -> u64 {
    addresses.sort_unstable();
    addresses.chunk_by(|a, b| a == b).count() as u64
}
