//! Whether neighbouring points are in neighbouring cells.

use super::{THREADS, number};
use cuda_std::{Global, GlobalMut, Parameters, Resources, atomic, thread, warp};
use wavefield::interpolation::OUTSIDE;

/// Cells along each axis between neighbours at most; further is a jump.
const NEAR: u32 = 2;

/// Where in a report the number of jumps is added up.
pub const N_JUMPS: u64 = 1;

/// Where in a report the number of points in the grid is added up.
pub const N_INSIDE: u64 = 2;

/// The parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Jumps {
    /// `(point,)`: the places' codes.
    pub codes: Global<u32>,
    /// What is counted is added to [`N_JUMPS`] and [`N_INSIDE`].
    pub report: GlobalMut<u32>,
    /// Points.
    pub n_points: u32,
    /// Nodes along the fastest axis.
    pub n_x: u32,
    /// Nodes along the next one.
    pub n_y: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Jumps {}

/// Where along three axes a place's node is.
#[inline(always)]
fn position(code: u32, n_x: u32, n_y: u32) -> [u32; 3] {
    let node = code >> 3;
    let rest = node / n_x;
    [node % n_x, rest % n_y, rest / n_y]
}

cuda_std::kernels! {
    /// Counts points in the grid, and those of them that are in no cell near that of the point before.
    interpolate_jumps(p: Jumps),
    threads THREADS, blocks 1,
    resources Resources { registers: 32, barriers: 0, warp_operations: 2, matrix_operations: 0 },
    {
        let number = number();
        let is_there = number < p.n_points;
        // SAFETY: points' numbers; all lanes vote; words that only atomic operations touch.
        unsafe {
            let code = p.codes.load(u64::from(number.min(p.n_points - 1)));
            let before = p.codes.load(u64::from(number.min(p.n_points - 1).max(1) - 1));
            let (n_x, n_y) = (p.n_x.max(1), p.n_y.max(1));
            let ([x, y, z], [x_before, y_before, z_before]) = (position(code, n_x, n_y), position(before, n_x, n_y));
            let farthest = x.abs_diff(x_before).max(y.abs_diff(y_before)).max(z.abs_diff(z_before));
            let is_near = before != OUTSIDE && farthest <= NEAR;
            let is_inside = is_there && code != OUTSIDE;
            let inside = warp::ballot(is_inside);
            let jumps = warp::ballot(is_inside && !is_near);
            if thread::lane() == 0 && inside != 0 {
                atomic::add(p.report, N_JUMPS, jumps.count_ones());
                atomic::add(p.report, N_INSIDE, inside.count_ones());
            }
        }
    }
}
