//! Places of points: along axes, or through boxes.

use super::{THREADS, number, vector};
use cuda_std::{Global, GlobalMut, Parameters, Resources, warp};
use wavefield::geometry::Vector;
use wavefield::interpolation::Place;
use wavefield::interpolation::axes::AxesGrid;
use wavefield::interpolation::search::{Bounds, Cells, Level, Mesh, Nodes};

/// Points and where their places go.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Points {
    /// `(point, 3)`.
    pub points: Global<f64>,
    /// `(point,)`: the places' codes.
    pub codes: GlobalMut<u32>,
    /// `(point, 2)`: the places' numbers, two by two, where they are wanted.
    pub numbers: GlobalMut<[f64; 2]>,
    /// How many there are.
    pub n_points: u32,
    /// 1 where numbers are wanted, otherwise 0.
    pub has_numbers: u32,
}

/// The parameters of the search along axes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AlongAxes {
    /// The points.
    pub points: Points,
    /// The grid.
    pub grid: AxesGrid,
    /// Coordinates of the axes that are not evenly spaced.
    pub table: Global<f64>,
}

/// The parameters of the search through boxes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ThroughBoxes {
    /// The points.
    pub points: Points,
    /// The grid.
    pub cells: Cells,
    /// Positions of nodes, `(node, 3)`.
    pub positions: Global<f64>,
    /// Lowest coordinates and a number that nobody reads, highest and one more.
    pub boxes: Global<[f32; 4]>,
    /// The report that came with the boxes, and then levels: the first box, and boxes along each axis.
    pub levels: Global<[u32; 4]>,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for AlongAxes {}
// SAFETY: as above.
unsafe impl Parameters for ThroughBoxes {}

impl Nodes for ThroughBoxes {
    #[inline(always)]
    fn node(&self, number: u32) -> Vector<f64> {
        // SAFETY: cells name nodes of their grid alone, which are all there by the launching side's promise.
        unsafe { vector(self.positions, number) }
    }
}

impl Mesh for ThroughBoxes {
    #[inline(always)]
    fn bounds(&self, number: u32) -> Bounds {
        let at = 2 * u64::from(number);
        // SAFETY: levels name boxes that there are, by the launching side's promise.
        let ([a, b, c, _], [d, e, f, _]) = unsafe { (self.boxes.load(at), self.boxes.load(at + 1)) };
        Bounds {
            low: [a, b, c],
            high: [d, e, f],
        }
    }

    #[inline(always)]
    fn level(&self, level: u32) -> Level {
        // SAFETY: a level below the grid's number of levels.
        let [first, x, y, z] = unsafe { self.levels.load(1 + u64::from(level)) };
        Level {
            first,
            counts: [x, y, z],
        }
    }

    #[inline(always)]
    fn any(&self, is_found: bool) -> bool {
        // SAFETY: the search for a point asks as often in all lanes, and `find` leaves none out.
        unsafe { warp::any(is_found) }
    }
}

/// Finds this thread's point; threads without one look for the last, because lanes of a warp search together.
///
/// # Safety
///
/// The slices hold what the counts say.
#[inline(always)]
unsafe fn find(p: Points, place: impl Fn(Vector<f64>) -> Place) {
    let number = number();
    // SAFETY: a point's number.
    let Place {
        code,
        numbers: [a, b, c, d],
    } = place(unsafe { vector(p.points, number.min(p.n_points - 1)) });
    if number >= p.n_points {
        return;
    }
    let at = u64::from(number);
    // SAFETY: places of the point, this thread's alone.
    unsafe {
        p.codes.store(at, code);
        if p.has_numbers != 0 {
            p.numbers.store(2 * at, [a, b]);
            p.numbers.store(2 * at + 1, [c, d]);
        }
    }
}

cuda_std::kernels! {
    /// Places along axes.
    interpolate_along_axes(p: AlongAxes),
    threads THREADS, blocks 1,
    resources Resources { registers: 64, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: axes name places of the table that there are, by the launching side's promise.
        let table = |at: u32| unsafe { p.table.load(u64::from(at)) };
        // SAFETY: the launching side's promise.
        unsafe { find(p.points, |point| p.grid.locate(point, table)) }
    }

    /// Tetrahedra that hold points.
    interpolate_through_boxes(p: ThroughBoxes),
    threads THREADS, blocks 2,
    resources Resources { registers: 128, barriers: 0, warp_operations: 1, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { find(p.points, |point| p.cells.locate(&p, point)) }
    }

    /// Nodes that are nearest to points.
    interpolate_nearest_through_boxes(p: ThroughBoxes),
    threads THREADS, blocks 2,
    resources Resources { registers: 128, barriers: 0, warp_operations: 2, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { find(p.points, |point| p.cells.nearest(&p, point)) }
    }
}
