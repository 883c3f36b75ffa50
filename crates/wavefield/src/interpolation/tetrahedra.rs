//! The six tetrahedra of a cell, and a point's weights in one.
//!
//! Each is a path from the cell's first node to its last, one step along each axis, in one of six orders. Cells that share a
//! face cut it the same way, so that what is interpolated is continuous. Where a grid has axes of one node, the path's
//! steps along them are nothing: two axes make triangles, one makes lines.
//!
//! Source: H. W. Kuhn, "Some combinatorial lemmas in topology", IBM Journal of Research and Development 4, 1960.

use super::{ROUNDING, larger, size, smaller};
use crate::geometry::{Vector, difference, dot, length};
use cuda_std::math::Real;

/// Tetrahedra of a cell.
pub const COUNT: u32 = 6;

/// A cell is flat where its volume is less than this part of the product of its sides.
const FLAT: f64 = 1e-10;

/// The axis of a path's first step.
#[inline(always)]
const fn first_axis(tetrahedron: u32) -> u32 {
    tetrahedron >> 1
}

/// The axis of its last step: 2, 1, 2, 0, 1, 0.
#[inline(always)]
const fn last_axis(tetrahedron: u32) -> u32 {
    (0x126 >> (2 * tetrahedron)) & 3
}

/// Whether grids with `n_axes` axes of more than one node, which are the first ones, need the tetrahedron.
#[inline(always)]
pub const fn is_needed(tetrahedron: u32, n_axes: u32) -> bool {
    match n_axes {
        3 => true,
        2 => tetrahedron == 0 || tetrahedron == 2,
        _ => tetrahedron == 0,
    }
}

#[inline(always)]
fn pick(of: [u32; 3], axis: u32) -> u32 {
    match axis {
        0 => of[0],
        1 => of[1],
        _ => of[2],
    }
}

/// The nodes of a path.
#[inline(always)]
pub fn path(node: u32, tetrahedron: u32, steps: [u32; 3]) -> [u32; 4] {
    let last = node + steps[0] + steps[1] + steps[2];
    [
        node,
        node + pick(steps, first_axis(tetrahedron)),
        last - pick(steps, last_axis(tetrahedron)),
        last,
    ]
}

/// The tetrahedron of a cell, and the weights, at parts of its sides: where all cells are alike or boxes, so that parts of
/// sides are known.
#[inline(always)]
pub fn of_parts(parts: [f64; 3]) -> (u32, [f64; 4]) {
    let [x, y, z] = parts;
    let first = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    let (most, others) = match first {
        0 => (x, [y, z]),
        1 => (y, [x, z]),
        _ => (z, [x, y]),
    };
    let is_swapped = others[0] < others[1];
    let (middle, least) = if is_swapped {
        (others[1], others[0])
    } else {
        (others[0], others[1])
    };
    (
        2 * first + u32::from(is_swapped),
        [1.0 - most, most - middle, middle - least, least],
    )
}

#[inline(always)]
fn cross(a: Vector<f64>, b: Vector<f64>) -> Vector<f64> {
    // Not fused, so that parallel vectors have exactly 0.
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn scaled(a: Vector<f64>, factor: f64) -> Vector<f64> {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

/// A vector at a right angle, of the same length.
#[inline(always)]
fn perpendicular(a: Vector<f64>) -> Vector<f64> {
    let [x, y, z] = [a[0].abs(), a[1].abs(), a[2].abs()];
    let other = if x <= y && x <= z {
        [0.0, -a[2], a[1]]
    } else if y <= z {
        [a[2], 0.0, -a[0]]
    } else {
        [-a[1], a[0], 0.0]
    };
    scaled(other, length(a) / length(other))
}

/// A tetrahedron that is not flat.
#[derive(Clone, Copy, Debug)]
pub struct Tetrahedron {
    first: Vector<f64>,
    /// A point's distance from the first node times these are its ways along the three steps.
    slopes: [Vector<f64>; 3],
    /// Length of the sides.
    sides: f64,
    n_axes: u32,
}

/// A point's weights in a tetrahedron.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    of_nodes: [f64; 4],
    /// How far outside the point is, as a part of the tetrahedron; 0 inside.
    pub excess: f64,
    /// Weights below are rounding.
    rounding: f64,
}

impl Tetrahedron {
    /// From the positions of a path's nodes; nothing where it is flat. Of the steps only the first `n_axes` are, and what
    /// the others would be is at right angles and as long.
    #[inline(always)]
    pub fn new(path: [Vector<f64>; 4], n_axes: u32) -> Option<Self> {
        let mut a = difference(path[1], path[0]);
        let mut b = difference(path[2], path[1]);
        let mut c = difference(path[3], path[2]);
        // What is shorter is rounding of the coordinates.
        let least = ROUNDING * size(path[0]);
        let is_short = |step: Vector<f64>, axis: u32| n_axes > axis && (size(step) <= least || size(step) == 0.0);
        if is_short(a, 0) || is_short(b, 1) || is_short(c, 2) {
            return None;
        }
        match n_axes {
            0 => {
                let unit = 1e-12 * larger(size(path[0]), 1e-80);
                (a, b, c) = ([unit, 0.0, 0.0], [0.0, unit, 0.0], [0.0, 0.0, unit]);
            }
            1 => {
                b = perpendicular(a);
                c = scaled(cross(a, b), 1.0 / length(a));
            }
            2 => {
                let normal = cross(a, b);
                let area = length(normal);
                if area <= FLAT * size(a) * size(b) {
                    return None;
                }
                c = scaled(normal, 1.0 / Real::sqrt(area));
            }
            _ => {}
        }
        let normals = [cross(b, c), cross(c, a), cross(a, b)];
        let volume = dot(a, normals[0]);
        if volume.abs() <= FLAT * size(a) * size(b) * size(c) {
            return None;
        }
        let inverse = 1.0 / volume;
        Some(Self {
            first: path[0],
            slopes: [
                scaled(normals[0], inverse),
                scaled(normals[1], inverse),
                scaled(normals[2], inverse),
            ],
            sides: size(a) + size(b) + size(c),
            n_axes,
        })
    }

    /// The weights of the path's nodes at a point.
    #[inline(always)]
    pub fn weights(&self, point: Vector<f64>) -> Weights {
        let [a, b, c] = self.slopes;
        let way = difference(point, self.first);
        let mut ways = [dot(way, a), dot(way, b), dot(way, c)];
        let steepest = larger(size(a), larger(size(b), size(c)));
        let rounding = ROUNDING * (size(point) + size(self.first) + self.sides) * steepest;
        let mut beside = 0.0;
        cuda_std::unroll!(AXIS in [0, 1, 2] {
            if AXIS as u32 >= self.n_axes {
                beside = larger(beside, ways[AXIS].abs());
                ways[AXIS] = 0.0;
            }
        });
        let weights = [1.0 - ways[0], ways[0] - ways[1], ways[1] - ways[2], ways[2]];
        let least = smaller(smaller(weights[0], weights[1]), smaller(weights[2], weights[3]));
        let excess = larger(-least, beside);
        Weights {
            of_nodes: weights,
            excess: if excess <= rounding { 0.0 } else { excess },
            rounding,
        }
    }
}

impl Weights {
    /// Weights from 0 on that add up to 1: what is negative or rounding is 0, and the largest is what is left. At a node
    /// its own is 1 and the others are 0, on a face that of the node opposite is 0.
    #[inline(always)]
    pub fn settled(&self) -> [f64; 4] {
        let mut settled = self.of_nodes;
        let mut largest = 0;
        let mut most = settled[0];
        cuda_std::unroll!(NODE in [1, 2, 3] {
            if settled[NODE] > most {
                largest = NODE as u32;
                most = settled[NODE];
            }
        });
        let mut others = 0.0;
        cuda_std::unroll!(NODE in [0, 1, 2, 3] {
            if settled[NODE] <= self.rounding {
                settled[NODE] = 0.0;
            }
            if NODE as u32 != largest {
                others += settled[NODE];
            }
        });
        cuda_std::unroll!(NODE in [0, 1, 2, 3] {
            if NODE as u32 == largest {
                settled[NODE] = 1.0 - others;
            }
        });
        settled
    }

    /// Which of the path's nodes has the largest weight.
    #[inline(always)]
    pub fn largest(weights: [f64; 4]) -> u32 {
        let of_two = |a: usize, b: usize| if weights[b] > weights[a] { b } else { a };
        let (first, second) = (of_two(0, 1), of_two(2, 3));
        let of_pairs = [larger(weights[0], weights[1]), larger(weights[2], weights[3])];
        if of_pairs[1] > of_pairs[0] {
            second as u32
        } else {
            first as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_axes_is_a_path() {
        let steps = [1, 10, 100];
        let mut seen = [[0; 4]; 6];
        for tetrahedron in 0..COUNT {
            let path = path(7, tetrahedron, steps);
            let mut walked = [path[1] - path[0], path[2] - path[1], path[3] - path[2]];
            seen[tetrahedron as usize] = path;
            walked.sort_unstable();
            assert_eq!(walked, steps, "tetrahedron {tetrahedron}");
        }
        for (number, path) in seen.iter().enumerate() {
            assert!(!seen[..number].contains(path));
        }
        // Two axes: both orders of the first two.
        let flat: Vec<u32> = (0..COUNT).filter(|t| is_needed(*t, 2)).collect();
        assert_eq!(
            flat.iter().map(|t| path(0, *t, [1, 10, 0])).collect::<Vec<_>>(),
            [[0, 1, 11, 11], [0, 10, 11, 11]]
        );
    }

    #[test]
    fn parts_and_positions_agree() {
        let corner = |node: u32| [f64::from(node & 1), f64::from(node >> 1 & 1), f64::from(node >> 2 & 1)];
        for number in 0..1000_u32 {
            let part = |shift: u32| f64::from(number / 10_u32.pow(shift) % 10) / 8.0;
            let point = [part(0), part(1), part(2)];
            if size(point) > 1.0 {
                continue;
            }
            let (tetrahedron, weights) = of_parts(point);
            let nodes = path(0, tetrahedron, [1, 2, 4]).map(corner);
            let found = Tetrahedron::new(nodes, 3).unwrap().weights(point);
            assert_eq!((found.excess, found.settled()), (0.0, weights), "{point:?}");
        }
    }

    #[test]
    fn flat_ones_are_none() {
        let at = |x: f64, y: f64, z: f64| [1.0 + x, y, z];
        let path = [
            at(0.0, 0.0, 0.0),
            at(1.0, 0.0, 0.0),
            at(1.0, 1.0, 0.0),
            at(1.0, 1.0, 1.0),
        ];
        assert!(Tetrahedron::new(path, 3).is_some());
        assert!(Tetrahedron::new([path[0], path[0], path[2], path[3]], 3).is_none());
        assert!(Tetrahedron::new([path[0], path[1], path[2], at(0.3, 0.7, 0.0)], 3).is_none());
        let line = [path[0], path[1], at(2.0, 0.0, 0.0), at(2.0, 0.0, 0.0)];
        assert!(Tetrahedron::new(line, 2).is_none());
        assert!(Tetrahedron::new([path[0], at(1e-16, 0.0, 0.0), path[2], path[3]], 3).is_none());
    }
}
