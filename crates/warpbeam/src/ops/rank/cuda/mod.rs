//! The filter on a CUDA device: products there, their decomposition on the host, the projection there.
//!
//! The matrix on the device is (short side, long side), rows without gaps: the data as they are, where they lie so.

mod work;

use super::moments::Moments;
use super::spectrum::Spectrum;
use super::{Components, MatrixElement, Truncation, cpu};
use crate::Result;
use crate::device::{Cuda, Scratch, Stream, Tensor, TensorView};
use crate::ops::{contiguous_copy, contiguous_copy_into};
use ndarray::{ArrayD, IxDyn};
use work::{Work, matrix};

/// Squares of what may be summed in double precision as it is.
const LEAST_SQUARE: f64 = 1e-240;
const MOST_SQUARE: f64 = 1e240;

/// Filters data that are not empty into a contiguous tensor of the same shape; all is on the device of the stream.
pub(super) fn run<T: MatrixElement>(
    cuda: &Cuda,
    input: &TensorView<'_, T>,
    components: &Components,
    output: &mut Tensor<T>,
    scratch: &Scratch<'_>,
) -> Result<Truncation> {
    let stream = scratch.stream();
    let n_frames = input.shape()[0];
    let n_space = input.len() / n_frames;
    let is_wide = n_frames <= n_space;
    // Space first, frames last: the short side is that of space.
    let order: Vec<usize> = (1..input.shape().len()).chain([0]).collect();
    let copy = |view: TensorView<'_, T>| -> Result<Option<Tensor<T>>> {
        let mut dense = scratch.tensor(view.shape())?;
        contiguous_copy_into(view, &mut dense, stream)?;
        Ok(Some(dense))
    };
    let dense = if !is_wide {
        copy(input.clone().permuted_axes(&order)?)?
    } else if input.is_contiguous() {
        None
    } else {
        copy(input.clone())?
    };
    let shape = [n_frames.min(n_space), n_frames.max(n_space)];
    let view = dense.as_ref().map_or_else(|| input.clone(), Tensor::view);
    let work = Work { cuda, scratch };
    let matrix = matrix(&view, shape)?;
    let products = work.products::<T>(matrix)?;
    let squares: Vec<f64> = (0..shape[0]).map(|row| T::parts(products[(row, row)])[0]).collect();
    let largest = squares.iter().fold(0.0, |most: f64, square| most.max(*square));
    // Squares of single precision are all in range.
    let needs_scale =
        size_of::<T>() / T::PARTS == size_of::<f64>() && !(largest > LEAST_SQUARE && largest < MOST_SQUARE);
    if needs_scale || squares.iter().any(|square| !square.is_finite()) {
        return on_host(input, components, output, stream);
    }
    let spectrum = Spectrum::<T>::new(products.as_ref(), 1.0)?;
    let kept = components.kept(spectrum.values(), || {
        let mut moments = Moments::new(spectrum.len());
        if is_wide {
            work.add_moments(&spectrum, matrix, &mut moments)?;
        } else {
            moments.add::<T>(&spectrum.adjoint_vectors());
        }
        Ok(moments.correlations(&spectrum.counts()))
    })?;
    if is_wide {
        work.filter(&spectrum, &kept, matrix, output)?;
    } else {
        let mut shape = input.shape().to_vec();
        shape.rotate_left(1);
        let mut projection = scratch.tensor(&shape)?;
        work.filter(&spectrum, &kept, matrix, &mut projection)?;
        let last = shape.len() - 1;
        let order: Vec<usize> = [last].into_iter().chain(0..last).collect();
        contiguous_copy_into(projection.view().permuted_axes(&order)?, output, stream)?;
    }
    Ok(Truncation {
        singular_values: spectrum.into_values(),
        kept,
    })
}

/// What needs a scale, or the place of what is not finite.
fn on_host<T: MatrixElement>(
    input: &TensorView<'_, T>,
    components: &Components,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<Truncation> {
    let data = contiguous_copy(input.clone(), stream)?.to_array()?;
    let mut filtered = ArrayD::from_elem(IxDyn(data.shape()), <T as bytemuck::Zeroable>::zeroed());
    let truncation = cpu::run(&data.view(), components, filtered.view_mut())?;
    output.copy_from_array(&filtered)?;
    Ok(truncation)
}
