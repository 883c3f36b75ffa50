//! Coordinates in double precision, those that are no numbers, and boxes around cells and around boxes.

use super::{THREADS, number, vector};
use cuda_std::{Global, GlobalMut, Parameters, Resources, atomic};
use wavefield::geometry::Vector;
use wavefield::interpolation::is_coordinate;
use wavefield::interpolation::search::{Bounds, Cells, Level, Nodes};

/// What stands at [`FIRST_BAD`] before the launch, and after it where every coordinate is good.
pub const NONE: u32 = u32::MAX;

/// Where in a report the least place of a coordinate is that is not finite or too large.
pub const FIRST_BAD: u64 = 0;

/// Where in a report stands 1 after the box around all is made, if there is nothing in it.
pub const IS_FLAT: u64 = 3;

/// The parameters of the copy to double precision.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Widen {
    /// The coordinates.
    pub coordinates: Global<f32>,
    /// The same in double precision.
    pub wide: GlobalMut<f64>,
    /// How many coordinates there are.
    pub n_coordinates: u32,
}

/// The parameters of the search for bad coordinates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Check {
    /// The coordinates.
    pub coordinates: Global<f64>,
    /// What is found is at [`FIRST_BAD`].
    pub report: GlobalMut<u32>,
    /// How many coordinates there are.
    pub n_coordinates: u32,
}

/// The parameters of the boxes of a level.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Boxes {
    /// The grid.
    pub cells: Cells,
    /// The level to make.
    pub level: Level,
    /// The one below, whose boxes are there; for those of cells it does not matter.
    pub below: Level,
    /// Positions of nodes, `(node, 3)`.
    pub positions: Global<f64>,
    /// All boxes: lowest coordinates and a number that nobody reads, highest and one more.
    pub boxes: GlobalMut<[f32; 4]>,
    /// Of the last level at [`IS_FLAT`].
    pub report: GlobalMut<u32>,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Widen {}
// SAFETY: as above.
unsafe impl Parameters for Check {}
// SAFETY: as above.
unsafe impl Parameters for Boxes {}

/// Positions in memory.
struct Positions(Global<f64>);

impl Nodes for Positions {
    #[inline(always)]
    fn node(&self, number: u32) -> Vector<f64> {
        // SAFETY: cells name nodes of their grid alone, which are all there by the launching side's promise.
        unsafe { vector(self.0, number) }
    }
}

/// Makes the box that is this thread's, if there is one.
///
/// # Safety
///
/// The slices hold what grid and levels say; no thread writes what another reads.
#[inline(always)]
unsafe fn make(p: Boxes, bounds: impl Fn([u32; 3]) -> Bounds) {
    let [x, y, z] = p.level.counts;
    let number = p.level.first + number();
    if number >= p.level.first + x * y * z {
        return;
    }
    let made = bounds(p.level.position(number - p.level.first));
    let Bounds { low, high } = made;
    let at = 2 * u64::from(number);
    // SAFETY: a box of the level, this thread's alone, and a word that is the only box's of the last level.
    unsafe {
        if x * y * z == 1 && made.is_empty() {
            p.report.store(IS_FLAT, 1);
        }
        p.boxes.store(at, [low[0], low[1], low[2], 0.0]);
        p.boxes.store(at + 1, [high[0], high[1], high[2], 0.0]);
    }
}

cuda_std::kernels! {
    /// Copies coordinates to double precision.
    interpolate_widen(p: Widen),
    threads THREADS, blocks 1,
    resources Resources { registers: 16, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        let number = number();
        if number < p.n_coordinates {
            let at = u64::from(number);
            // SAFETY: a coordinate's place, this thread's alone.
            unsafe { p.wide.store(at, f64::from(p.coordinates.load(at))) };
        }
    }

    /// Looks for coordinates that are not finite or too large.
    interpolate_check(p: Check),
    threads THREADS, blocks 1,
    resources Resources { registers: 16, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        let number = number();
        // SAFETY: a coordinate's place; one word that only atomic operations touch.
        unsafe {
            if number < p.n_coordinates && !is_coordinate(p.coordinates.load(u64::from(number))) {
                atomic::min(p.report, FIRST_BAD, number);
            }
        }
    }

    /// Boxes around cells.
    interpolate_cell_boxes(p: Boxes),
    threads THREADS, blocks 1,
    resources Resources { registers: 72, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { make(p, |at| p.cells.bounds(&Positions(p.positions), at)) }
    }

    /// Boxes around those of the level below.
    interpolate_merge_boxes(p: Boxes),
    threads THREADS, blocks 1,
    resources Resources { registers: 80, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        let bounds = |number: u32| {
            let at = 2 * u64::from(number);
            // SAFETY: a box of the level below, which an earlier launch has made.
            let ([a, b, c, _], [d, e, f, _]) = unsafe { (p.boxes.load(at), p.boxes.load(at + 1)) };
            Bounds { low: [a, b, c], high: [d, e, f] }
        };
        // SAFETY: the launching side's promise.
        unsafe { make(p, |at| p.below.merged(at, bounds)) }
    }
}
