//! Clutter filters that keep some singular components of a matrix and drop the others, on the CPU.
//!
//! Of the matrix A (first axis × all others) the products of the shorter side's vectors are summed in double precision,
//! `G = A Aᴴ`; the eigenvectors of G are A's singular vectors of that side, and what is kept is `V Vᴴ A` with those of the
//! components kept.

mod cutoff;
mod element;
mod spectrum;

pub use cutoff::Components;
pub use element::MatrixElement;

use crate::device::zeroed;
use crate::{Error, Result};
use ndarray::{ArrayD, ArrayView, ArrayView2, ArrayViewMut2, Axis, Dimension, IxDyn};
use spectrum::{Spectrum, peak};
use std::ops::Range;

/// What [`truncate_rank`] makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncated<T> {
    /// The components kept, in the shape of the data.
    pub data: ArrayD<T>,
    /// All singular values of the data, the largest first.
    pub singular_values: Vec<f64>,
    /// The components kept, counted from the largest.
    pub kept: Range<usize>,
}

/// Keeps some singular components of data on the host, as a matrix of the first axis and all others together.
///
/// | argument | shape | unit |
/// |---|---|---|
/// | `data` | `(frame, ..space)`, at least two axes, any strides | any |
/// | `components` | which are kept | |
///
/// Tissue is coherent over frames and strong: it is in the first components, blood in the ones after, noise in the last.
/// Arithmetic is in double precision for every type, on products of the data: a singular value σ is right to about
/// 1e-16 · (σ₁ / σ)² of itself, and components below about 1e-7 of the first, σ₁, run into each other.
///
/// # Errors
///
/// [`Error::WrongAxes`] for fewer than two axes, [`Error::Empty`] for no elements, [`Error::NotFinite`] with the place of
/// a NaN or an infinity, [`Error::OutOfRange`] for components that there are not, [`Error::OutOfMemory`] where the result does
/// not fit, and [`Error::NoConvergence`].
///
/// # Determinism
///
/// The same data give the same bits, whatever the number of threads.
///
/// Source: C. Demené et al., "Spatiotemporal clutter filtering of ultrafast ultrasound data highly increases Doppler and
/// fUltrasound sensitivity", IEEE Transactions on Medical Imaging 34(11), 2015.
pub fn truncate_rank<T: MatrixElement, D: Dimension>(
    data: ArrayView<'_, T, D>,
    components: &Components,
) -> Result<Truncated<T>> {
    let shape = data.shape().to_vec();
    if shape.len() < 2 {
        return Err(Error::WrongAxes {
            what: WHAT,
            expected: "(frame, ..space)",
            got: shape,
        });
    }
    if data.is_empty() {
        return Err(Error::Empty {
            what: WHAT,
            shape,
            minimum: 1,
        });
    }
    let n_frames = shape[0];
    let n_space = data.len() / n_frames;
    components.validate(n_frames.min(n_space))?;
    let data = data.into_dyn();
    let peak = peak(&data)?;
    let dense = data.as_standard_layout();
    let mut output = zeroed::<T>(dense.len(), "the components kept")?;
    let mismatch = |_| Error::ShapeMismatch {
        what: WHAT,
        expected: vec![n_frames, n_space],
        got: shape.clone(),
    };
    let matrix = dense.to_shape((n_frames, n_space)).map_err(mismatch)?;
    let result = ArrayViewMut2::from_shape((n_frames, n_space), &mut output).map_err(mismatch)?;
    let is_wide = n_frames <= n_space;
    let (short, result): (ArrayView2<'_, T>, _) = if is_wide {
        (matrix.view(), result)
    } else {
        (matrix.t(), result.reversed_axes())
    };
    let spectrum = Spectrum::new(&short, peak)?;
    let kept = match components {
        Components::Range { start, stop } => *start..(*stop).min(spectrum.len()),
        Components::Energy { clutter, signal } => cutoff::by_energy(spectrum.values(), *clutter, *signal),
        Components::Similarity => {
            let axis = if is_wide { Axis(1) } else { Axis(0) };
            cutoff::by_similarity(&spectrum.similarity(&short, axis))
        }
    };
    spectrum.project(&short, kept.clone(), result);
    Ok(Truncated {
        data: ArrayD::from_shape_vec(IxDyn(&shape), output).map_err(mismatch)?,
        singular_values: spectrum.values().to_vec(),
        kept,
    })
}

const WHAT: &str = "the data to filter";
