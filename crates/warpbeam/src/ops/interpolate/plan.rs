//! The plan: a grid on a backend, and the search for points in it.

use super::cpu;
#[cfg(feature = "cuda")]
use super::cuda;
use super::grid::{Axes, Form, InterpolationGrid, NODES, expect_coordinates, expect_nodes};
use super::mesh::Boxes;
use super::prepared::PreparedPoints;
#[cfg(feature = "cuda")]
use crate::device::Workspace;
use crate::device::{Backend, Stream, Tensor};
use crate::ops::Coordinate;
use crate::{Error, Result};
use ndarray::{ArrayRef, Dimension};
use wavefield::geometry::Vector;
use wavefield::interpolation::axes::{AxesGrid, NEAREST, TETRAHEDRAL, TRILINEAR};

/// How values between nodes come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpolationMethod {
    /// The value of the nearest node; of several equally near ones, that with the least index.
    Nearest,
    /// Linear along each axis, from eight nodes: for grids with axes, lattices and sectors.
    Trilinear,
    /// Linear in each of the six tetrahedra of a cell, from four nodes: for every grid.
    Tetrahedral,
}

/// Interpolation of values on a structured grid; made once for a grid, [prepared](Interpolator::prepare) once for points.
///
/// | what | shape |
/// |---|---|
/// | values | `(batch, z, y, x)`, or without batch; for sectors as [`InterpolationGrid::sector`] says |
/// | points | `(.., 3)`: x, y, z in the grid's unit of length, in single or double precision |
/// | result | `(batch, ..)`, or without batch |
///
/// Points up to 10⁻⁶ of a cell outside of the grid belong to it and get what is at its edge; what is further outside gets
/// the value to fill with, and so does what lies beside a grid that is a surface or a line. Points are found in double
/// precision, whatever theirs, at any size of cells: a point on a node gets its value exactly, and a function that is linear in the
/// coordinates is interpolated to within the rounding of coordinates and values. Cells that are flat, such as those of
/// nodes that coincide, hold no point, and nodes that coincide should have one value; of cells that overlap, the one with the
/// least index counts. A node's value reaches
/// the points in which its weight is not 0, in the precision of the values, and no others: NaN and infinities too.
///
/// ```
/// use warpbeam::Backend;
/// use warpbeam::ops::{InterpolationGrid, InterpolationMethod, Interpolator};
/// # fn main() -> warpbeam::Result<()> {
/// let grid = InterpolationGrid::cartesian(&[0.0, 1e-3], &[0.0], &[0.0, 1e-3, 3e-3])?;
/// let interpolator = Interpolator::new(&Backend::best(), &grid, InterpolationMethod::Trilinear)?;
/// let points = interpolator.prepare(&ndarray::arr2(&[[0.5e-3, 0.0, 2e-3], [0.0, 0.0, 4e-3]]))?;
/// let values = ndarray::arr3(&[[[1.0_f32, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]);
/// assert_eq!(points.run(values.view(), -1.0)?, ndarray::arr1(&[4.5, -1.0]).into_dyn());
/// # Ok(())
/// # }
/// ```
pub struct Interpolator {
    backend: Backend,
    shape: Vec<usize>,
    method: InterpolationMethod,
    engine: Engine,
}

/// What finds points.
pub(super) enum Engine {
    /// Along each axis by itself.
    Axes { grid: AxesGrid, table: Tensor<f64> },
    /// Among boxes.
    Boxes(Boxes),
}

/// Who looks for coordinates that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checking {
    /// The host has.
    Done,
    /// The device has to.
    OnDevice,
}

/// What points are called in errors.
pub(super) const POINTS: &str = "the points";

/// Points are fewer, so that their coordinates can be counted in 32 bits.
const POINTS_BELOW: usize = 1 << 30;

impl Interpolator {
    /// Puts a grid where the work is to be.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for [`InterpolationMethod::Trilinear`] on nodes whose positions are given one by one;
    /// [`Error::FlatGrid`] where all cells are flat; [`Error::OutOfMemory`], and what the device reports.
    pub fn new(backend: &Backend, grid: &InterpolationGrid, method: InterpolationMethod) -> Result<Self> {
        range!("interpolation plan");
        let engine = match &grid.form {
            Form::Axes(axes) => match (method, axes.skewed) {
                // The nearest along each axis would not be the nearest.
                (InterpolationMethod::Nearest, Some(steps)) => {
                    let positions = lattice_positions(&grid.shape, axes.coordinates.origin, steps);
                    Engine::Boxes(Boxes::from_host(backend, &grid.shape, &positions)?)
                }
                _ => along_axes(backend, axes, &grid.shape, method)?,
            },
            Form::Nodes(positions) => {
                expect_any_cells(method)?;
                Engine::Boxes(Boxes::from_host(backend, &grid.shape, positions)?)
            }
        };
        Ok(Self {
            backend: backend.clone(),
            shape: grid.shape.clone(),
            method,
            engine,
        })
    }

    /// As for [`InterpolationGrid::curvilinear`], from positions `(z, y, x, 3)` where they are.
    ///
    /// # Errors
    ///
    /// As there and for [`Interpolator::new`]; [`Error::WrongBackend`] for a stream from elsewhere, and
    /// [`DeviceError`](crate::DeviceError) for a tensor that is not contiguous.
    pub fn from_tensor<P: Coordinate>(
        positions: Tensor<P>,
        method: InterpolationMethod,
        stream: &Stream,
    ) -> Result<Self> {
        range!("interpolation plan");
        let backend = positions.backend().clone();
        backend.expect("the stream", stream.backend())?;
        let &[n_z, n_y, n_x, 3] = positions.shape() else {
            return Err(Error::WrongAxes {
                what: NODES,
                expected: "(z, y, x, 3)",
                got: positions.shape().to_vec(),
            });
        };
        let shape = [n_z, n_y, n_x];
        expect_nodes(&shape)?;
        expect_any_cells(method)?;
        positions.expect_contiguous(NODES)?;
        let positions = P::double_tensor(positions, stream)?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = backend.as_cuda() {
            let engine = Engine::Boxes(cuda::boxes(cuda, positions, shape, Checking::OnDevice, stream)?);
            let shape = shape.to_vec();
            return Ok(Self {
                backend,
                shape,
                method,
                engine,
            });
        }
        expect_coordinates(NODES, &positions.view().host(NODES)?)?;
        Ok(Self {
            engine: Engine::Boxes(Boxes::on_cpu(positions, shape)?),
            backend,
            shape: shape.to_vec(),
            method,
        })
    }

    /// Where the plan computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The shape of the values, without batch.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Finds points `(.., 3)` in the grid: the result has their shape `(..)` and keeps what it needs of them.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAxes`] for a last axis that is not 3; [`Error::NotFinite`] with the first coordinate that is not finite;
    /// [`Error::OutOfRange`] for coordinates beyond 10³⁰ and 2³⁰ points or more; [`Error::OutOfMemory`], and what the device
    /// reports.
    pub fn prepare<P: Coordinate, D: Dimension>(&self, points: &ArrayRef<P, D>) -> Result<PreparedPoints> {
        range!("interpolation points");
        let shape = expect_points(points.shape())?;
        let points = P::doubles(points);
        expect_coordinates(POINTS, &points)?;
        let points = Tensor::from_array(&self.backend, &points)?;
        self.found(&points, shape, Checking::Done, &self.backend.stream()?)
    }

    /// As [`Interpolator::prepare`], for points where they are.
    ///
    /// # Errors
    ///
    /// As there; [`Error::WrongBackend`] for a tensor or stream from elsewhere, and [`DeviceError`](crate::DeviceError) for a
    /// tensor that is not contiguous.
    pub fn prepare_tensor<P: Coordinate>(&self, points: &Tensor<P>, stream: &Stream) -> Result<PreparedPoints> {
        range!("interpolation points");
        let shape = expect_points(points.shape())?;
        self.backend.expect(POINTS, points.backend())?;
        self.backend.expect("the stream", stream.backend())?;
        points.expect_contiguous(POINTS)?;
        P::with_doubles(points, stream, |points| {
            if !self.backend.is_cuda() {
                expect_coordinates(POINTS, &points.view().host(POINTS)?)?;
            }
            self.found(points, shape, Checking::OnDevice, stream)
        })
    }

    /// Finds points; on a device they may have to be checked.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    fn found(
        &self,
        points: &Tensor<f64>,
        shape: &[usize],
        checking: Checking,
        stream: &Stream,
    ) -> Result<PreparedPoints> {
        let count: usize = shape.iter().product();
        let mut codes = Tensor::unset(&self.backend, &[count])?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.backend.as_cuda() {
            // A node's place needs no numbers.
            let with_numbers = if self.method == InterpolationMethod::Nearest {
                0
            } else {
                count
            };
            let mut numbers = Tensor::unset(&self.backend, &[with_numbers, 4])?;
            let (grid, targets) = ((self.method, &self.shape[..]), (&mut codes, &mut numbers));
            let are_random = cuda::locate(cuda, &self.engine, grid, points, targets, checking, stream)?;
            let mut prepared = self.prepared(shape, codes, numbers);
            prepared.are_random = are_random;
            return Ok(prepared);
        }
        let mut numbers = Tensor::unset(&self.backend, &[count, 4])?;
        let from = points.host_slice(POINTS)?;
        let (to, weights) = (
            codes.host_slice_mut("the places")?,
            numbers.host_slice_mut("the weights")?,
        );
        match &self.engine {
            Engine::Axes { grid, table } => {
                let table = table.host_slice("the axes")?;
                cpu::locate(from, to, weights, |point| grid.locate(point, |at| table[at as usize]));
            }
            Engine::Boxes(boxes) => {
                let mesh = boxes.host()?;
                let is_nearest = self.method == InterpolationMethod::Nearest;
                cpu::locate(from, to, weights, |point| {
                    if is_nearest {
                        boxes.cells.nearest(&mesh, point)
                    } else {
                        boxes.cells.locate(&mesh, point)
                    }
                });
            }
        }
        Ok(self.prepared(shape, codes, numbers))
    }

    fn prepared(&self, shape: &[usize], codes: Tensor<u32>, numbers: Tensor<f64>) -> PreparedPoints {
        PreparedPoints {
            backend: self.backend.clone(),
            shape: shape.to_vec(),
            values: self.shape.clone(),
            method: self.method,
            steps: match &self.engine {
                Engine::Axes { grid, .. } => grid.steps,
                Engine::Boxes(boxes) => boxes.cells.steps,
            },
            codes,
            numbers,
            #[cfg(feature = "cuda")]
            are_random: false,
            #[cfg(feature = "cuda")]
            workspace: Workspace::default(),
        }
    }
}

fn along_axes(backend: &Backend, axes: &Axes, shape: &[usize], method: InterpolationMethod) -> Result<Engine> {
    let mut steps = [0; 3];
    let mut step = 1;
    for (axis, &count) in shape.iter().rev().enumerate() {
        if count > 1 {
            steps[axis] = step;
        }
        step *= count as u32;
    }
    let grid = AxesGrid {
        coordinates: axes.coordinates,
        axes: axes.along,
        steps,
        way: match method {
            InterpolationMethod::Nearest => NEAREST,
            InterpolationMethod::Trilinear => TRILINEAR,
            InterpolationMethod::Tetrahedral => TETRAHEDRAL,
        },
    };
    let table = Tensor::from_array(backend, &ndarray::aview1(&axes.table))?;
    Ok(Engine::Axes { grid, table })
}

fn lattice_positions(shape: &[usize], origin: Vector<f64>, steps: [Vector<f64>; 3]) -> ndarray::Array4<f64> {
    ndarray::Array4::from_shape_fn((shape[0], shape[1], shape[2], 3), |(k, j, i, axis)| {
        let along = |index: usize, step: Vector<f64>| index as f64 * step[axis];
        origin[axis] + (along(i, steps[0]) + along(j, steps[1]) + along(k, steps[2]))
    })
}

fn expect_any_cells(method: InterpolationMethod) -> Result<()> {
    if method != InterpolationMethod::Trilinear {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "trilinear interpolation among nodes with positions of their own",
        alternatives: "Tetrahedral and Nearest take them, Trilinear takes InterpolationGrid::cartesian, lattice and sector",
    })
}

/// The shape of the points without the axis of coordinates.
fn expect_points(shape: &[usize]) -> Result<&[usize]> {
    let [points @ .., 3] = shape else {
        return Err(Error::WrongAxes {
            what: POINTS,
            expected: "(.., 3)",
            got: shape.to_vec(),
        });
    };
    let count = points.iter().fold(1_usize, |product, n| product.saturating_mul(*n));
    if count < POINTS_BELOW {
        return Ok(points);
    }
    Err(Error::OutOfRange {
        what: "the number of points",
        value: count as f64,
        requirement: "below 2^30",
    })
}
