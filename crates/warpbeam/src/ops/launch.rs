//! Launches of the kernels that move units and sum rows.

use super::scatter::{ScatterPlan, Summand};
use crate::Result;
use crate::device::{Cuda, Element, Stream, Tensor, TensorView};
use kernels::copy::plan::{Arrangement, Part, Way, plan};
use kernels::copy::{pairs, tiles};
use kernels::index::Instance;

/// An axis along which places of rows are looked up.
#[derive(Clone, Copy)]
pub(super) struct LookedUp<'a> {
    pub(super) axis: usize,
    /// Rows that are moved.
    pub(super) length: usize,
    /// Where they lie in the input; one after the other where there is none.
    pub(super) sources: Option<&'a Tensor<i32>>,
    /// Where they are to lie in the output.
    pub(super) targets: Option<&'a Tensor<i32>>,
}

/// What is moved, before it is known how.
fn arrangement<T: Element>(
    input: &TensorView<'_, T>,
    output: &Tensor<T>,
    looked_up: Option<(usize, usize)>,
) -> Result<Arrangement> {
    output.expect_contiguous("the output")?;
    let mut shape = input.shape().to_vec();
    if let Some((axis, length)) = looked_up {
        shape[axis] = length;
    }
    Ok(Arrangement {
        element_bytes: size_of::<T>(),
        most_bytes: 16,
        shape,
        input_strides: input.strides().to_vec(),
        output_strides: output.strides().to_vec(),
        input_address: input.address(),
        output_address: output.view().address(),
        input_origin: input.origin(),
        output_origin: 0,
        looked_up: looked_up.map(|(axis, _)| axis),
    })
}

/// Queues what moves all elements, or the rows that are looked up.
pub(super) fn queue_moves<T: Element>(
    cuda: &Cuda,
    input: &TensorView<'_, T>,
    output: &mut Tensor<T>,
    looked_up: Option<LookedUp<'_>>,
    stream: &Stream,
) -> Result<()> {
    let axis = looked_up.map(|looked_up| (looked_up.axis, looked_up.length));
    for part in plan(&arrangement(input, output, axis)?) {
        match part.unit_bytes {
            2 => queue_part::<T, u16>(cuda, &part, input, output, looked_up, stream),
            4 => queue_part::<T, u32>(cuda, &part, input, output, looked_up, stream),
            8 => queue_part::<T, [u32; 2]>(cuda, &part, input, output, looked_up, stream),
            _ => queue_part::<T, [u32; 4]>(cuda, &part, input, output, looked_up, stream),
        }?;
    }
    Ok(())
}

fn queue_part<T: Element, U: tiles::Unit>(
    cuda: &Cuda,
    part: &Part,
    input: &TensorView<'_, T>,
    output: &mut Tensor<T>,
    looked_up: Option<LookedUp<'_>>,
    stream: &Stream,
) -> Result<()> {
    match part.way() {
        Way::Flat => {
            let places = |tensor: Option<&Tensor<i32>>| tensor.map(|tensor| tensor.global("the indices")).transpose();
            let sources = places(looked_up.and_then(|axis| axis.sources))?;
            let targets = places(looked_up.and_then(|axis| axis.targets))?;
            let target = output.global_units_mut("the output")?;
            let (parameters, shape) = part.flat::<U>(input.global_units()?, target, sources, targets);
            cuda.launch(&U::flat_kernel(), shape, parameters, stream)
        }
        Way::Tiles => {
            let (parameters, shape) = part.tiles::<U>(input.global_units()?, output.global_units_mut("the output")?);
            cuda.launch(&U::tiles_kernel(), shape, parameters, stream)
        }
        Way::Pairs => {
            let (parameters, shape) = part.pairs(input.global_units()?, output.global_units_mut("the output")?);
            cuda.launch(&pairs::copy_pairs, shape, parameters, stream)
        }
    }
}

/// Queues the sums of rows that share a target.
pub(super) fn queue_sums<T: Summand>(
    cuda: &Cuda,
    input: &TensorView<'_, T>,
    axis: usize,
    scatter: &ScatterPlan,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let mut arrangement = arrangement(input, output, Some((axis, scatter.n_lists())))?;
    arrangement.element_bytes = size_of::<T::Number>();
    arrangement.most_bytes = size_of::<T::Number>();
    if T::PARTS > 1 {
        // Complex numbers are rows of two.
        let parts = T::PARTS as isize;
        let apart = |strides: &mut Vec<isize>| {
            for stride in strides.iter_mut() {
                *stride *= parts;
            }
            strides.push(1);
        };
        apart(&mut arrangement.input_strides);
        apart(&mut arrangement.output_strides);
        arrangement.shape.push(T::PARTS);
        arrangement.input_origin *= parts;
    }
    let [targets, sources] = [&scatter.targets, &scatter.sources];
    for part in plan(&arrangement) {
        let (parameters, shape) = part.sum::<T::Number>(
            input.global_units()?,
            output.global_units_mut("the output")?,
            targets.global("the targets")?,
            scatter.starts.global("the starts of lists")?,
            sources.global("the sources")?,
        );
        cuda.launch(&T::Number::kernel(), shape, parameters, stream)?;
    }
    Ok(())
}
