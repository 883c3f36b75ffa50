//! Whether points are as if drawn at random: most of them in no cell near that of the point before.

use super::cuda::shape;
use super::plan::InterpolationMethod;
use crate::Result;
use crate::device::{Cuda, Stream, Tensor};
use kernels::interpolate::jumps::{Jumps, N_INSIDE, N_JUMPS, interpolate_jumps};

/// Fewer points are quick in any way.
const LEAST_POINTS: usize = 1 << 14;

/// Nodes a point at most: to copy more takes longer than what is saved.
const NODES_PER_POINT: usize = 8;

/// Whether it matters: what one node gives to a point is read as quickly as results are written.
pub(super) fn is_considered(method: InterpolationMethod, n_points: usize) -> bool {
    method != InterpolationMethod::Nearest && n_points >= LEAST_POINTS
}

/// Queues the count of jumps from each point to the next, into a report; `values` is the shape of the grid.
pub(super) fn queue_jumps(
    cuda: &Cuda,
    codes: &Tensor<u32>,
    values: &[usize],
    report: &mut Tensor<u32>,
    stream: &Stream,
) -> Result<()> {
    let nodes = |from_end: usize| values.iter().rev().nth(from_end).map_or(1, |n| *n as u32);
    let n_points = codes.len() as u32;
    let parameters = Jumps {
        codes: codes.global("the places")?,
        report: report.global_mut("the report")?,
        n_points,
        n_x: nodes(0),
        n_y: nodes(1),
    };
    cuda.launch(&interpolate_jumps, shape(n_points, 1), parameters, stream)
}

/// What a report says: most points are far from the one before, and a copy of the nodes' values is worth its while.
pub(super) fn are_random(n_nodes: usize, report: &[u32]) -> bool {
    let [n_jumps, n_inside] = [N_JUMPS, N_INSIDE].map(|place| report[place as usize] as usize);
    2 * n_jumps > n_inside && n_inside.saturating_mul(NODES_PER_POINT) >= n_nodes
}
