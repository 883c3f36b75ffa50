//! The order in which a CUDA device takes points: the caller's where neighbours are in neighbouring cells, else by cells.

use super::cuda::shape;
use super::plan::InterpolationMethod;
use crate::device::{Cuda, Stream, Tensor};
use crate::{Result, sort};
use kernels::interpolate::order::{Jumps, Keys, N_INSIDE, N_JUMPS, interpolate_jumps, interpolate_keys};

/// Fewer points are quick in any order.
const LEAST_POINTS: usize = 1 << 14;

/// Nodes a point at most: with more, sorted neighbours share nothing either.
const NODES_PER_POINT: usize = 8;

/// Whether an order may be worth its while: what one node gives to a point is read as quickly as results are written.
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

/// The order by cells, if most points are far from the one before and sorted neighbours would be close.
pub(super) fn order(
    cuda: &Cuda,
    codes: &Tensor<u32>,
    n_nodes: usize,
    report: &[u32],
    stream: &Stream,
) -> Result<Option<Tensor<u32>>> {
    let [n_jumps, n_inside] = [N_JUMPS, N_INSIDE].map(|place| report[place as usize] as usize);
    if 2 * n_jumps <= n_inside || n_inside.saturating_mul(NODES_PER_POINT) < n_nodes {
        return Ok(None);
    }
    let mut keys = sort::keys::<u32>(codes.backend(), codes.len())?;
    let n_points = codes.len() as u32;
    let parameters = Keys {
        codes: codes.global("the places")?,
        keys: keys.global_mut("the nodes of points")?,
        n_points,
        n_nodes: n_nodes as u32,
    };
    cuda.launch(&interpolate_keys, shape(n_points, 1), parameters, stream)?;
    let bits = (n_nodes as u32).ilog2() + 1;
    sort::order::<u32>(cuda, keys, bits, stream).map(Some)
}
