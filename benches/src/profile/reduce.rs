//! Counters of launches to the quantities of the figures.

use super::csv::Launch;
use super::metrics;
use crate::machine::COMMIT;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one kernel did in one run of a variant: sums over its launches, and means weighted by their times.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct KernelProfile {
    pub(crate) case: String,
    pub(crate) variant: String,
    pub(crate) kernel: String,
    pub(crate) launches: usize,
    pub(crate) milliseconds: f64,
    /// Of loads to registers.
    pub(crate) bytes_used_per_sector: Option<f64>,
    pub(crate) sectors_per_request: Option<f64>,
    /// Of asynchronous copies to shared memory, where there are any.
    #[serde(default)]
    pub(crate) copied_bytes_used_per_sector: Option<f64>,
    #[serde(default)]
    pub(crate) copied_sectors_per_request: Option<f64>,
    pub(crate) dram_bytes: Option<f64>,
    pub(crate) l2_bytes: Option<f64>,
    pub(crate) l1_hit_percent: Option<f64>,
    pub(crate) l2_hit_percent: Option<f64>,
    pub(crate) issue_slots_percent: Option<f64>,
    pub(crate) warps_percent: Option<f64>,
    pub(crate) tensor_pipe_percent: Option<f64>,
    pub(crate) scalar_flop: Option<f64>,
    pub(crate) tensor_flop: Option<f64>,
    /// Share of each reason for which a warp did not issue; those below a thousandth are left out.
    pub(crate) stalls: BTreeMap<String, f64>,
    pub(crate) commit: String,
}

/// How busy the tensor pipe of a kernel is that multiplies matrices, in percent.
const MULTIPLIES_FROM_PERCENT: f64 = 5.0;

impl KernelProfile {
    /// Operations of all pipes a second; not known for a kernel with matrix operations that the profiler did not count.
    pub(crate) fn flop_per_second(&self) -> Option<f64> {
        let is_counted = self.tensor_flop.is_some_and(|flop| flop > 0.0);
        let multiplies = self
            .tensor_pipe_percent
            .is_some_and(|percent| percent >= MULTIPLIES_FROM_PERCENT);
        if multiplies && !is_counted {
            return None;
        }
        let flop = self.scalar_flop.unwrap_or(0.0) + self.tensor_flop.unwrap_or(0.0);
        (flop > 0.0).then(|| flop / self.milliseconds * 1e3)
    }
}

/// What the device can do at most.
// The unit belongs to every name.
#[allow(clippy::struct_field_names)]
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Ceilings {
    /// From the profiler: bytes a cycle times cycles a second.
    pub(crate) dram_bytes_per_second: Option<f64>,
    pub(crate) l2_bytes_per_second: Option<f64>,
    /// Multiply-adds of single precision, two operations each.
    pub(crate) scalar_flop_per_second: Option<f64>,
    pub(crate) tensor_flop_per_second: Option<f64>,
    /// Measured: device memory that a copy moves a second, read and written.
    #[serde(default)]
    pub(crate) copied_bytes_per_second: Option<f64>,
    /// Measured: products of matrices of 16-bit numbers that read nothing.
    #[serde(default)]
    pub(crate) matrix_flop_per_second: Option<f64>,
    /// The same of four warps together.
    #[serde(default)]
    pub(crate) group_matrix_flop_per_second: Option<f64>,
    /// Measured: device memory that the permutation to batch-inner moves a second.
    pub(crate) permutation_bytes_per_second: Option<f64>,
}

/// The kernels of a variant's launches, in the order of their first.
pub(super) fn kernels(case: &str, variant: &str, launches: &[Launch]) -> Vec<KernelProfile> {
    let mut names: Vec<&str> = Vec::new();
    for launch in launches {
        if !names.contains(&launch.kernel.as_str()) {
            names.push(&launch.kernel);
        }
    }
    let kernel = |name: &str| {
        let own: Vec<_> = launches.iter().filter(|launch| launch.kernel == name).collect();
        reduce(case, variant, name, &own)
    };
    names.into_iter().map(kernel).collect()
}

fn reduce(case: &str, variant: &str, kernel: &str, launches: &[&Launch]) -> KernelProfile {
    let seconds = |launch: &Launch| launch.get(metrics::TIME).unwrap_or(0.0);
    let sum = |metric: &str| -> Option<f64> { launches.iter().map(|launch| launch.get(metric)).sum() };
    let mean = |metric: &str| -> Option<f64> {
        let weighted: Option<f64> = launches
            .iter()
            .map(|launch| launch.get(metric).map(|value| value * seconds(launch)))
            .sum();
        weighted.map(|weighted| weighted / launches.iter().map(|launch| seconds(launch)).sum::<f64>())
    };
    let total = |parts: &mut dyn Iterator<Item = (&str, f64)>| {
        let known: Vec<f64> = parts.filter_map(|(metric, each)| Some(sum(metric)? * each)).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
    let per_request = |[sectors, requests]: [&str; 2]| {
        let requests = sum(requests).filter(|requests| *requests > 0.0)?;
        Some(rounded(sum(sectors)? / requests))
    };
    let stalls: Vec<(&str, f64)> = metrics::stalls()
        .filter_map(|(reason, metric)| Some((reason, mean(&metric)?)))
        .collect();
    let all: f64 = stalls.iter().map(|(_, value)| value).sum();
    let shares = stalls
        .into_iter()
        .map(|(reason, value)| (reason.to_owned(), rounded(value / all)));
    KernelProfile {
        case: case.to_owned(),
        variant: variant.to_owned(),
        kernel: kernel.to_owned(),
        launches: launches.len(),
        milliseconds: rounded(1e3 * launches.iter().map(|launch| seconds(launch)).sum::<f64>()),
        bytes_used_per_sector: mean(metrics::BYTES_USED_PER_SECTOR).map(rounded),
        sectors_per_request: per_request(metrics::READ),
        copied_bytes_used_per_sector: mean(metrics::COPIED_BYTES_USED_PER_SECTOR)
            .filter(|bytes| *bytes > 0.0)
            .map(rounded),
        copied_sectors_per_request: per_request(metrics::COPIED),
        dram_bytes: total(&mut metrics::DRAM_BYTES.iter().map(|metric| (*metric, 1.0))),
        l2_bytes: sum(metrics::L2_BYTES),
        l1_hit_percent: mean(metrics::L1_HITS).map(rounded),
        l2_hit_percent: mean(metrics::L2_HITS).map(rounded),
        issue_slots_percent: mean(metrics::ISSUE_SLOTS).map(rounded),
        warps_percent: mean(metrics::WARPS).map(rounded),
        tensor_pipe_percent: metrics::TENSOR_PIPE.iter().find_map(|metric| mean(metric)).map(rounded),
        scalar_flop: total(&mut metrics::SCALAR.iter().copied()),
        tensor_flop: total(&mut metrics::TENSOR.iter().map(|metric| (*metric, 1.0))),
        stalls: shares.filter(|(_, share)| *share >= 1e-3).collect(),
        commit: COMMIT.to_owned(),
    }
}

/// Five digits after the point: more is noise, and the file stays readable.
fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

impl Ceilings {
    /// Raises the ceilings to what these launches tell of them: clocks differ a little between launches.
    pub(super) fn raise(&mut self, launches: &[Launch]) {
        let raise = |ceiling: &mut Option<f64>, value: Option<f64>| {
            if value.is_some_and(|value| ceiling.is_none_or(|before| value > before)) {
                *ceiling = value;
            }
        };
        for launch in launches {
            let peak = |[each, cycles]: [&str; 2]| Some(launch.get(each)? * launch.get(cycles)?);
            raise(&mut self.dram_bytes_per_second, peak(metrics::DRAM_PEAK));
            raise(&mut self.l2_bytes_per_second, peak(metrics::L2_PEAK));
            raise(
                &mut self.scalar_flop_per_second,
                peak(metrics::FMA_PEAK).map(|fma| 2.0 * fma),
            );
            raise(&mut self.tensor_flop_per_second, peak(metrics::TENSOR_PEAK));
            if launch.kernel.contains("permute") {
                let [read, written] = metrics::DRAM_BYTES.map(|metric| launch.get(metric));
                let rate = || Some((read? + written?) / launch.get(metrics::TIME)?);
                raise(&mut self.permutation_bytes_per_second, rate());
            }
        }
    }
}

// What is compared is exact.
#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    fn launch(kernel: &str, values: &[(&str, f64)]) -> Launch {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        Launch {
            kernel: kernel.to_owned(),
            values,
        }
    }

    #[test]
    fn launches_are_summed_and_means_are_weighted_by_time() {
        let long = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
        let wait = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
        let ffma = metrics::SCALAR[2].0;
        let part = |seconds, hits, fma, stall| {
            let values = [
                (metrics::TIME, seconds),
                (metrics::L1_HITS, hits),
                (ffma, fma),
                (metrics::READ[0], 32.0),
                (metrics::READ[1], 8.0),
                (metrics::COPIED[0], 64.0),
                (metrics::COPIED[1], 4.0),
                (metrics::DRAM_BYTES[0], 1e9),
                (metrics::DRAM_BYTES[1], 1e9),
                (long, stall),
                (wait, 1.0),
            ];
            launch("das_a", &values)
        };
        let launches = [
            part(0.03, 80.0, 5.0, 3.0),
            launch("das_permute", &[(metrics::TIME, 0.5)]),
            part(0.01, 40.0, 7.0, 3.0),
        ];
        let reduced = kernels("ex64", "voxel-f32", &launches);
        assert_eq!(
            reduced.iter().map(|kernel| kernel.kernel.as_str()).collect::<Vec<_>>(),
            ["das_a", "das_permute"]
        );
        let first = &reduced[0];
        assert_eq!((first.launches, first.milliseconds), (2, 40.0));
        assert_eq!(first.l1_hit_percent, Some(70.0));
        assert_eq!(first.scalar_flop, Some(24.0));
        assert_eq!(first.dram_bytes, Some(4e9));
        assert_eq!(first.l2_hit_percent, None);
        assert_eq!(first.sectors_per_request, Some(4.0));
        assert_eq!(first.copied_sectors_per_request, Some(16.0));
        assert_eq!(first.stalls.get("long_scoreboard"), Some(&0.75));
        assert_eq!(first.flop_per_second(), Some(600.0));
        let uncounted = KernelProfile {
            tensor_pipe_percent: Some(34.0),
            tensor_flop: Some(0.0),
            ..first.clone()
        };
        assert_eq!(uncounted.flop_per_second(), None);
        assert_eq!(reduced[1].flop_per_second(), None);
    }

    #[test]
    fn ceilings_are_the_highest_seen() {
        let mut ceilings = Ceilings::default();
        let voxel = |cycles| {
            launch(
                "das_voxel",
                &[(metrics::FMA_PEAK[0], 100.0), (metrics::FMA_PEAK[1], cycles)],
            )
        };
        let permute = [
            (metrics::TIME, 0.5),
            (metrics::DRAM_BYTES[0], 4.0),
            (metrics::DRAM_BYTES[1], 6.0),
        ];
        ceilings.raise(&[voxel(2.0), launch("das_permute_cf16", &permute), voxel(1.0)]);
        assert_eq!(ceilings.scalar_flop_per_second, Some(400.0));
        assert_eq!(ceilings.permutation_bytes_per_second, Some(20.0));
        assert_eq!(ceilings.l2_bytes_per_second, None);
    }
}
