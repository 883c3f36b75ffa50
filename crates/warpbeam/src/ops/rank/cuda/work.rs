//! The filter's work on the device: what is allocated, launched and fetched.

use super::super::MatrixElement;
use super::super::element::sealed::Number;
use super::super::moments::Moments;
use super::super::spectrum::{Side, Spectrum};
use crate::device::{Cuda, Element, Scratch, Tensor, TensorView};
use crate::{Error, Result};
use faer::Mat;
use kernels::rank::{FEW, Few, Gram, GramAdd, Instance, Matrix, Products, Project, SIDE, gram_add};
use std::ops::Range;

/// The number as kernels know it, and that of its magnitude.
type Kernels<T> = <T as Number>::Kernels;
type Magnitude<T> = <T as Number>::Magnitude;

/// Bytes of magnitudes that are on the device at a time.
const MAGNITUDES_BYTES: usize = 1 << 27;

/// A contiguous view as a matrix.
pub(super) fn matrix<T: Element>(view: &TensorView<'_, T>, [rows, columns]: [usize; 2]) -> Result<Matrix> {
    let is_aligned = (columns * size_of::<T>()).is_multiple_of(16) && view.address().is_multiple_of(16);
    Ok(Matrix {
        units: if is_aligned {
            view.global_units()?
        } else {
            cuda_std::Global::empty()
        },
        words: view.global_units()?,
        n_rows: u32::try_from(rows).map_err(|_| Error::OutOfRange {
            what: "the length of the shorter side",
            value: rows as f64,
            requirement: "below 2^16 on a GPU",
        })?,
        is_aligned: u32::from(is_aligned),
        n_columns: columns as u64,
    })
}

/// Where the work is queued.
pub(super) struct Work<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) scratch: &'a Scratch<'a>,
}

impl Work<'_> {
    fn engine<N: Instance>(&self) -> Products {
        if self.cuda.has_kernel(&N::gram(Products::Matrix)) {
            Products::Matrix
        } else {
            Products::Fma
        }
    }

    /// `A Aᴴ`.
    pub(super) fn products<T: MatrixElement>(&self, matrix: Matrix) -> Result<Mat<T::Wide>> {
        let sums = self.sums_of_products::<Kernels<T>>(matrix, T::PARTS)?;
        let count = matrix.n_rows as usize;
        let part = |row: usize, column: usize, part: usize| sums[(row * count + column) * T::PARTS + part];
        Ok(Mat::from_fn(count, count, |row, column| {
            let (low, high) = (row.min(column), row.max(column));
            let im = if low == high {
                0.0
            } else {
                part(low, high, T::PARTS - 1)
            };
            T::from_parts(part(low, high, 0), if row > column { -im } else { im })
        }))
    }

    /// The upper triangle of `A Aᴴ`, on the host; waits for it.
    fn sums_of_products<N: Instance>(&self, matrix: Matrix, words: usize) -> Result<Vec<f64>> {
        let n_rows = matrix.n_rows;
        let columns_per_part = N::columns_per_part(n_rows, matrix.n_columns);
        let n_parts = matrix.n_columns.div_ceil(columns_per_part) as u32;
        let shape = [n_rows as usize, n_rows as usize, words];
        let mut parts = self
            .scratch
            .tensor::<f64>(&[&[n_parts as usize], &shape[..]].concat())?;
        let gram = Gram {
            matrix,
            parts: parts.global_mut("the parts of the products")?,
            columns_per_part,
        };
        let launch = N::gram_launch(n_rows, n_parts);
        self.cuda
            .launch(&N::gram(self.engine::<N>()), launch, gram, self.scratch.stream())?;
        let mut sums = self.scratch.tensor::<f64>(&shape)?;
        let add = GramAdd {
            parts: parts.global("the parts of the products")?,
            output: sums.global_mut("the products")?,
            n_rows,
            words: words as u32,
            n_parts,
        };
        self.cuda.launch(&gram_add, add.launch(), add, self.scratch.stream())?;
        Ok(sums.to_array()?.into_raw_vec_and_offset().0)
    }

    /// Queues what writes the components kept: by way of few of them, or by the projector.
    pub(super) fn filter<T: MatrixElement>(
        &self,
        spectrum: &Spectrum<T>,
        kept: &Range<usize>,
        matrix: Matrix,
        output: &mut Tensor<T>,
    ) -> Result<()> {
        let (few, side) = spectrum.fewer(kept);
        let is_cheaper = matrix.n_rows > SIDE && few.len() <= FEW as usize;
        if is_cheaper && self.engine::<Kernels<T>>() == Products::Matrix {
            self.project_few(spectrum, &few, side, matrix, output)
        } else {
            self.project(&spectrum.projector(kept), matrix, output)
        }
    }

    /// Queues `V Vᴴ A` with the vectors of few components that are kept, or `A − V Vᴴ A` with those of few that are dropped.
    fn project_few<T: MatrixElement>(
        &self,
        spectrum: &Spectrum<T>,
        few: &[usize],
        side: Side,
        matrix: Matrix,
        output: &mut Tensor<T>,
    ) -> Result<()> {
        let n_rows = spectrum.len();
        let padded = matrix.n_rows.next_multiple_of(SIDE);
        let rows = self.wide::<T>([FEW as usize, padded as usize], [few.len(), n_rows], |number, row| {
            let [re, im] = T::parts(spectrum.vector(row, few[number]));
            [re, -im]
        })?;
        let sign = if side == Side::Kept { 1.0 } else { -1.0 };
        let columns = self.wide::<T>([padded as usize, FEW as usize], [n_rows, few.len()], |row, number| {
            T::parts(spectrum.vector(row, few[number])).map(|part| sign * part)
        })?;
        let parameters = Few {
            matrix,
            rows: rows.global_as("the singular vectors")?,
            columns: columns.global_as("the singular vectors")?,
            output: output.global_units_mut("the output")?,
            padded_rows: padded,
            n_few: few.len() as u32,
            is_added: u32::from(side == Side::Dropped),
        };
        let launch = Kernels::<T>::few_launch(matrix.n_columns);
        self.cuda
            .launch(&Kernels::<T>::few(), launch, parameters, self.scratch.stream())
    }

    /// A small matrix as kernels take it: `element` within a shape, zeros from there to `padded`.
    fn wide<T: MatrixElement>(
        &self,
        padded: [usize; 2],
        [rows, columns]: [usize; 2],
        element: impl Fn(usize, usize) -> [f64; 2],
    ) -> Result<Tensor<f64>> {
        let pitch = padded[1] * T::PARTS;
        let mut values = vec![0.0; padded[0] * pitch];
        for (row, values) in values.chunks_exact_mut(pitch).enumerate().take(rows) {
            for (column, value) in values.chunks_exact_mut(T::PARTS).enumerate().take(columns) {
                value.copy_from_slice(&element(row, column)[..T::PARTS]);
            }
        }
        let mut tensor = self.scratch.tensor(&[values.len()])?;
        tensor.copy_from_array(&ndarray::Array1::from_vec(values))?;
        Ok(tensor)
    }

    /// Queues `P A`.
    fn project<T: MatrixElement>(&self, small: &Mat<T::Wide>, matrix: Matrix, output: &mut Tensor<T>) -> Result<()> {
        let padded = matrix.n_rows.next_multiple_of(SIDE);
        let count = small.nrows();
        let small = self.wide::<T>([padded as usize; 2], [count; 2], |row, column| {
            T::parts(small[(row, column)])
        })?;
        let parameters = Project {
            matrix,
            small: small.global_as("the projector")?,
            output: output.global_units_mut("the output")?,
            first_column: 0,
            end_column: matrix.n_columns,
            output_first: 0,
            output_pitch: matrix.n_columns,
            n_output_rows: matrix.n_rows,
            padded_rows: padded,
            is_magnitude: 0,
        };
        self.queue::<Kernels<T>>(parameters)
    }

    fn queue<N: Instance>(&self, parameters: Project) -> Result<()> {
        let n_columns = parameters.end_column - parameters.first_column;
        let launch = N::project_launch(parameters.padded_rows, n_columns);
        self.cuda.launch(
            &N::project(self.engine::<N>()),
            launch,
            parameters,
            self.scratch.stream(),
        )
    }

    /// Sums of the magnitudes of `Vᴴ A`, and of their products, over all columns: these are products of rows, too, with a
    /// row of 1 behind the magnitudes.
    pub(super) fn add_moments<T: MatrixElement>(
        &self,
        spectrum: &Spectrum<T>,
        matrix: Matrix,
        moments: &mut Moments,
    ) -> Result<()> {
        let count = spectrum.len();
        let n_rows = count + 1;
        let padded = n_rows.next_multiple_of(SIDE as usize);
        // Magnitudes up to about 1: single precision has no others near its ends.
        let inverse = 1.0 / spectrum.values()[0].max(f64::MIN_POSITIVE);
        let small = self.wide::<T>([padded; 2], [count; 2], |number, row| {
            let [re, im] = T::parts(spectrum.vector(row, number));
            [re * inverse, -im * inverse]
        })?;
        let n_columns = matrix.n_columns as usize;
        let side = SIDE as usize;
        let at_once = (MAGNITUDES_BYTES / (n_rows * size_of::<Magnitude<T>>()) / side * side)
            .clamp(side, n_columns.next_multiple_of(side));
        for first in (0..n_columns).step_by(at_once) {
            let columns: Range<usize> = first..n_columns.min(first + at_once);
            let mut magnitudes = self.scratch.tensor::<Magnitude<T>>(&[n_rows, columns.len()])?;
            self.queue::<Kernels<T>>(Project {
                matrix,
                small: small.global_as("the singular vectors")?,
                output: magnitudes.global_units_mut("the magnitudes")?,
                first_column: columns.start as u64,
                end_column: columns.end as u64,
                output_first: columns.start as u64,
                output_pitch: columns.len() as u64,
                n_output_rows: n_rows as u32,
                padded_rows: padded as u32,
                is_magnitude: 1,
            })?;
            let of_magnitudes = self::matrix(&magnitudes.view(), [n_rows, columns.len()])?;
            moments.add_sums(columns.len(), &self.products::<Magnitude<T>>(of_magnitudes)?);
        }
        Ok(())
    }
}
