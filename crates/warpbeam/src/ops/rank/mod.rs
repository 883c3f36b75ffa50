//! Clutter filters that keep some singular components of a matrix and drop the others.
//!
//! Of the matrix A (first axis × all others) the products of the shorter side's vectors are summed in double precision,
//! `G = A Aᴴ`; the eigenvectors of G are A's singular vectors of that side, and what is kept is `V Vᴴ A` with those of the
//! components kept. G is decomposed on the host, whatever the backend.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod cutoff;
mod element;
mod moments;
mod plan;
mod spectrum;

pub use cutoff::Components;
pub use element::MatrixElement;
pub use plan::RankPlan;

use crate::Result;
use crate::device::{Stream, Tensor, TensorView};
use std::ops::Range;

/// What [`truncate_rank`] found in the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncation {
    /// All singular values of the data, the largest first.
    pub singular_values: Vec<f64>,
    /// The components kept, counted from the largest.
    pub kept: Range<usize>,
}

/// Keeps some singular components of data, as a matrix of the first axis and all others together; the components kept come
/// in the shape of the data.
///
/// | argument | shape | unit |
/// |---|---|---|
/// | `input` | `(frame, ..space)`, at least two axes, any strides | any |
/// | `components` | which are kept | |
///
/// Tissue is coherent over frames and strong: it is in the first components, blood in the ones after, noise in the last.
/// Arithmetic is in double precision for every type, on products of the data: a singular value σ is right to about
/// 1e-16 · (σ₁ / σ)² of itself, and components below about 1e-7 of the first, σ₁, run into each other.
///
/// # Memory
///
/// With m the length of the shorter side, a GPU holds sums of parts of the data, at most 160 MiB or 16 m² bytes, whichever is
/// more, and matrices of 40 m² bytes; for [`Components::Similarity`] also 128 MiB of magnitudes. Data with gaps are copied
/// first, and data of more frames than points are transposed, which takes twice their size. The host holds matrices of
/// 100 m² bytes. On the CPU there are up to 64 parts of 16 m² bytes, and data with gaps are copied.
///
/// # Errors
///
/// As [`truncate_rank_into`].
///
/// # Determinism
///
/// The same data give the same bits on a backend, whatever the number of threads.
///
/// Source: C. Demené et al., "Spatiotemporal clutter filtering of ultrafast ultrasound data highly increases Doppler and
/// fUltrasound sensitivity", IEEE Transactions on Medical Imaging 34(11), 2015.
pub fn truncate_rank<'a, T: MatrixElement>(
    input: impl Into<TensorView<'a, T>>,
    components: &Components,
    stream: &Stream,
) -> Result<(Tensor<T>, Truncation)> {
    let input = input.into();
    let plan = RankPlan::new(input.backend(), input.shape(), components)?;
    let mut output = Tensor::unset(input.backend(), input.shape())?;
    let truncation = plan.run_into(input, &mut output, stream)?;
    Ok((output, truncation))
}

/// As [`truncate_rank`], into a contiguous tensor of the same shape.
///
/// On a GPU, too, all is done when the call returns: products of the data are decomposed on the host in between. Memory is
/// allocated in every call; a [`RankPlan`] keeps it. Data in
/// double precision whose largest magnitude is beyond 1e±120 are filtered on the host altogether.
///
/// # Errors
///
/// As [`RankPlan::new`] and [`RankPlan::run_into`].
pub fn truncate_rank_into<'a, T: MatrixElement>(
    input: impl Into<TensorView<'a, T>>,
    components: &Components,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<Truncation> {
    let input = input.into();
    RankPlan::new(input.backend(), input.shape(), components)?.run_into(input, output, stream)
}

const WHAT: &str = "the data to filter";
