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
mod spectrum;

pub use cutoff::Components;
pub use element::MatrixElement;

use super::space::{expect_axes, expect_backend, expect_shape};
use crate::device::{Stream, Tensor, TensorView};
use crate::{Error, Result};
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
    validate(&input, components)?;
    let mut output = Tensor::unset(input.backend(), input.shape())?;
    let truncation = truncate_rank_into(input, components, &mut output, stream)?;
    Ok((output, truncation))
}

/// As [`truncate_rank`], into a contiguous tensor of the same shape.
///
/// On a GPU, too, all is done when the call returns: products of the data are decomposed on the host in between. Data in
/// double precision whose largest magnitude is beyond 1e±120 are filtered on the host altogether.
///
/// # Errors
///
/// [`Error::WrongAxes`] for fewer than two axes or more than [`MOST_AXES`](super::MOST_AXES), [`Error::Empty`] for no
/// elements, [`Error::NotFinite`] with the place of a NaN or an infinity, [`Error::OutOfRange`] for components that there
/// are not, [`Error::ShapeMismatch`] for an output of another shape, [`Error::WrongBackend`] for an output or a stream from
/// elsewhere, [`Error::OutOfMemory`], [`Error::NoConvergence`];
/// [`DeviceError`](crate::DeviceError) for an output that is not contiguous, and what the device reports.
pub fn truncate_rank_into<'a, T: MatrixElement>(
    input: impl Into<TensorView<'a, T>>,
    components: &Components,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<Truncation> {
    range!("rank truncation");
    let input = input.into();
    validate(&input, components)?;
    expect_shape("the output", input.shape(), output.shape())?;
    expect_backend(input.backend(), output.backend(), stream)?;
    output.expect_contiguous("the output")?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        return cuda::run(cuda, &input, components, output, stream);
    }
    cpu::run(&input.host(WHAT)?, components, output.host_array_mut("the output")?)
}

fn validate<T: MatrixElement>(input: &TensorView<'_, T>, components: &Components) -> Result<()> {
    let shape = input.shape();
    if shape.len() < 2 {
        return Err(Error::WrongAxes {
            what: WHAT,
            expected: "(frame, ..space)",
            got: shape.to_vec(),
        });
    }
    expect_axes(WHAT, shape)?;
    if input.is_empty() {
        return Err(Error::Empty {
            what: WHAT,
            shape: shape.to_vec(),
            minimum: 1,
        });
    }
    let n_frames = shape[0];
    components.validate(n_frames.min(input.len() / n_frames))
}

const WHAT: &str = "the data to filter";
