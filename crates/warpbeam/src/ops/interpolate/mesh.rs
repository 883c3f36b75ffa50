//! Nodes with positions one by one: how their cells are counted, the boxes around them, and where both are.

use super::cpu;
#[cfg(feature = "cuda")]
use super::cuda;
use super::grid::NODES;
#[cfg(feature = "cuda")]
use super::plan::Checking;
use crate::device::{Backend, Tensor};
use crate::{Error, Result};
use ndarray::{ArrayRef, Dimension};
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

/// A grid of nodes on a backend, and the boxes around its cells.
pub(super) struct Boxes {
    pub(super) cells: Cells,
    /// `(z, y, x, 3)`.
    pub(super) positions: Tensor<f64>,
    /// `(box, 8)`.
    pub(super) bounds: Tensor<f32>,
    pub(super) levels: Vec<Level>,
    /// `(1 + level, 4)`: what was reported when they were made, and then first box and boxes along each axis.
    #[cfg(feature = "cuda")]
    pub(super) device_levels: Tensor<u32>,
}

impl Boxes {
    /// Of positions on the host, `(z, y, x, 3)`, which were checked.
    pub(super) fn from_host<D: Dimension>(
        backend: &Backend,
        shape: &[usize],
        positions: &ArrayRef<f64, D>,
    ) -> Result<Self> {
        let shape = [shape[0], shape[1], shape[2]];
        let positions = Tensor::from_array(backend, positions)?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = backend.as_cuda() {
            return cuda::boxes(cuda, positions, shape, Checking::Done, &backend.stream()?);
        }
        Self::on_cpu(positions, shape)
    }

    /// Of positions on the CPU, which were checked.
    pub(super) fn on_cpu(positions: Tensor<f64>, shape: [usize; 3]) -> Result<Self> {
        let backend = positions.backend().clone();
        let from = positions.host_slice(NODES)?;
        let (cells, levels) = cells(shape);
        let mut bounds = Tensor::zeros(&backend, &[box_count(&levels), NUMBERS_PER_BOX])?;
        cpu::boxes(&cells, from, &levels, bounds.host_slice_mut("the boxes")?);
        let new = Self {
            cells,
            positions,
            bounds,
            levels,
            #[cfg(feature = "cuda")]
            device_levels: Tensor::zeros(&backend, &[0])?,
        };
        let top = box_count(&new.levels) as u32 - 1;
        if new.host()?.bounds(top).is_empty() {
            return Err(Error::FlatGrid { shape: shape.to_vec() });
        }
        Ok(new)
    }

    /// For searches on the CPU.
    pub(super) fn host(&self) -> Result<HostMesh<'_>> {
        Ok(HostMesh {
            positions: self.positions.host_slice(NODES)?,
            boxes: self.bounds.host_slice("the boxes")?,
            levels: &self.levels,
        })
    }
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

    fn any(&self, is_found: bool) -> bool {
        is_found
    }
}
