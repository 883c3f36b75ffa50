//! Launches of the kernels that move units and sum rows.

use super::copy::{ConvertTo, Number, Output};
use super::scatter::{ScatterPlan, Summand};
use crate::Result;
use crate::device::{Cuda, Element, Stream, Tensor, TensorView};
use cuda_std::Global;
use kernels::copy::convert::Conversion;
use kernels::copy::plan::{Arrangement, Part, Way, plan};
use kernels::copy::{boxes, pairs, shifted, tiles};
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
fn arrangement<T: Element, U: Element>(
    input: &TensorView<'_, T>,
    output: &Tensor<U>,
    looked_up: Option<(usize, usize)>,
) -> Result<Arrangement> {
    output.expect_contiguous("the output")?;
    let mut shape = input.shape().to_vec();
    if let Some((axis, length)) = looked_up {
        shape[axis] = length;
    }
    Ok(Arrangement {
        element_bytes: size_of::<T>(),
        output_element_bytes: size_of::<U>(),
        takes_pairs: size_of::<T>() == 2,
        only_moves: true,
        most_elements: 16 / size_of::<T>(),
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
        if matches!(part.way(), Way::Shifted | Way::Boxes) {
            match part.elements * size_of::<T>() {
                2 => queue_narrow::<T, u16>(cuda, &part, input, output, looked_up, stream),
                4 => queue_narrow::<T, u32>(cuda, &part, input, output, looked_up, stream),
                _ => queue_narrow::<T, [u32; 2]>(cuda, &part, input, output, looked_up, stream),
            }?;
            continue;
        }
        match part.elements * size_of::<T>() {
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
        Way::Tiles => {
            let (parameters, shape) = part.tiles::<U, U>(input.global_units()?, output.global_units_mut("the output")?);
            cuda.launch(&U::tiles_kernel(), shape, parameters, stream)
        }
        Way::Pairs => {
            let (parameters, shape) = part.pairs(input.global_units()?, output.global_units_mut("the output")?);
            cuda.launch(&pairs::copy_pairs, shape, parameters, stream)
        }
        _ => {
            let [sources, targets] = places(looked_up)?;
            let target = output.global_units_mut("the output")?;
            let (parameters, shape) = part.flat::<U, U>(input.global_units()?, target, sources, targets);
            cuda.launch(&U::flat_kernel(), shape, parameters, stream)
        }
    }
}

/// As [`queue_part`], for kernels of units that are less than a vector.
fn queue_narrow<T: Element, U: shifted::Unit + boxes::Unit>(
    cuda: &Cuda,
    part: &Part,
    input: &TensorView<'_, T>,
    output: &mut Tensor<T>,
    looked_up: Option<LookedUp<'_>>,
    stream: &Stream,
) -> Result<()> {
    let (source, target) = (input.global_units::<U>()?, output.global_units_mut::<U>("the output")?);
    if part.way() == Way::Boxes {
        let (parameters, shape) = part.boxes(source, target);
        return cuda.launch(&U::boxes_kernel(), shape, parameters, stream);
    }
    let [sources, targets] = places(looked_up)?;
    let (parameters, shape) = part.shifted(source, target, sources, targets);
    cuda.launch(&U::shifted_kernel(), shape, parameters, stream)
}

/// Where rows lie in the input, and in the output.
fn places(looked_up: Option<LookedUp<'_>>) -> Result<[Option<Global<i32>>; 2]> {
    let place = |tensor: Option<&Tensor<i32>>| tensor.map(|tensor| tensor.global("the indices")).transpose();
    Ok([
        place(looked_up.and_then(|axis| axis.sources))?,
        place(looked_up.and_then(|axis| axis.targets))?,
    ])
}

/// Complex numbers as rows of two.
fn parts_apart(arrangement: &mut Arrangement) {
    let apart = |strides: &mut Vec<isize>| {
        for stride in strides.iter_mut() {
            *stride *= 2;
        }
        strides.push(1);
    };
    apart(&mut arrangement.input_strides);
    apart(&mut arrangement.output_strides);
    arrangement.shape.push(2);
    arrangement.input_origin *= 2;
    arrangement.output_origin *= 2;
    arrangement.element_bytes /= 2;
    arrangement.output_element_bytes /= 2;
}

/// Queues what moves all elements and makes them those of another type.
pub(super) fn queue_conversions<T: ConvertTo<U>, U: Element>(
    cuda: &Cuda,
    input: &TensorView<'_, T>,
    output: &mut Tensor<U>,
    stream: &Stream,
) -> Result<()> {
    type Two<T, U> = <Number<T, U> as Conversion<Output<T, U>>>::Two;
    type Most<T, U> = <Number<T, U> as Conversion<Output<T, U>>>::Most;
    let mut arrangement = arrangement(input, output, None)?;
    let pairs_kernel = Number::<T, U>::pairs_kernel();
    arrangement.takes_pairs = pairs_kernel.is_some();
    arrangement.only_moves = false;
    arrangement.most_elements = size_of::<Most<T, U>>() / size_of::<Number<T, U>>();
    if size_of::<T>() > size_of::<Number<T, U>>() {
        parts_apart(&mut arrangement);
    }
    for part in plan(&arrangement) {
        if let (Way::Pairs, Some(kernel)) = (part.way(), &pairs_kernel) {
            let (parameters, shape) = part.pairs(input.global_units()?, output.global_units_mut("the output")?);
            cuda.launch(kernel, shape, parameters, stream)?;
            continue;
        }
        match part.elements {
            1 => queue_converted::<T, U, Number<T, U>, _>(cuda, &part, input, output, stream),
            2 => queue_converted::<T, U, Two<T, U>, _>(cuda, &part, input, output, stream),
            _ => queue_converted::<T, U, Most<T, U>, _>(cuda, &part, input, output, stream),
        }?;
    }
    Ok(())
}

fn queue_converted<T: Element, U: Element, I: tiles::Unit<O>, O: cuda_std::Element>(
    cuda: &Cuda,
    part: &Part,
    input: &TensorView<'_, T>,
    output: &mut Tensor<U>,
    stream: &Stream,
) -> Result<()> {
    let (source, target) = (input.global_units::<I>()?, output.global_units_mut::<O>("the output")?);
    if part.way() == Way::Flat {
        let (parameters, shape) = part.flat(source, target, None, None);
        cuda.launch(&I::flat_kernel(), shape, parameters, stream)
    } else {
        let (parameters, shape) = part.tiles(source, target);
        cuda.launch(&I::tiles_kernel(), shape, parameters, stream)
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
    arrangement.most_elements = 1;
    if T::PARTS > 1 {
        parts_apart(&mut arrangement);
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
