//! Grids of nodes: axes, lattices, positions one by one.

use super::sector::SectorGrid;
use crate::{Error, Result};
use ndarray::{Array4, ArrayRef, Dimension, Ix4};
use wavefield::geometry::Vector;
use wavefield::interpolation::axes::{Axis, Coordinates};
use wavefield::interpolation::{NODES_BELOW, is_coordinate};

/// How far nodes that count as evenly spaced may be off, in units in the last place of the largest coordinate.
const EVEN_WITHIN: f64 = 4.0 * f64::EPSILON;

/// A structured grid whose nodes have values: three axes, and along each any number of nodes from one on.
///
/// Positions are in metres, or any other unit of length. A grid with axes of one node is a surface, a line or a single
/// point, and what lies beside it, by more than 10⁻⁶ of a cell, is outside.
#[derive(Clone, Debug)]
pub struct InterpolationGrid {
    /// Of the values.
    pub(super) shape: Vec<usize>,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    Axes(Box<Axes>),
    /// `(z, y, x, 3)`.
    Nodes(Array4<f64>),
}

/// Nodes with coordinates of their own, the fastest axis first.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    pub(super) coordinates: Coordinates,
    pub(super) along: [Axis; 3],
    /// Coordinates of the axes that are not evenly spaced.
    pub(super) table: Vec<f64>,
    /// Steps from node to node, where they are not at right angles.
    pub(super) skewed: Option<[Vector<f64>; 3]>,
}

impl InterpolationGrid {
    /// All combinations of three axes, each rising or falling, evenly spaced or not; values are `(z, y, x)`.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`], [`Error::NotFinite`], [`Error::OutOfRange`] for axes that turn or stand still, coordinates beyond
    /// 10³⁰ and 2²⁹ nodes or more.
    pub fn cartesian(x: &[f64], y: &[f64], z: &[f64]) -> Result<Self> {
        let named = [("x", x), ("y", y), ("z", z)];
        let (along, table) = axes(named, [1.0; 3])?;
        let shape = vec![z.len(), y.len(), x.len()];
        expect_nodes(&shape)?;
        let mut matrix = [[0.0; 3]; 3];
        for (axis, row) in matrix.iter_mut().enumerate() {
            row[axis] = 1.0;
        }
        let coordinates = Coordinates {
            origin: [0.0; 3],
            matrix,
            kind: Coordinates::AFFINE,
        };
        let skewed = None;
        Ok(Self {
            shape,
            form: Form::Axes(Box::new(Axes {
                coordinates,
                along,
                table,
                skewed,
            })),
        })
    }

    /// The lattice of nodes at `origin + i · steps[0] + j · steps[1] + k · steps[2]` with (k, j, i) below `shape`, which is
    /// that of the values. Steps need not be at right angles; that of an axis of one node does not matter.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`], [`Error::NotFinite`], [`Error::OutOfRange`] as for [`InterpolationGrid::cartesian`];
    /// [`Error::FlatGrid`] for steps in one plane, or on one line.
    pub fn lattice(shape: [usize; 3], origin: [f64; 3], steps: [[f64; 3]; 3]) -> Result<Self> {
        expect_nodes(&shape)?;
        expect_coordinates("the lattice's origin", &ndarray::arr1(&origin))?;
        expect_coordinates("the lattice's steps", &ndarray::arr2(&steps))?;
        let counts = [shape[2], shape[1], shape[0]];
        let flat = || Error::FlatGrid { shape: shape.to_vec() };
        let completed = completed(counts, origin, steps).ok_or_else(flat)?;
        let matrix = inverse(completed).ok_or_else(flat)?;
        let is_right = |a: usize, b: usize| {
            let product = dot(completed[a], completed[b]);
            product.abs() <= EVEN_WITHIN * length(completed[a]) * length(completed[b])
        };
        let skewed = (!(is_right(0, 1) && is_right(1, 2) && is_right(0, 2))).then_some(steps);
        let coordinates = Coordinates {
            origin,
            matrix,
            kind: Coordinates::AFFINE,
        };
        let along = counts.map(|count| Axis {
            start: 0.0,
            inverse_step: 1.0,
            sign: 1.0,
            n_nodes: count as u32,
            first: Axis::EVEN,
        });
        Ok(Self {
            shape: shape.to_vec(),
            form: Form::Axes(Box::new(Axes {
                coordinates,
                along,
                table: Vec::new(),
                skewed,
            })),
        })
    }

    /// Nodes anywhere, `(z, y, x, 3)`; values are `(z, y, x)`. Cells may have any form, and those that are flat are left out.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAxes`] for other axes, [`Error::Empty`], [`Error::NotFinite`], and [`Error::OutOfRange`] for
    /// coordinates beyond 10³⁰ and 2²⁹ nodes or more.
    pub fn curvilinear(positions: &ArrayRef<f64, Ix4>) -> Result<Self> {
        let shape = positions.shape();
        if shape[3] != 3 {
            return Err(Error::WrongAxes {
                what: NODES,
                expected: "(z, y, x, 3)",
                got: shape.to_vec(),
            });
        }
        expect_nodes(&shape[..3])?;
        expect_coordinates(NODES, positions)?;
        Ok(Self {
            shape: shape[..3].to_vec(),
            form: Form::Nodes(positions.as_standard_layout().into_owned()),
        })
    }

    /// The samples of a sector, whose values are `(azimuth, range)` or `(elevation, azimuth, range)`; they are interpolated
    /// along these coordinates.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for 2²⁹ nodes or more.
    pub fn sector(sector: &SectorGrid) -> Result<Self> {
        let shape = sector.shape();
        expect_nodes(&shape)?;
        let [range, azimuth, elevation] = sector.axes();
        let farthest = range.iter().copied().fold(0.0_f64, f64::max);
        let named = [(RANGE, range), (AZIMUTH, azimuth), (ELEVATION, elevation)];
        let (along, table) = axes(named, [1.0, farthest, farthest])?;
        let coordinates = Coordinates {
            origin: sector.apex(),
            matrix: [[0.0; 3]; 3],
            kind: Coordinates::SECTOR,
        };
        let skewed = None;
        Ok(Self {
            shape,
            form: Form::Axes(Box::new(Axes {
                coordinates,
                along,
                table,
                skewed,
            })),
        })
    }

    /// The shape of the values.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

/// What arrays are called in errors.
pub(super) const NODES: &str = "the grid's nodes";
pub(super) const RANGE: &str = "the range";
pub(super) const AZIMUTH: &str = "the azimuth";
pub(super) const ELEVATION: &str = "the elevation";

/// Refuses no nodes, and too many.
pub(super) fn expect_nodes(shape: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        return Err(Error::Empty {
            what: NODES,
            shape: shape.to_vec(),
            minimum: 1,
        });
    }
    let count = shape.iter().fold(1_usize, |product, n| product.saturating_mul(*n));
    if count < NODES_BELOW as usize {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what: "the number of nodes",
        value: count as f64,
        requirement: "below 2^29",
    })
}

/// Refuses what is not finite, and magnitudes whose squares are no numbers.
pub(super) fn expect_coordinates<D: Dimension>(what: &'static str, coordinates: &ArrayRef<f64, D>) -> Result<()> {
    let Some((index, &value)) = coordinates.indexed_iter().find(|(_, value)| !is_coordinate(**value)) else {
        return Ok(());
    };
    let index = ndarray::IntoDimension::into_dimension(index).slice().to_vec();
    Err(bad_coordinate(what, index, value))
}

/// The error for a coordinate that is not finite or too large.
pub(super) fn bad_coordinate(what: &'static str, index: Vec<usize>, value: f64) -> Error {
    if value.is_finite() {
        return Error::OutOfRange {
            what: "a coordinate",
            value,
            requirement: "between -1e30 and 1e30",
        };
    }
    Error::NotFinite { what, index, value }
}

/// Axes and the table of those that are not evenly spaced; `lengths` are units of length in a unit of each.
fn axes(named: [(&'static str, &[f64]); 3], lengths: [f64; 3]) -> Result<([Axis; 3], Vec<f64>)> {
    let mut shortest = f64::INFINITY;
    for ((what, nodes), length) in named.iter().zip(lengths) {
        expect_monotonic(what, nodes)?;
        for pair in nodes.windows(2) {
            shortest = shortest.min((pair[1] - pair[0]).abs() * length);
        }
    }
    if shortest.is_infinite() {
        let farthest = named
            .iter()
            .fold(1e-80_f64, |most, (_, nodes)| most.max(nodes[0].abs()));
        shortest = 1e-12 * farthest;
    }
    let mut table = Vec::new();
    let axes = [0, 1, 2].map(|axis| {
        let nodes = named[axis].1;
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let n_cells = nodes.len() - 1;
        let step = if n_cells == 0 {
            // The thickness of a surface, for what is beside it.
            if lengths[axis] > 0.0 {
                shortest / lengths[axis]
            } else {
                1.0
            }
        } else {
            (last - first) / n_cells as f64
        };
        let far = first.abs().max(last.abs());
        let is_off = |(node, at): (usize, &f64)| (at - (first + node as f64 * step)).abs() > EVEN_WITHIN * far;
        let is_even = !nodes.iter().enumerate().any(is_off);
        let sign = step.signum();
        let begin = table.len() as u32;
        if !is_even {
            table.extend(nodes.iter().map(|node| node * sign));
        }
        Axis {
            start: first,
            inverse_step: 1.0 / step,
            sign,
            n_nodes: nodes.len() as u32,
            first: if is_even { Axis::EVEN } else { begin },
        }
    });
    Ok((axes, table))
}

/// Refuses axes without nodes, and those that do not rise or fall from each node to the next.
pub(super) fn expect_monotonic(what: &'static str, nodes: &[f64]) -> Result<()> {
    if nodes.is_empty() {
        return Err(Error::Empty {
            what,
            shape: vec![0],
            minimum: 1,
        });
    }
    expect_coordinates(what, &ndarray::aview1(nodes))?;
    let sign = (nodes[nodes.len() - 1] - nodes[0]).signum();
    match nodes.windows(2).find(|pair| (pair[1] - pair[0]) * sign <= 0.0) {
        None => Ok(()),
        Some(pair) => Err(Error::OutOfRange {
            what: "a step from one coordinate of an axis to the next",
            value: pair[1] - pair[0],
            requirement: "of the same sign as all others, and not 0",
        }),
    }
}

fn dot(a: Vector<f64>, b: Vector<f64>) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(a: Vector<f64>) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Vector<f64>, b: Vector<f64>) -> Vector<f64> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The vector with another length; nothing where it has none.
fn with_length(a: Vector<f64>, wanted: f64) -> Option<Vector<f64>> {
    let length = length(a);
    (length > 0.0).then(|| a.map(|part| part * (wanted / length)))
}

/// Steps, those of axes of one node replaced by some at right angles to the others and as long as the shortest of them.
fn completed(counts: [usize; 3], origin: Vector<f64>, mut steps: [Vector<f64>; 3]) -> Option<[Vector<f64>; 3]> {
    let there: Vec<usize> = (0..3).filter(|&axis| counts[axis] > 1).collect();
    let missing: Vec<usize> = (0..3).filter(|&axis| counts[axis] == 1).collect();
    let shortest = there
        .iter()
        .fold(f64::INFINITY, |least, &axis| least.min(length(steps[axis])));
    match (&there[..], &missing[..]) {
        (&[a, b], &[c]) => steps[c] = with_length(cross(steps[a], steps[b]), shortest)?,
        (&[a], &[b, c]) => {
            let least = (0..3).min_by(|&i, &j| steps[a][i].abs().total_cmp(&steps[a][j].abs()))?;
            let mut other = [0.0; 3];
            other[least] = 1.0;
            steps[b] = with_length(cross(steps[a], other), shortest)?;
            steps[c] = with_length(cross(steps[a], steps[b]), shortest)?;
        }
        (&[], _) => {
            let unit = 1e-12 * origin.iter().fold(1e-80_f64, |most, part| most.max(part.abs()));
            steps = [[unit, 0.0, 0.0], [0.0, unit, 0.0], [0.0, 0.0, unit]];
        }
        _ => {}
    }
    Some(steps)
}

/// Rows that give the parts of each step; nothing where the steps are in one plane.
fn inverse([a, b, c]: [Vector<f64>; 3]) -> Option<[Vector<f64>; 3]> {
    let volume = dot(a, cross(b, c));
    if volume.abs() <= 1e-10 * length(a) * length(b) * length(c) {
        return None;
    }
    Some([cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|part| part / volume)))
}
