//! The cell of a point among cells that have coordinates of their own: boxes, parallelepipeds, pieces of a sector. Along
//! each coordinate a cell is found by itself.
//!
//! | coordinates | of a point r |
//! |---|---|
//! | [`Coordinates::AFFINE`] | matrix · (r − origin) |
//! | [`Coordinates::SECTOR`] | range R = abs(r − origin), azimuth α and elevation ε, so that r − origin = R · (sin α · cos ε, sin ε, cos α · cos ε) |

use super::tetrahedra::of_parts;
use super::{Place, ROUNDING, TOLERANCE, larger, smaller};
use crate::geometry::{Vector, angle_from_x, difference, dot};
use cuda_std::math::Real;

/// What a place is made for: the nearest node along each coordinate.
pub const NEAREST: u32 = 0;
/// The eight corners of a cell.
pub const TRILINEAR: u32 = 1;
/// The four corners of a tetrahedron.
pub const TETRAHEDRAL: u32 = 2;

/// What a point's coordinates are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Where they count from.
    pub origin: Vector<f64>,
    /// Rows: a coordinate each; for affine ones.
    pub matrix: [Vector<f64>; 3],
    /// [`Coordinates::AFFINE`] or [`Coordinates::SECTOR`].
    pub kind: u32,
}

/// The nodes along a coordinate.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The first one's coordinate, where they are evenly spaced.
    pub start: f64,
    /// One over the distance to the next.
    pub inverse_step: f64,
    /// What coordinates are multiplied with before they are looked for in the table: −1 where they fall.
    pub sign: f64,
    /// Nodes.
    pub n_nodes: u32,
    /// Where in the table the coordinates of the axis begin, times `sign`; [`Axis::EVEN`] where they are not there.
    pub first: u32,
}

/// A grid of nodes with coordinates, the first axis the fastest.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxesGrid {
    /// Of points.
    pub coordinates: Coordinates,
    /// Of nodes.
    pub axes: [Axis; 3],
    /// How many nodes further the next one along each axis is; 0 where there is one.
    pub steps: [u32; 3],
    /// [`NEAREST`], [`TRILINEAR`] or [`TETRAHEDRAL`].
    pub way: u32,
}

impl Coordinates {
    /// A matrix and an origin.
    pub const AFFINE: u32 = 0;
    /// Range, azimuth and elevation.
    pub const SECTOR: u32 = 1;

    /// Coordinates of a point, and numbers of whose magnitude their rounding is.
    #[inline(always)]
    fn of(&self, point: Vector<f64>) -> (Vector<f64>, Vector<f64>) {
        let way = difference(point, self.origin);
        let far = |axis: usize| point[axis].abs() + self.origin[axis].abs();
        let far = [far(0), far(1), far(2)];
        if self.kind == Self::SECTOR {
            let [x, y, z] = way;
            let square = Real::mul_add(x, x, z * z);
            let (radius, range) = (Real::sqrt(square), Real::sqrt(Real::mul_add(y, y, square)));
            let far = larger(far[0], larger(far[1], far[2]));
            let (azimuth, elevation) = (angle_from_x(x, z), angle_from_x(y, radius));
            let about = |angle: f64, radius: f64| angle.abs() + if radius > 0.0 { far / radius } else { 0.0 };
            return (
                [range, azimuth, elevation],
                [range + far, about(azimuth, radius), about(elevation, range)],
            );
        }
        let [a, b, c] = self.matrix;
        let reach = |row: Vector<f64>| dot([row[0].abs(), row[1].abs(), row[2].abs()], far);
        ([dot(a, way), dot(b, way), dot(c, way)], [reach(a), reach(b), reach(c)])
    }
}

impl Axis {
    /// In place of a beginning in the table: coordinates are evenly spaced, or there is one.
    pub const EVEN: u32 = u32::MAX;

    /// The node before a coordinate and the part of the way to the next, from 0 to 1.
    #[inline(always)]
    fn find(&self, coordinate: f64, reach: f64, table: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
        let n_cells = self.n_nodes - 1;
        let (node, part, rounding, last) = if self.first == Self::EVEN {
            let steps = (coordinate - self.start) * self.inverse_step;
            let rounding = ROUNDING * ((reach + self.start.abs()) * self.inverse_step.abs());
            (0, steps, rounding, f64::from(n_cells))
        } else {
            let coordinate = coordinate * self.sign;
            // The last node but the last one that is not behind the coordinate.
            let (mut low, mut high) = (0, n_cells);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if table(self.first + middle) <= coordinate {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let (before, behind) = (table(self.first + low), table(self.first + low + 1));
            let inverse = 1.0 / (behind - before);
            (low, (coordinate - before) * inverse, ROUNDING * (reach * inverse), 1.0)
        };
        let slack = larger(TOLERANCE, rounding);
        if !(-slack <= part && part <= last + slack) {
            return None;
        }
        let part = smaller(larger(part, 0.0), last);
        let whole = if self.first == Self::EVEN && n_cells > 0 {
            (Real::floor_i32(part) as u32).min(n_cells - 1)
        } else {
            0
        };
        let part = part - f64::from(whole);
        let part = if part <= rounding {
            0.0
        } else if 1.0 - part <= rounding {
            1.0
        } else {
            part
        };
        Some((node + whole, part))
    }
}

impl AxesGrid {
    /// Where a point is.
    #[inline(always)]
    pub fn locate(&self, point: Vector<f64>, table: impl Fn(u32) -> f64) -> Place {
        let (coordinates, reach) = self.coordinates.of(point);
        let mut node = 0;
        let mut parts = [0.0; 3];
        let mut is_inside = true;
        cuda_std::unroll!(AXIS in [0, 1, 2] {
            if let Some((before, part)) = self.axes[AXIS].find(coordinates[AXIS], reach[AXIS], &table) {
                node += before * self.steps[AXIS];
                parts[AXIS] = part;
            } else {
                is_inside = false;
            }
        });
        if !is_inside {
            return Place::OUTSIDE;
        }
        match self.way {
            NEAREST => {
                cuda_std::unroll!(AXIS in [0, 1, 2] {
                    if parts[AXIS] > 0.5 {
                        node += self.steps[AXIS];
                    }
                });
                Place::node(node)
            }
            TRILINEAR => Place {
                code: node << 3,
                numbers: [parts[0], parts[1], parts[2], 0.0],
            },
            _ => {
                let (tetrahedron, numbers) = of_parts(parts);
                Place {
                    code: node << 3 | tetrahedron,
                    numbers,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(start: f64, step: f64, n_nodes: u32) -> Axis {
        Axis {
            start,
            inverse_step: 1.0 / step,
            sign: 1.0,
            n_nodes,
            first: Axis::EVEN,
        }
    }

    #[test]
    fn both_ends_belong_to_an_axis_and_what_is_beyond_does_not() {
        for (start, step) in [(0.0, 1.0), (1.0, 1e-6), (-3.0, -0.1), (1e3, 1e-6)] {
            let axis = even(start, step, 5);
            let nodes: [f64; 5] = core::array::from_fn(|node| start + step * node as f64);
            let table = Axis {
                first: 0,
                sign: step.signum(),
                ..axis
            };
            let read = |node: u32| nodes[node as usize] * step.signum();
            for (node, coordinate) in nodes.into_iter().enumerate() {
                for axis in [axis, table] {
                    let (before, part) = axis.find(coordinate, coordinate.abs(), read).unwrap();
                    assert_eq!(f64::from(before) + part, node as f64, "{start} {step}");
                    assert!(part == 0.0 || part == 1.0);
                }
            }
            for axis in [axis, table] {
                let at = |steps: f64| axis.find(start + step * steps, start.abs(), read);
                assert_eq!(at(-1e-7).map(|(_, part)| part), Some(0.0));
                assert!(at(4.0 + 5e-7).is_some() && at(-1e-5).is_none() && at(4.0 + 1e-5).is_none());
                assert!(axis.find(f64::NAN, 0.0, read).is_none());
            }
        }
    }

    #[test]
    fn azimuth_goes_from_z_to_x_and_elevation_to_y() {
        let coordinates = Coordinates {
            origin: [0.1, 0.2, -0.3],
            matrix: [[0.0; 3]; 3],
            kind: Coordinates::SECTOR,
        };
        for (range, azimuth, elevation) in [(0.05, 0.3, 0.0), (2.0, -1.2, 0.4), (1.0, 2.9, -0.7), (1.0, 0.0, 1.5)] {
            let (sine, cosine) = f64::sin_cos(azimuth);
            let (up, out) = f64::sin_cos(elevation);
            let point = [0.1 + range * sine * out, 0.2 + range * up, -0.3 + range * cosine * out];
            let (got, _) = coordinates.of(point);
            for (got, expected) in got.into_iter().zip([range, azimuth, elevation]) {
                assert!((got - expected).abs() < 1e-13, "{got} instead of {expected}");
            }
        }
    }
}
