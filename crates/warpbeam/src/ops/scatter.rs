//! Rows to given places, over what is there or added to it.

use super::indices::{Indices, expect_axis};
use super::space::{expect_axes, expect_backend};
use crate::Result;
use crate::device::{Backend, Element, Stream, Tensor, TensorView, zeroed};
use cuda_std::half::F16;
use half::f16;
use kernels::index::Instance;
use ndarray::{ArrayView1, ArrayViewD, Axis};
use num_complex::Complex;
use rayon::prelude::*;

/// For every target of some [`Indices`] the list of its sources, in their order; made once, for any number of calls.
///
/// With these lists each target is written by one thread, so results do not depend on chance.
#[derive(Debug)]
pub struct ScatterPlan {
    axis_length: usize,
    n_sources: usize,
    /// The target of every list, ascending.
    pub(super) targets: Tensor<i32>,
    /// Where in `sources` a list begins, and where the last one ends.
    pub(super) starts: Tensor<u32>,
    /// List after list.
    pub(super) sources: Tensor<i32>,
    /// The last source of every list.
    #[cfg(feature = "cuda")]
    last: Tensor<i32>,
}

impl ScatterPlan {
    /// Sorts the sources of indices that say where each is to go; on the host, in time proportional to indices and axis.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and what the device reports.
    pub fn new(indices: &Indices) -> Result<Self> {
        let backend = indices.backend();
        let positions = indices.positions.to_array()?;
        // Where each target's sources begin, by counting; then every source to the next place of its target.
        let mut places = zeroed::<u32>(indices.axis_length() + 1, "the lists of sources")?;
        for &target in &positions {
            places[target as usize + 1] += 1;
        }
        let (mut targets, mut starts) = (Vec::new(), Vec::new());
        for target in 0..indices.axis_length() {
            if places[target + 1] > 0 {
                targets.push(target as i32);
                starts.push(places[target]);
            }
            places[target + 1] += places[target];
        }
        starts.push(positions.len() as u32);
        let mut sources = zeroed::<i32>(positions.len(), "the lists of sources")?;
        for (source, &target) in positions.iter().enumerate() {
            let place = &mut places[target as usize];
            sources[*place as usize] = source as i32;
            *place += 1;
        }
        #[cfg(feature = "cuda")]
        let last: Vec<i32> = starts[1..].iter().map(|&end| sources[end as usize - 1]).collect();
        Ok(Self {
            axis_length: indices.axis_length(),
            n_sources: positions.len(),
            targets: Tensor::from_array(backend, &ArrayView1::from(&targets))?,
            starts: Tensor::from_array(backend, &ArrayView1::from(&starts))?,
            sources: Tensor::from_array(backend, &ArrayView1::from(&sources))?,
            #[cfg(feature = "cuda")]
            last: Tensor::from_array(backend, &ArrayView1::from(&last))?,
        })
    }

    /// Where the lists are.
    pub fn backend(&self) -> &Backend {
        self.targets.backend()
    }

    /// How many targets have a source.
    #[cfg(feature = "cuda")]
    pub(super) fn n_lists(&self) -> usize {
        self.targets.len()
    }

    fn check<T: Element>(
        &self,
        input: &TensorView<'_, T>,
        axis: usize,
        output: &Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        const WHAT: &str = "the tensor to scatter";
        expect_axes(WHAT, input.shape())?;
        expect_axis(WHAT, input.shape(), axis, self.n_sources)?;
        let mut shape = input.shape().to_vec();
        shape[axis] = self.axis_length;
        super::space::expect_shape("the output", &shape, output.shape())?;
        expect_backend(input.backend(), output.backend(), stream)?;
        input.backend().expect("the plan", self.backend())
    }
}

/// `output[.., indices[i], ..] = input[.., i, ..]`, i along the axis `axis`; what no index names stays as it is.
///
/// Where indices are equal, the last of them wins.
///
/// # Errors
///
/// [`Error::WrongAxes`](crate::Error::WrongAxes) for more than [`MOST_AXES`](super::MOST_AXES);
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) for an axis of the input that is not as long as there are indices,
/// and for an output whose shape is not the input's with the indices' axis;
/// [`Error::WrongBackend`](crate::Error::WrongBackend) for what is elsewhere;
/// [`DeviceError`](crate::DeviceError) for an axis that is not there, an output that is not contiguous, and what the
/// device reports.
pub fn scatter_into<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    axis: usize,
    plan: &ScatterPlan,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    range!("scatter");
    let input = input.into();
    plan.check(&input, axis, output, stream)?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        let looked_up = super::launch::LookedUp {
            axis,
            length: plan.n_lists(),
            sources: Some(&plan.last),
            targets: Some(&plan.targets),
        };
        return super::launch::queue_moves(cuda, &input, output, Some(looked_up), stream);
    }
    on_cpu(&input, axis, plan, output, |row, rows, sources| {
        if let Some(&last) = sources.last() {
            let source = rows.index_axis(Axis(0), last as usize);
            row.iter_mut().zip(source).for_each(|(value, source)| *value = *source);
        }
    })
}

/// `output[.., indices[i], ..] += input[.., i, ..]`, i along the axis `axis`, one after the other.
///
/// The same call gives the same bits. Integers wrap; halves are summed in single precision and rounded once.
///
/// # Errors
///
/// As [`scatter_into`].
pub fn scatter_add_into<'a, T: Summand>(
    input: impl Into<TensorView<'a, T>>,
    axis: usize,
    plan: &ScatterPlan,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    range!("scatter add");
    let input = input.into();
    plan.check(&input, axis, output, stream)?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        return super::launch::queue_sums(cuda, &input, axis, plan, output, stream);
    }
    on_cpu(&input, axis, plan, output, |row, rows, sources| {
        let mut sums: Vec<_> = row.iter().map(|value| value.sums()).collect();
        for &source in sources {
            for (sums, value) in sums.iter_mut().zip(rows.index_axis(Axis(0), source as usize)) {
                value.add_to(sums);
            }
        }
        row.iter_mut()
            .zip(&sums)
            .for_each(|(value, sums)| *value = T::from_sums(*sums));
    })
}

/// Calls for every target that has sources, and every position of the axes before: with the target's row of the output, the
/// input's rows at that position, and which of those are the target's.
fn on_cpu<T: Element>(
    input: &TensorView<'_, T>,
    axis: usize,
    plan: &ScatterPlan,
    output: &mut Tensor<T>,
    combine: impl Fn(&mut [T], &ArrayViewD<'_, T>, &[i32]) + Sync,
) -> Result<()> {
    let source = input.host("the tensor to scatter")?;
    let targets = plan.targets.host_slice("the targets")?;
    let starts = plan.starts.host_slice("the starts of lists")?;
    let sources = plan.sources.host_slice("the sources")?;
    let shape = output.shape().to_vec();
    let values = output.host_slice_mut("the output")?;
    let row: usize = shape[axis + 1..].iter().product();
    if values.is_empty() || targets.is_empty() {
        return Ok(());
    }
    let mut work = Vec::new();
    for (outer, values) in values.chunks_mut(shape[axis] * row).enumerate() {
        let mut rows = values.chunks_mut(row);
        let mut next = 0;
        for (list, &target) in targets.iter().enumerate() {
            if let Some(row) = rows.nth(target as usize - next) {
                work.push((outer, list, row));
            }
            next = target as usize + 1;
        }
    }
    work.into_par_iter().for_each(|(mut outer, list, row)| {
        let mut rows = source.view();
        for before in (0..axis).rev() {
            rows.index_axis_inplace(Axis(before), outer % shape[before]);
            outer /= shape[before];
        }
        let range = starts[list] as usize..starts[list + 1] as usize;
        combine(row, &rows, &sources[range]);
    });
    Ok(())
}

/// A number that can be summed: `i16`, `i32`, `f16`, `f32`, `f64`, real or complex.
pub trait Summand: Element {
    /// A part as kernels sum it.
    #[doc(hidden)]
    type Number: Instance;

    /// The sums of the parts.
    #[doc(hidden)]
    type Sums: Copy + Send;

    /// 2 for complex numbers, 1 for real ones.
    #[doc(hidden)]
    const PARTS: usize;

    #[doc(hidden)]
    fn sums(self) -> Self::Sums;

    #[doc(hidden)]
    fn add_to(self, sums: &mut Self::Sums);

    #[doc(hidden)]
    fn from_sums(sums: Self::Sums) -> Self;
}

macro_rules! summands {
    ($($type:ty: $number:ty, |$value:ident| $to:expr, |$sum:ident| $from:expr;)*) => { $(
        impl Summand for $type {
            type Number = $number;
            type Sums = <$number as kernels::index::Summand>::Sum;
            const PARTS: usize = 1;

            fn sums(self) -> Self::Sums {
                let $value = self;
                <$number as kernels::index::Summand>::widen($to)
            }

            fn add_to(self, sums: &mut Self::Sums) {
                let $value = self;
                *sums = <$number as kernels::index::Summand>::add(*sums, $to);
            }

            fn from_sums(sums: Self::Sums) -> Self {
                let $sum = <$number as kernels::index::Summand>::narrow(sums);
                $from
            }
        }

        impl Summand for Complex<$type> {
            type Number = $number;
            type Sums = [<$number as kernels::index::Summand>::Sum; 2];
            const PARTS: usize = 2;

            fn sums(self) -> Self::Sums {
                [self.re.sums(), self.im.sums()]
            }

            fn add_to(self, sums: &mut Self::Sums) {
                self.re.add_to(&mut sums[0]);
                self.im.add_to(&mut sums[1]);
            }

            fn from_sums([re, im]: Self::Sums) -> Self {
                Self::new(<$type>::from_sums(re), <$type>::from_sums(im))
            }
        }
    )* };
}

summands! {
    i16: i16, |value| value, |sum| sum;
    i32: i32, |value| value, |sum| sum;
    f16: F16, |value| F16(value.to_bits()), |sum| f16::from_bits(sum.0);
    f32: f32, |value| value, |sum| sum;
    f64: f64, |value| value, |sum| sum;
}
