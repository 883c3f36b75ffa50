//! Nodes with positions one by one: how their cells are counted, and the boxes around them.

use wavefield::geometry::Vector;
use wavefield::interpolation::search::{Bounds, Cells, Level, Mesh, Nodes};

/// Numbers of a box in memory: the lowest coordinates and one that nobody reads, the highest and one more.
pub(super) const NUMBERS_PER_BOX: usize = 8;

/// Cells of a grid of nodes `(z, y, x)`, and the levels of boxes.
pub(super) fn cells(shape: [usize; 3]) -> (Cells, Vec<Level>) {
    let [n_z, n_y, n_x] = shape.map(|count| count as u32);
    let mut axes = [(n_x, 1), (n_y, n_x), (n_z, n_x * n_y)];
    // Those of more than one node first, in their order.
    axes.sort_by_key(|(count, _)| *count == 1);
    let counts = axes.map(|(count, _)| count.max(2) - 1);
    let mut levels = vec![Level { first: 0, counts }];
    let mut last = levels[0];
    while last.counts != [1; 3] {
        last = Level {
            first: last.first + last.counts.iter().product::<u32>(),
            counts: last.counts.map(|count| count.div_ceil(2)),
        };
        levels.push(last);
    }
    let cells = Cells {
        counts,
        steps: axes.map(|(count, step)| if count == 1 { 0 } else { step }),
        n_axes: axes.iter().filter(|(count, _)| *count > 1).count() as u32,
        n_levels: levels.len() as u32,
    };
    (cells, levels)
}

/// Boxes of all levels.
pub(super) fn box_count(levels: &[Level]) -> usize {
    levels.last().map_or(0, |top| top.first as usize + 1)
}

/// Nodes, boxes and levels in the host's memory.
#[derive(Clone, Copy)]
pub(super) struct HostMesh<'a> {
    /// `(node, 3)`.
    pub(super) positions: &'a [f64],
    /// `(box, 8)`.
    pub(super) boxes: &'a [f32],
    pub(super) levels: &'a [Level],
}

impl Nodes for HostMesh<'_> {
    fn node(&self, number: u32) -> Vector<f64> {
        let at = 3 * number as usize;
        [self.positions[at], self.positions[at + 1], self.positions[at + 2]]
    }
}

impl Mesh for HostMesh<'_> {
    fn bounds(&self, number: u32) -> Bounds {
        let at = NUMBERS_PER_BOX * number as usize;
        let numbers = &self.boxes[at..at + NUMBERS_PER_BOX];
        Bounds {
            low: [numbers[0], numbers[1], numbers[2]],
            high: [numbers[4], numbers[5], numbers[6]],
        }
    }

    fn level(&self, level: u32) -> Level {
        self.levels[level as usize]
    }
}
