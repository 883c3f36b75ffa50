//! The plan: positions and wavenumbers that are checked once, and the calls that propagate with them.

use super::cpu;
#[cfg(feature = "cuda")]
use super::cuda::CudaGreens;
use super::halving::Halving;
use super::prepared::Prepared;
use crate::device::{Backend, Element, Stream, Tensor, zeroed};
use crate::{Error, Precision, Result};
use cuda_std::math::Real;
use ndarray::{ArrayD, ArrayRef1, ArrayRef2, ArrayView, ArrayView3, ArrayViewMut3, Axis, Dimension, Ix3, IxDyn};
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A complex amplitude: of `f32` on every backend, of `f64` on the CPU.
pub trait Amplitude: Element + sealed::Sealed {
    /// The precision.
    #[doc(hidden)]
    type Real: Real;

    /// From real and imaginary part.
    #[doc(hidden)]
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;

    /// Real and imaginary part.
    #[doc(hidden)]
    fn parts(self) -> [Self::Real; 2];
}

macro_rules! amplitudes {
    ($($real:ty),*) => { $(
        impl sealed::Sealed for Complex<$real> {}
        impl Amplitude for Complex<$real> {
            type Real = $real;

            fn from_parts(re: $real, im: $real) -> Self {
                Self::new(re, im)
            }

            fn parts(self) -> [$real; 2] {
                [self.re, self.im]
            }
        }
    )* };
}

amplitudes!(f32, f64);

/// Propagation of spherical waves, `y[b, t, f] = Σ_s x[b, s, f] · e^{i k_f r} / r`; made once, run for any amplitudes.
///
/// | what | shape | unit |
/// |---|---|---|
/// | amplitudes x | `(batch, source, frequency)`, or without batch | any |
/// | result y | `(batch, target, frequency)`, or without batch | that of x over the unit of length |
///
/// The matrix of waves is never stored. The same call gives the same bits, and an item's result does not depend on the
/// others of its batch. The relative L2 error is within 1e-5 + 2⁻²³ · (k r)ₘₐₓ in single and 1e-12 + 2⁻⁵² · (k r)ₘₐₓ in
/// double precision, for phases below 2²² turns. [`GreensPlan::with_precision`] is for many batch items, at less accuracy.
///
/// Source: the free-space Green's function of the Helmholtz equation, times 4π; P. M. Morse and K. U. Ingard, "Theoretical
/// Acoustics", 1968, chapter 7.1.
pub struct GreensPlan<T: Amplitude> {
    backend: Backend,
    n_sources: usize,
    n_targets: usize,
    n_frequencies: usize,
    engine: Engine<T>,
}

enum Engine<T: Amplitude> {
    Cpu(Prepared<T::Real>, Option<Halving>),
    #[cfg(feature = "cuda")]
    Cuda(Box<CudaGreens>),
}

/// What the run's arrays are, for errors.
const AMPLITUDES: &str = "the sources' amplitudes";

impl<T: Amplitude> GreensPlan<T> {
    /// Makes a plan from sources `(source, 3)` and targets `(target, 3)` in any unit of length, and wavenumbers
    /// `(frequency,)` in radians per that unit.
    ///
    /// Positions are rounded to the precision of `T`, and to multiples of 2⁻⁶² (2⁻⁵⁰⁰ in double precision). On a GPU, 16 or
    /// more wavenumbers that lie evenly spaced, each within 2⁻²⁴ of the largest magnitude among them, are taken for a
    /// regular grid, for which less is computed.
    ///
    /// # Errors
    ///
    /// [`Error::SourceAtTarget`] where the two coincide: a wave has no value there. [`Error::WrongAxes`], [`Error::Empty`],
    /// [`Error::NotFinite`] and [`Error::OutOfRange`] for the arrays; [`Error::Unsupported`] for double precision on a GPU;
    /// what the device reports.
    pub fn new(
        backend: &Backend,
        sources: &ArrayRef2<f64>,
        targets: &ArrayRef2<f64>,
        wavenumbers: &ArrayRef1<f64>,
    ) -> Result<Self> {
        Self::with_precision(backend, sources, targets, wavenumbers, Precision::Full)
    }

    /// As [`GreensPlan::new`], for amplitudes and waves that may be rounded.
    ///
    /// [`Precision::F16`] rounds both to `f16` and sums in single precision: the relative L2 error is 1e-3 more, where terms do
    /// not cancel each other. Each batch item is first multiplied by a power of two, its own or the one given, and its result
    /// divided by it. On a GPU, up to eight batch items then take half as many instructions again as one with
    /// [`Precision::Full`]: that is slower for one item and faster for four and more. Waves over less than 2⁻²⁴ of the largest
    /// extent, which single precision does not resolve, are bounded.
    ///
    /// # Errors
    ///
    /// As [`GreensPlan::new`]; [`Error::Unsupported`] for [`Precision::Tf32`], for double precision with
    /// [`Precision::F16`], and for that on a GPU below compute capability 8.0.
    pub fn with_precision(
        backend: &Backend,
        sources: &ArrayRef2<f64>,
        targets: &ArrayRef2<f64>,
        wavenumbers: &ArrayRef1<f64>,
        precision: Precision,
    ) -> Result<Self> {
        range!("greens plan");
        let is_single = size_of::<T::Real>() == size_of::<f32>();
        if precision == Precision::Tf32 || (precision != Precision::Full && !is_single) {
            return Err(Error::Unsupported {
                what: "GreensPlan with this precision",
                alternatives: "Precision::Full takes Complex<f32> and Complex<f64>, Precision::F16 Complex<f32>",
            });
        }
        #[cfg(feature = "cuda")]
        let engine = match backend.as_cuda() {
            Some(_) if size_of::<T::Real>() != size_of::<f32>() => {
                return Err(Error::Unsupported {
                    what: "GreensPlan for f64 on a GPU",
                    alternatives: "a GPU takes Complex<f32>, the CPU Complex<f64> too",
                });
            }
            Some(cuda) => {
                let prepared = Prepared::new(sources, targets, wavenumbers)?;
                let halving = Halving::of(precision, &prepared);
                Engine::Cuda(Box::new(CudaGreens::new(backend, cuda, &prepared, halving)?))
            }
            None => Self::on_cpu(Prepared::new(sources, targets, wavenumbers)?, precision),
        };
        #[cfg(not(feature = "cuda"))]
        let engine = Self::on_cpu(Prepared::new(sources, targets, wavenumbers)?, precision);
        Ok(Self {
            backend: backend.clone(),
            n_sources: sources.nrows(),
            n_targets: targets.nrows(),
            n_frequencies: wavenumbers.len(),
            engine,
        })
    }

    fn on_cpu(prepared: Prepared<T::Real>, precision: Precision) -> Engine<T> {
        let halving = Halving::of(precision, &prepared);
        Engine::Cpu(prepared, halving)
    }

    /// Where the plan computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Propagates amplitudes on the host to the targets, on the host.
    ///
    /// The view may have any strides. Work that does not fit into a GPU's memory is split over batch and targets.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAxes`] or [`Error::ShapeMismatch`] for amplitudes of another shape, [`Error::OutOfMemory`] where the
    /// result does not fit on the host or not even a part of the work on the device, and what the device reports.
    pub fn run<D: Dimension>(&self, amplitudes: ArrayView<'_, T, D>) -> Result<ArrayD<T>> {
        range!("greens");
        let shape = amplitudes.shape().to_vec();
        let (n_batch, output_shape) = self.output_shape(&shape)?;
        let mut view = amplitudes.into_dyn();
        if view.ndim() == 2 {
            view.insert_axis_inplace(Axis(0));
        }
        let view = view.into_dimensionality::<Ix3>().map_err(|_| self.mismatch(&shape))?;
        let length = output_shape
            .iter()
            .fold(1_usize, |product, n| product.saturating_mul(*n));
        let mut output = zeroed::<T>(length, "the field at the targets")?;
        let target = ArrayViewMut3::from_shape(self.canonical_output(n_batch), &mut output)
            .map_err(|_| self.mismatch(&shape))?;
        match &self.engine {
            Engine::Cpu(prepared, halving) => cpu::run(prepared, halving.as_ref(), &view, target),
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => engine.run(&view, target)?,
        }
        ArrayD::from_shape_vec(IxDyn(&output_shape), output).map_err(|_| self.mismatch(&shape))
    }

    /// Propagates amplitudes on the plan's backend into a result there, on a stream.
    ///
    /// The output's former contents do not matter. On CUDA the work may still run when the call returns: reading the
    /// output to the host waits for it. Where few targets and frequencies leave a GPU idle, parts of the sum are kept
    /// in memory of the plan, which the first run of a size allocates.
    ///
    /// # Errors
    ///
    /// As [`GreensPlan::run`], [`Error::ShapeMismatch`] also for the output; [`Error::WrongBackend`] for tensors or
    /// streams from elsewhere, and a typed error for tensors that are not contiguous.
    pub fn run_into(&self, amplitudes: &Tensor<T>, output: &mut Tensor<T>, stream: &Stream) -> Result<()> {
        range!("greens");
        self.backend.expect(AMPLITUDES, amplitudes.backend())?;
        self.backend.expect("the output", output.backend())?;
        self.backend.expect("the stream", stream.backend())?;
        let (n_batch, output_shape) = self.output_shape(amplitudes.shape())?;
        if output.shape() != output_shape {
            return Err(Error::ShapeMismatch {
                what: "the output",
                expected: output_shape,
                got: output.shape().to_vec(),
            });
        }
        match &self.engine {
            Engine::Cpu(prepared, halving) => {
                let shape = Ix3(n_batch, self.n_sources, self.n_frequencies);
                let view = ArrayView3::from_shape(shape, amplitudes.host_slice(AMPLITUDES)?)
                    .map_err(|_| self.mismatch(amplitudes.shape()))?;
                let values = output.host_slice_mut("the output")?;
                let target = ArrayViewMut3::from_shape(self.canonical_output(n_batch), values)
                    .map_err(|_| self.mismatch(amplitudes.shape()))?;
                cpu::run(prepared, halving.as_ref(), &view, target);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => engine.launch(amplitudes, n_batch, 0..self.n_targets, output, stream),
        }
    }

    fn canonical_output(&self, n_batch: usize) -> Ix3 {
        Ix3(n_batch, self.n_targets, self.n_frequencies)
    }

    /// Batch items, and the output's shape.
    fn output_shape(&self, shape: &[usize]) -> Result<(usize, Vec<usize>)> {
        let (batch, inner) = match *shape {
            [batch, sources, frequencies] => (Some(batch), [sources, frequencies]),
            [sources, frequencies] => (None, [sources, frequencies]),
            _ => {
                return Err(Error::WrongAxes {
                    what: AMPLITUDES,
                    expected: "(batch, source, frequency) or (source, frequency)",
                    got: shape.to_vec(),
                });
            }
        };
        if inner != [self.n_sources, self.n_frequencies] {
            return Err(self.mismatch(shape));
        }
        let mut output: Vec<usize> = batch.into_iter().collect();
        output.extend([self.n_targets, self.n_frequencies]);
        Ok((batch.unwrap_or(1), output))
    }

    fn mismatch(&self, got: &[usize]) -> Error {
        let mut expected = vec![self.n_sources, self.n_frequencies];
        if let [batch, _, _] = got {
            expected.insert(0, *batch);
        }
        Error::ShapeMismatch {
            what: AMPLITUDES,
            expected,
            got: got.to_vec(),
        }
    }
}
