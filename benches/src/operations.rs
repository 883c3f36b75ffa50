//! Operations beside delay-and-sum: a case or two each, timed on the device and checked against direct sums in places.
//!
//! Numbers are made by the hash of `data`, positions too, so that the peers' program makes the same.

use crate::data::part;
use crate::measure::{Limits, Measured, timed};
use anyhow::Context;
use ndarray::{Array1, Array2, Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use warpbeam::ops::{self, Components, GreensPlan, Indices, InterpolationGrid, InterpolationMethod, Interpolator};
use warpbeam::{Backend, Stream, Tensor};

/// Places of a result that are compared.
const COMPARED: usize = 64;

/// The type that all are timed with.
pub(crate) const VARIANT: &str = "c64";

/// An operation with its sizes.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// What rows call it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A dense copy of a transposed matrix, `side` × `side`.
    Copy { side: usize },
    /// Every second of `rows` rows of `length` numbers.
    Gather { rows: usize, length: usize },
    /// Products `(rows, sum) · (sum, columns)`.
    Einsum { rows: usize, sum: usize, columns: usize },
    /// Frames on a skewed grid of `side`³ nodes, at as many points; the points are prepared beforehand.
    Interpolate { frames: usize, side: usize },
    /// Frames of `length` points without their first sixteenth of components.
    TruncateRank { frames: usize, length: usize },
    /// Spherical waves.
    Greens {
        sources: usize,
        frequencies: usize,
        targets: usize,
        batch: usize,
    },
}

/// All of them.
pub(crate) fn all() -> Vec<Operation> {
    let greens = |sources, frequencies, targets, batch| Kind::Greens {
        sources,
        frequencies,
        targets,
        batch,
    };
    [
        ("contiguous_copy", Kind::Copy { side: 8192 }),
        (
            "gather",
            Kind::Gather {
                rows: 64,
                length: 262_144,
            },
        ),
        ("greens", greens(1024, 256, 65_536, 1)),
        ("greens", greens(4096, 256, 1024, 8)),
        (
            "einsum",
            Kind::Einsum {
                rows: 64,
                sum: 64,
                columns: 262_144,
            },
        ),
        (
            "einsum",
            Kind::Einsum {
                rows: 2048,
                sum: 2048,
                columns: 2048,
            },
        ),
        ("interpolate", Kind::Interpolate { frames: 64, side: 64 }),
        (
            "truncate_rank",
            Kind::TruncateRank {
                frames: 64,
                length: 262_144,
            },
        ),
        (
            "truncate_rank",
            Kind::TruncateRank {
                frames: 256,
                length: 1 << 20,
            },
        ),
    ]
    .map(|(name, kind)| Operation { name, kind })
    .to_vec()
}

/// Complex numbers from a part of the hash on.
fn numbers(first: usize, count: usize) -> Vec<Complex<f32>> {
    let number = |index: usize| Complex::new(part((first + 2 * index) as u64), part((first + 2 * index + 1) as u64));
    (0..count).into_par_iter().map(number).collect()
}

fn number(first: usize, index: usize) -> Complex64 {
    let part = |offset: usize| f64::from(part((first + 2 * index + offset) as u64));
    Complex64::new(part(0), part(1))
}

fn in_f32(value: Complex64) -> Complex<f32> {
    Complex::new(value.re as f32, value.im as f32)
}

/// Nodes a millimetre apart on axes that are not at right angles.
fn skewed_nodes(side: usize) -> Array4<f64> {
    Array4::from_shape_fn((side, side, side, 3), |(z, y, x, axis)| {
        let [z, y, x] = [z, y, x].map(|index| 1e-3 * index as f64);
        [x + 0.2 * y, y + 0.1 * z, z + 0.1 * x][axis]
    })
}

/// Points within the skewed grid, by the hash.
fn inner_points(side: usize) -> Array2<f64> {
    let span = 1e-3 * (side - 1) as f64;
    Array2::from_shape_fn((side * side * side, 3), |(point, axis)| {
        // From 0.01 to 0.99 of each axis of the grid.
        let at = |axis: usize| span * (0.5 + 0.49 * f64::from(part((3 * point + axis) as u64)));
        let [x, y, z] = [at(0), at(1), at(2)];
        [x + 0.2 * y, y + 0.1 * z, z + 0.1 * x][axis]
    })
}

/// What frames have at a place, in metres: interpolation has nothing to lose of it.
fn linear([x, y, z]: [f64; 3], frame: usize) -> Complex64 {
    Complex64::new(1e3 * (x + 2.0 * y + 3.0 * z), frame as f64 - 1e3 * x)
}

/// Components that a filter of so many frames drops.
fn dropped(frames: usize) -> usize {
    frames / 16
}

/// A number of a matrix whose components are known: place n is in component n modulo the number of frames alone, which
/// has a frequency of its own over frames. Those that are to be dropped are 20 dB above the others.
fn component(frames: usize, frame: usize, place: usize) -> Complex64 {
    let which = place % frames;
    let gap = if which < dropped(frames) { 10.0 } else { 1.0 };
    let strength = gap * 10.0_f64.powf(-(which as f64) / frames as f64);
    let turns = (which * frame % frames) as f64 / frames as f64;
    number(0, place) * Complex64::from_polar(strength, std::f64::consts::TAU * turns)
}

/// Positions within `size` of a point, in metres.
fn positions(first: usize, count: usize, size_m: [f64; 3], centre_m: [f64; 3]) -> Array2<f64> {
    Array2::from_shape_fn((count, 3), |(point, axis)| {
        f64::from(part((first + 3 * point + axis) as u64)) * size_m[axis] + centre_m[axis]
    })
}

/// A result in places.
pub(crate) struct Expected {
    pub(crate) indices: Vec<usize>,
    pub(crate) values: Vec<[f64; 2]>,
}

impl Expected {
    fn new(length: usize, value: impl Fn(usize) -> Complex64 + Sync) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let indices: Vec<usize> = (0..COMPARED).map(|_| random.usize(..length)).collect();
        let values = indices
            .par_iter()
            .map(|index| {
                let value = value(*index);
                [value.re, value.im]
            })
            .collect();
        Self { indices, values }
    }

    fn relative_error(&self, got: &ArrayD<Complex<f32>>) -> anyhow::Result<f64> {
        let got = got.as_slice().context("a dense result")?;
        let (mut difference, mut norm) = (0.0, 0.0);
        for (index, [re, im]) in self.indices.iter().zip(&self.values) {
            let got = got[*index];
            difference += (f64::from(got.re) - re).powi(2) + (f64::from(got.im) - im).powi(2);
            norm += re * re + im * im;
        }
        Ok((difference / norm).sqrt())
    }
}

impl Operation {
    /// Its sizes, as rows name them.
    pub(crate) fn case(&self) -> String {
        let sizes: Vec<usize> = match self.kind {
            Kind::Copy { side } => vec![side, side],
            Kind::Gather { rows, length } => vec![rows, length],
            Kind::Einsum { rows, sum, columns } => vec![rows, sum, columns],
            Kind::Interpolate { frames, side } => vec![frames, side],
            Kind::TruncateRank { frames, length } => vec![frames, length],
            Kind::Greens {
                sources,
                frequencies,
                targets,
                batch,
            } => vec![sources, frequencies, targets, batch],
        };
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        sizes.join("x")
    }

    /// Numbers of the result times the terms of each.
    pub(crate) fn points(&self) -> u64 {
        let points = match self.kind {
            Kind::Copy { side } => side * side,
            Kind::Gather { rows, length } => rows / 2 * length,
            Kind::Einsum { rows, sum, columns } => rows * sum * columns,
            Kind::Interpolate { frames, side } => frames * side.pow(3),
            Kind::TruncateRank { frames, length } => frames * frames * length,
            Kind::Greens {
                sources,
                frequencies,
                targets,
                batch,
            } => sources * frequencies * targets * batch,
        };
        points as u64
    }

    /// The bound on the relative error.
    pub(crate) fn bound(&self) -> f64 {
        match self.kind {
            Kind::Copy { .. } | Kind::Gather { .. } => 0.0,
            // 1e-5, and 2⁻²³ of the largest phase: 28 600 a metre, 60 mm.
            Kind::Greens { .. } => 2.2e-4,
            Kind::Einsum { .. } | Kind::Interpolate { .. } | Kind::TruncateRank { .. } => 1e-5,
        }
    }

    /// The right result in places.
    pub(crate) fn expected(&self) -> Expected {
        match self.kind {
            Kind::Copy { side } => Expected::new(side * side, |at| number(0, at % side * side + at / side)),
            Kind::Gather { rows, length } => Expected::new(rows / 2 * length, |at| {
                number(0, at / length * 2 * length + at % length)
            }),
            Kind::Einsum { rows, sum, columns } => Expected::new(rows * columns, |at| {
                let (row, column) = (at / columns, at % columns);
                let term = |k: usize| number(0, row * sum + k) * number(2 * rows * sum, k * columns + column);
                (0..sum).map(term).sum()
            }),
            Kind::Interpolate { frames, side } => {
                let (nodes, points) = (side * side * side, inner_points(side));
                Expected::new(frames * nodes, |at| {
                    linear([0, 1, 2].map(|axis| points[[at % nodes, axis]]), at / nodes)
                })
            }
            Kind::TruncateRank { frames, length } => Expected::new(frames * length, |at| {
                let (frame, place) = (at / length, at % length);
                if place % frames < dropped(frames) {
                    Complex64::default()
                } else {
                    component(frames, frame, place)
                }
            }),
            Kind::Greens {
                sources,
                frequencies,
                targets,
                batch,
            } => {
                let scene = Scene::new(sources, frequencies, targets);
                Expected::new(batch * targets * frequencies, |at| {
                    let (row, frequency) = (at / frequencies, at % frequencies);
                    let (item, target) = (row / targets, row % targets);
                    let wave = |source: usize| {
                        let square: f64 = (0..3)
                            .map(|axis| (scene.sources[[source, axis]] - scene.targets[[target, axis]]).powi(2))
                            .sum();
                        let (distance, at) = (square.sqrt(), (item * sources + source) * frequencies + frequency);
                        number(scene.first, at)
                            * Complex64::from_polar(1.0 / distance, scene.wavenumbers[frequency] * distance)
                    };
                    (0..sources).map(wave).sum()
                })
            }
        }
    }

    /// Times it and compares the result.
    pub(crate) fn time(
        &self,
        backend: &Backend,
        stream: &Stream,
        limits: Limits,
        expected: &Expected,
    ) -> anyhow::Result<Measured> {
        let tensor = |first: usize, shape: &[usize]| -> anyhow::Result<Tensor<Complex<f32>>> {
            let values = numbers(first, shape.iter().product());
            Ok(Tensor::from_array(
                backend,
                &ArrayD::from_shape_vec(IxDyn(shape), values)?,
            )?)
        };
        let (times, output) = match self.kind {
            Kind::Copy { side } => {
                let input = tensor(0, &[side, side])?;
                let mut output = Tensor::zeros(backend, &[side, side])?;
                let view = input.view().permuted_axes(&[1, 0])?;
                let times = timed(stream, limits, || {
                    ops::contiguous_copy_into(view.clone(), &mut output, stream)
                })?;
                (times, output)
            }
            Kind::Gather { rows, length } => {
                let input = tensor(0, &[rows, length])?;
                let rows_taken: Array1<i32> = (0..rows as i32 / 2).map(|row| 2 * row).collect();
                let indices = Indices::new(backend, &rows_taken, rows)?;
                let mut output = Tensor::zeros(backend, &[rows / 2, length])?;
                let times = timed(stream, limits, || {
                    ops::gather_into(&input, 0, &indices, &mut output, stream)
                })?;
                (times, output)
            }
            Kind::Einsum { rows, sum, columns } => {
                let (left, right) = (tensor(0, &[rows, sum])?, tensor(2 * rows * sum, &[sum, columns])?);
                let mut output = Tensor::zeros(backend, &[rows, columns])?;
                let times = timed(stream, limits, || {
                    ops::einsum_into("ij,jk->ik", &left, &right, &mut output, stream)
                })?;
                (times, output)
            }
            Kind::Interpolate { frames, side } => {
                let nodes = skewed_nodes(side);
                let grid = InterpolationGrid::curvilinear(&nodes)?;
                let interpolator = Interpolator::new(backend, &grid, InterpolationMethod::Tetrahedral)?;
                let points = interpolator.prepare(&inner_points(side))?;
                let values = ArrayD::from_shape_fn(IxDyn(&[frames, side, side, side]), |at| {
                    in_f32(linear([0, 1, 2].map(|axis| nodes[[at[1], at[2], at[3], axis]]), at[0]))
                });
                let values = Tensor::from_array(backend, &values)?;
                let mut output = Tensor::zeros(backend, &[frames, side * side * side])?;
                let fill = Complex::new(f32::NAN, f32::NAN);
                let times = timed(stream, limits, || points.run_into(&values, fill, &mut output, stream))?;
                (times, output)
            }
            Kind::TruncateRank { frames, length } => {
                let values: Vec<Complex<f32>> = (0..frames * length)
                    .into_par_iter()
                    .map(|at| in_f32(component(frames, at / length, at % length)))
                    .collect();
                let input = Tensor::from_array(backend, &Array2::from_shape_vec((frames, length), values)?)?;
                let kept = Components::Range {
                    start: dropped(frames),
                    stop: frames,
                };
                let mut output = Tensor::zeros(backend, &[frames, length])?;
                let times = timed(stream, limits, || {
                    ops::truncate_rank_into(&input, &kept, &mut output, stream).map(|_| ())
                })?;
                (times, output)
            }
            Kind::Greens {
                sources,
                frequencies,
                targets,
                batch,
            } => {
                let scene = Scene::new(sources, frequencies, targets);
                let plan = GreensPlan::new(backend, &scene.sources, &scene.targets, &scene.wavenumbers)?;
                let amplitudes = tensor(scene.first, &[batch, sources, frequencies])?;
                let mut output = Tensor::zeros(backend, &[batch, targets, frequencies])?;
                let times = timed(stream, limits, || plan.run_into(&amplitudes, &mut output, stream))?;
                (times, output)
            }
        };
        Ok(Measured {
            times,
            points: self.points(),
            relative_error: expected.relative_error(&output.to_array()?)?,
        })
    }
}

/// Sources in a plane, targets in front of it, wavenumbers around 5 MHz in tissue.
struct Scene {
    sources: Array2<f64>,
    targets: Array2<f64>,
    wavenumbers: Array1<f64>,
    /// The first part of the amplitudes.
    first: usize,
}

impl Scene {
    fn new(sources: usize, frequencies: usize, targets: usize) -> Self {
        let rounded = |value: f64| f64::from(value as f32);
        Self {
            sources: positions(0, sources, [16e-3, 16e-3, 0.0], [0.0; 3]).mapv(rounded),
            targets: positions(3 * sources, targets, [16e-3, 16e-3, 10e-3], [0.0, 0.0, 40e-3]).mapv(rounded),
            wavenumbers: (0..frequencies)
                .map(|frequency| rounded(20_400.0 * (0.6 + 0.8 * frequency as f64 / frequencies as f64)))
                .collect(),
            first: 3 * (sources + targets),
        }
    }
}
