//! The cell of a point among cells of any form: by boxes around them, and boxes around two by two by two of those, up to one
//! around all.
//!
//! Whatever the sizes of the cells, boxes are as many as cells and a seventh, and no order of work is in the result: of all
//! tetrahedra that hold a point, the one with the least code counts, and of those that hold it but for rounding, the one
//! that misses it least.

use super::tetrahedra::{COUNT, Tetrahedron, Weights, is_needed, path};
use super::walk::Search;
use super::{OUTSIDE, Place, TOLERANCE, larger, smaller};
use crate::geometry::{Vector, add_squared_difference, difference};

/// A grid's cells, axes of more than one node first.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// Cells along each axis; 1 where there is one node.
    pub counts: [u32; 3],
    /// How many nodes further the next one along each axis is; 0 where there is one.
    pub steps: [u32; 3],
    /// Axes of more than one node.
    pub n_axes: u32,
    /// Levels of boxes: those of cells, and up to the one around all.
    pub n_levels: u32,
}

/// The lowest and the highest coordinates of what is in a box, counted from the first node's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest.
    pub low: Vector<f32>,
    /// Highest.
    pub high: Vector<f32>,
}

/// A level of boxes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The first one's number.
    pub first: u32,
    /// Boxes along each axis, the first the fastest.
    pub counts: [u32; 3],
}

impl Level {
    /// The number of a box.
    #[inline(always)]
    pub const fn number(&self, at: [u32; 3]) -> u32 {
        self.first + (at[2] * self.counts[1] + at[1]) * self.counts[0] + at[0]
    }

    /// Where a box of the level is, counted from its first.
    #[inline(always)]
    pub const fn position(&self, number: u32) -> [u32; 3] {
        let rest = number / self.counts[0];
        [number % self.counts[0], rest % self.counts[1], rest / self.counts[1]]
    }

    /// The box around those of this level that belong to one of the next.
    #[inline(always)]
    pub fn merged(&self, at: [u32; 3], bounds: impl Fn(u32) -> Bounds) -> Bounds {
        let mut all = Bounds::NOTHING;
        cuda_std::unroll!(CHILD in [0, 1, 2, 3, 4, 5, 6, 7] {
            // What is beyond the end is the last one again.
            let along = |axis: usize| {
                let position = 2 * at[axis] + (CHILD as u32 >> axis & 1);
                if position < self.counts[axis] { position } else { self.counts[axis] - 1 }
            };
            all = all.with(bounds(self.number([along(0), along(1), along(2)])));
        });
        all
    }
}

/// Positions of nodes.
pub trait Nodes {
    /// The position of a node.
    fn node(&self, number: u32) -> Vector<f64>;
}

/// Nodes and boxes.
pub trait Mesh: Nodes {
    /// A box.
    fn bounds(&self, number: u32) -> Bounds;

    /// A level of boxes: 0 are those of cells.
    fn level(&self, level: u32) -> Level;

    /// Whether this holds for any of the points that are looked for together: the lanes of a warp, or one on its own.
    fn any(&self, is_found: bool) -> bool;
}

impl Bounds {
    /// Around nothing.
    pub const NOTHING: Self = Self {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    /// Around two.
    #[inline(always)]
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let mut both = self;
        cuda_std::unroll!(AXIS in [0, 1, 2] {
            if other.low[AXIS] < both.low[AXIS] {
                both.low[AXIS] = other.low[AXIS];
            }
            if other.high[AXIS] > both.high[AXIS] {
                both.high[AXIS] = other.high[AXIS];
            }
        });
        both
    }

    /// Whether there is nothing in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    #[inline(always)]
    #[allow(
        clippy::needless_bitwise_bool,
        reason = "a branch would wait for one box after the other"
    )]
    fn holds(&self, point: Vector<f32>) -> bool {
        let along = |axis: usize| (self.low[axis] <= point[axis]) & (point[axis] <= self.high[axis]);
        along(0) & along(1) & along(2)
    }

    /// At most the squared distance of a point.
    #[inline(always)]
    fn squared_distance(&self, point: Vector<f32>) -> f64 {
        let mut square = 0.0;
        cuda_std::unroll!(AXIS in [0, 1, 2] {
            let (low, high) = (self.low[AXIS] - point[AXIS], point[AXIS] - self.high[AXIS]);
            let gap = if low > high { low } else { high };
            // More than what rounding to single precision may have added.
            let rounding = 4.0 * f32::EPSILON * (point[AXIS].abs() + gap.abs());
            if gap > rounding {
                square = add_squared_difference(square, f64::from(gap), f64::from(rounding));
            }
        });
        square
    }
}

impl Cells {
    /// A cell's node with the least number.
    #[inline(always)]
    pub const fn node(&self, at: [u32; 3]) -> u32 {
        at[0] * self.steps[0] + at[1] * self.steps[1] + at[2] * self.steps[2]
    }

    /// A position as boxes count it.
    #[inline(always)]
    fn relative<N: Nodes>(nodes: &N, point: Vector<f64>) -> Vector<f32> {
        // Rounding keeps the order, so that what is in a box stays in it.
        let way = difference(point, nodes.node(0));
        [way[0] as f32, way[1] as f32, way[2] as f32]
    }

    #[inline(always)]
    fn tetrahedron<N: Nodes>(&self, nodes: &N, node: u32, tetrahedron: u32) -> Option<Tetrahedron> {
        let path = path(node, tetrahedron, self.steps);
        let positions = [
            nodes.node(path[0]),
            nodes.node(path[1]),
            nodes.node(path[2]),
            nodes.node(path[3]),
        ];
        Tetrahedron::new(positions, self.n_axes)
    }

    /// The box around a cell and around the points beside it that belong to it; nothing where the cell is flat.
    #[inline(always)]
    pub fn bounds<N: Nodes>(&self, nodes: &N, at: [u32; 3]) -> Bounds {
        let node = self.node(at);
        let mut tetrahedron = 0;
        while !is_needed(tetrahedron, self.n_axes) || self.tetrahedron(nodes, node, tetrahedron).is_none() {
            tetrahedron += 1;
            if tetrahedron == COUNT {
                return Bounds::NOTHING;
            }
        }
        let (mut low, mut high) = (nodes.node(node), nodes.node(node));
        let mut corner = 1;
        while corner < 8 {
            let part = |axis: u32| corner >> axis & 1;
            let position = nodes.node(node + self.node([part(0), part(1), part(2)]));
            cuda_std::unroll!(AXIS in [0, 1, 2] {
                low[AXIS] = smaller(low[AXIS], position[AXIS]);
                high[AXIS] = larger(high[AXIS], position[AXIS]);
            });
            corner += 1;
        }
        let sides = (high[0] - low[0]) + (high[1] - low[1]) + (high[2] - low[2]);
        let far = larger(super::size(low), super::size(high));
        let margin = 10.0 * TOLERANCE * sides + 8.0 * super::ROUNDING * far;
        let outwards = [
            [low[0] - margin, low[1] - margin, low[2] - margin],
            [high[0] + margin, high[1] + margin, high[2] + margin],
        ];
        Bounds {
            low: Self::relative(nodes, outwards[0]),
            high: Self::relative(nodes, outwards[1]),
        }
    }

    /// The tetrahedron that holds a point, and its weights.
    #[inline(always)]
    pub fn locate<M: Mesh>(&self, mesh: &M, point: Vector<f64>) -> Place {
        let mut search = Tetrahedra {
            cells: self,
            mesh,
            point,
            relative: Self::relative(mesh, point),
            code: OUTSIDE,
            excess: f64::INFINITY,
            numbers: [0.0; 4],
        };
        self.walk(mesh, &mut search, true);
        Place {
            code: search.code,
            numbers: search.numbers,
        }
    }

    /// The nearest of all nodes of cells that are not flat to a point in the grid; of several, the one with the least number.
    #[inline(always)]
    pub fn nearest<M: Mesh>(&self, mesh: &M, point: Vector<f64>) -> Place {
        let place = self.locate(mesh, point);
        let is_inside = place.code != OUTSIDE;
        // The first cell stands for none.
        let code = if is_inside { place.code } else { 0 };
        let path = path(code >> 3, code & 7, self.steps);
        let node = match Weights::largest(place.numbers) {
            0 => path[0],
            1 => path[1],
            2 => path[2],
            _ => path[3],
        };
        let mut search = NearestNode {
            cells: self,
            mesh,
            point,
            relative: Self::relative(mesh, point),
            node,
            square: squared_distance(mesh.node(node), point),
        };
        self.walk(mesh, &mut search, is_inside);
        if is_inside { Place::node(search.node) } else { place }
    }
}

#[inline(always)]
fn squared_distance(a: Vector<f64>, b: Vector<f64>) -> f64 {
    let plane = add_squared_difference(add_squared_difference(0.0, a[0], b[0]), a[1], b[1]);
    add_squared_difference(plane, a[2], b[2])
}

struct Tetrahedra<'a, M> {
    cells: &'a Cells,
    mesh: &'a M,
    point: Vector<f64>,
    relative: Vector<f32>,
    code: u32,
    excess: f64,
    numbers: [f64; 4],
}

impl<M: Mesh> Search for Tetrahedra<'_, M> {
    #[inline(always)]
    fn enters(&self, bounds: Bounds) -> bool {
        bounds.holds(self.relative)
    }

    #[inline(always)]
    fn wants(&self, code: u32) -> bool {
        self.excess > 0.0 || code < self.code
    }

    #[inline(always)]
    fn visit(&mut self, node: u32) {
        let mut number = 0;
        while number < COUNT && self.wants(node << 3 | number) {
            if is_needed(number, self.cells.n_axes)
                && let Some(tetrahedron) = self.cells.tetrahedron(self.mesh, node, number)
            {
                let weights = tetrahedron.weights(self.point);
                let code = node << 3 | number;
                let is_better = weights.excess < self.excess || (weights.excess <= self.excess && code < self.code);
                if weights.excess <= TOLERANCE && is_better {
                    (self.code, self.excess, self.numbers) = (code, weights.excess, weights.settled());
                }
            }
            number += 1;
        }
    }
}

struct NearestNode<'a, M> {
    cells: &'a Cells,
    mesh: &'a M,
    point: Vector<f64>,
    relative: Vector<f32>,
    node: u32,
    square: f64,
}

impl<M: Mesh> Search for NearestNode<'_, M> {
    #[inline(always)]
    fn enters(&self, bounds: Bounds) -> bool {
        !bounds.is_empty() && bounds.squared_distance(self.relative) <= self.square
    }

    #[inline(always)]
    fn wants(&self, _: u32) -> bool {
        true
    }

    #[inline(always)]
    fn visit(&mut self, first: u32) {
        let mut corner = 0;
        while corner < 8 {
            let part = |axis: u32| corner >> axis & 1;
            let node = first + self.cells.node([part(0), part(1), part(2)]);
            let square = squared_distance(self.mesh.node(node), self.point);
            if square < self.square || (square <= self.square && node < self.node) {
                (self.node, self.square) = (node, square);
            }
            corner += 1;
        }
    }
}
