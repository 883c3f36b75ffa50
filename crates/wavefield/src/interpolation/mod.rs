//! Interpolation among the nodes of a structured grid: where a point is, and which nodes count how much there.
//!
//! A cell has a node with the least number and up to seven more, one step along one, two or three axes from it; along an
//! axis of one node the step is 0. A point's place is a node and, for [`Tetrahedral`], which of the six tetrahedra of its
//! cell: `8 · node + tetrahedron` as one number, with four numbers that weights come from.
//!
//! Places are found in double precision, whatever the values: a coordinate of a metre in single precision is known to
//! 60 nm, which may be a good part of a cell.

pub mod axes;
pub mod search;
pub mod tetrahedra;
mod walk;

use crate::geometry::Vector;
use cuda_std::Element;
use cuda_std::math::Real;
use num_complex::Complex;

/// How far outside of a cell a point may be and still belong to it, as a part of the cell.
pub const TOLERANCE: f64 = 1e-6;

/// Nodes of a grid are fewer.
pub const NODES_BELOW: u32 = 1 << 29;

/// Whether a number can be a coordinate: finite, and at most 10³⁰, so that its powers are numbers too.
#[inline(always)]
pub fn is_coordinate(number: f64) -> bool {
    number.abs() <= 1e30
}

/// The code of a point outside of the grid.
pub const OUTSIDE: u32 = u32::MAX;

/// A few units in the last place: what a coordinate that was computed may be off.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Where a point is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// `8 · node + tetrahedron`, or [`OUTSIDE`].
    pub code: u32,
    /// The numbers that [`Way::weights`] makes weights of.
    pub numbers: [f64; 4],
}

impl Place {
    /// Outside of the grid.
    pub const OUTSIDE: Self = Self {
        code: OUTSIDE,
        numbers: [0.0; 4],
    };

    /// At a node, which alone counts.
    #[inline(always)]
    pub const fn node(node: u32) -> Self {
        Self {
            code: node << 3,
            numbers: [1.0, 0.0, 0.0, 0.0],
        }
    }
}

/// A way to interpolate: nodes and weights of a place. Of the arrays the first [`Way::CORNERS`] count.
pub trait Way: Copy + Send + Sync + 'static {
    /// Nodes that count.
    const CORNERS: usize;

    /// Their numbers; `steps` is how many nodes further the next one along each axis is.
    fn nodes(code: u32, steps: [u32; 3]) -> [u32; 8];

    /// Their weights, from a place's numbers.
    fn weights<R: Real>(numbers: [f64; 4]) -> [R; 8];
}

/// The nearest node.
#[derive(Clone, Copy, Debug)]
pub struct Nearest;

/// Linear along each of three axes, from the eight corners of a cell. A place's numbers are the parts of the cell's sides.
#[derive(Clone, Copy, Debug)]
pub struct Trilinear;

/// Linear in a tetrahedron, from its four corners. A place's numbers are the weights.
#[derive(Clone, Copy, Debug)]
pub struct Tetrahedral;

impl Way for Nearest {
    const CORNERS: usize = 1;

    #[inline(always)]
    fn nodes(code: u32, _: [u32; 3]) -> [u32; 8] {
        [code >> 3; 8]
    }

    #[inline(always)]
    fn weights<R: Real>(_: [f64; 4]) -> [R; 8] {
        [R::ONE; 8]
    }
}

impl Way for Trilinear {
    const CORNERS: usize = 8;

    #[inline(always)]
    fn nodes(code: u32, [x, y, z]: [u32; 3]) -> [u32; 8] {
        let node = code >> 3;
        [
            node,
            node + x,
            node + y,
            node + x + y,
            node + z,
            node + x + z,
            node + y + z,
            node + x + y + z,
        ]
    }

    #[inline(always)]
    fn weights<R: Real>(numbers: [f64; 4]) -> [R; 8] {
        let sides = |part: f64| {
            let part = R::from_f64(part);
            [R::ONE - part, part]
        };
        let (x, y, z) = (sides(numbers[0]), sides(numbers[1]), sides(numbers[2]));
        [
            x[0] * y[0] * z[0],
            x[1] * y[0] * z[0],
            x[0] * y[1] * z[0],
            x[1] * y[1] * z[0],
            x[0] * y[0] * z[1],
            x[1] * y[0] * z[1],
            x[0] * y[1] * z[1],
            x[1] * y[1] * z[1],
        ]
    }
}

impl Way for Tetrahedral {
    const CORNERS: usize = 4;

    #[inline(always)]
    fn nodes(code: u32, steps: [u32; 3]) -> [u32; 8] {
        let node = code >> 3;
        let path = tetrahedra::path(node, code & 7, steps);
        [path[0], path[1], path[2], path[3], node, node, node, node]
    }

    #[inline(always)]
    fn weights<R: Real>(numbers: [f64; 4]) -> [R; 8] {
        let [a, b, c, d] = numbers.map(R::from_f64);
        [a, b, c, d, R::ZERO, R::ZERO, R::ZERO, R::ZERO]
    }
}

/// A value at a node.
pub trait Value: Element {
    /// Its precision.
    type Real: Real;

    /// 0.
    const ZERO: Self;

    /// `sum + weight · value`; `sum` where the weight is 0, whatever the value, which may be NaN.
    #[must_use]
    fn add_weighted(sum: Self, weight: Self::Real, value: Self) -> Self;
}

macro_rules! values {
    ($($real:ty),*) => { $(
        impl Value for $real {
            type Real = $real;
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn add_weighted(sum: Self, weight: $real, value: Self) -> Self {
                Real::mul_add(weight, if weight == 0.0 { 0.0 } else { value }, sum)
            }
        }

        impl Value for Complex<$real> {
            type Real = $real;
            const ZERO: Self = Complex::new(0.0, 0.0);

            #[inline(always)]
            fn add_weighted(sum: Self, weight: $real, value: Self) -> Self {
                Complex::new(
                    Value::add_weighted(sum.re, weight, value.re),
                    Value::add_weighted(sum.im, weight, value.im),
                )
            }
        }
    )* };
}

values!(f32, f64);

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The largest magnitude of a component.
#[inline(always)]
fn size(a: Vector<f64>) -> f64 {
    larger(a[0].abs(), larger(a[1].abs(), a[2].abs()))
}
