//! Products on a CUDA device: letters as rows, columns, batch items and positions of the sum of a kernel.

use super::arrangement::{Arrangement, lengths_of};
use super::contraction::{Contraction, Groups, Operand};
use super::factor::Factor;
use crate::Result;
use crate::device::{Cuda, Element, Stream, Tensor};
use crate::ops::{contiguous_copy, contiguous_copy_into};
use kernels::product::{Instance, Operand as Side, Product, halves};
use ndarray::arr0;

/// Letters of what the library adds: parts of a sum, and all elements of an output.
const PART: char = '0';
const ELEMENT: char = '1';

/// Where sums go: letters and lengths of a dense tensor.
pub(super) type Axes = Vec<(char, usize)>;

/// Queues the sums of one operand over what is not in the output, or the products of two.
pub(super) fn run<T: Factor>(
    cuda: &Cuda,
    contraction: &Contraction<'_, T>,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    output.expect_contiguous("the output")?;
    if output.is_empty() {
        return Ok(());
    }
    let letters = contraction.output.iter().copied();
    let axes: Axes = letters.zip(contraction.output_shape.iter().copied()).collect();
    match &contraction.operands[..] {
        [operand] => sum(cuda, operand, &axes, output, stream),
        [first, second] => multiply(cuda, [first, second], &axes, output, stream),
        _ => Ok(()),
    }
}

/// Sums over letters that the output has not, as a product with 1; a copy where there is none.
fn sum<T: Factor>(
    cuda: &Cuda,
    operand: &Operand<'_, T>,
    axes: &Axes,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let kept: Vec<char> = axes.iter().map(|axis| axis.0).collect();
    let is_summed = |letter: &&char| !kept.contains(letter);
    let summed: Vec<char> = operand.letters.iter().filter(is_summed).copied().collect();
    if summed.is_empty() {
        return contiguous_copy_into(operand.ordered(&kept)?.view, output, stream);
    }
    let one = Tensor::from_array(operand.view.backend(), &arr0(T::narrow(T::ONE)))?;
    let one = Operand {
        letters: Vec::new(),
        view: one.view(),
    };
    let groups = Groups {
        rows: kept,
        contracted: summed,
        ..Groups::default()
    };
    product(cuda, [operand, &one], groups, axes, output, stream)
}

/// An operand's sums over letters that it has alone, dense; `None` where it has none.
fn summed_alone<T: Factor>(
    cuda: &Cuda,
    operand: &Operand<'_, T>,
    alone: &[char],
    stream: &Stream,
) -> Result<Option<Dense<T>>> {
    if alone.is_empty() {
        return Ok(None);
    }
    let is_kept = |letter: &&char| !alone.contains(letter);
    let letters: Vec<char> = operand.letters.iter().filter(is_kept).copied().collect();
    let axes = lengths_of(operand, &letters);
    let shape: Vec<usize> = axes.iter().map(|axis| axis.1).collect();
    let mut numbers = Tensor::unset(operand.view.backend(), &shape)?;
    if !numbers.is_empty() {
        sum(cuda, operand, &axes, &mut numbers, stream)?;
    }
    Ok(Some(Dense { letters, numbers }))
}

/// An operand of our own.
struct Dense<T> {
    letters: Vec<char>,
    numbers: Tensor<T>,
}

impl<T: Element> Dense<T> {
    fn operand(&self) -> Operand<'_, T> {
        Operand {
            letters: self.letters.clone(),
            view: self.numbers.view(),
        }
    }
}

/// What stands in for an operand, or the operand.
fn instead<'a, T: Element>(dense: Option<&'a Dense<T>>, operand: &Operand<'a, T>) -> Operand<'a, T> {
    dense.map_or_else(|| operand.clone(), Dense::operand)
}

fn multiply<T: Factor>(
    cuda: &Cuda,
    [first, second]: [&Operand<'_, T>; 2],
    axes: &Axes,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let letters: Vec<char> = axes.iter().map(|axis| axis.0).collect();
    let groups = Groups::new([first, second], &letters);
    let sums = [
        summed_alone(cuda, first, &groups.alone[0], stream)?,
        summed_alone(cuda, second, &groups.alone[1], stream)?,
    ];
    let first = instead(sums[0].as_ref(), first);
    let second = instead(sums[1].as_ref(), second);
    product(cuda, [&first, &second], groups, axes, output, stream)
}

/// Queues a product of operands without letters of their own alone.
fn product<T: Factor>(
    cuda: &Cuda,
    [first, second]: [&Operand<'_, T>; 2],
    mut groups: Groups,
    axes: &Axes,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    // Columns lie side by side in the output.
    let last = axes.iter().rev().find(|axis| axis.1 > 1);
    if last.is_some_and(|axis| groups.rows.contains(&axis.0)) {
        std::mem::swap(&mut groups.rows, &mut groups.columns);
        return oriented(cuda, [second, first], &groups, axes, output, stream);
    }
    oriented(cuda, [first, second], &groups, axes, output, stream)
}

fn oriented<T: Factor>(
    cuda: &Cuda,
    [first, second]: [&Operand<'_, T>; 2],
    groups: &Groups,
    axes: &Axes,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let contracted = groups.order_of_sum([first, second]);
    let copy = |operand: &Operand<'_, T>, free: &[char]| -> Result<Option<Dense<T>>> {
        if operand.is_readable(free, &contracted) {
            return Ok(None);
        }
        let wanted = [&groups.batch[..], free, &contracted].concat();
        let letters: Vec<char> = wanted
            .into_iter()
            .filter(|letter| operand.axis(*letter).is_some())
            .collect();
        let numbers = contiguous_copy(operand.ordered(&letters)?.view, stream)?;
        Ok(Some(Dense { letters, numbers }))
    };
    let copies = [copy(first, &groups.rows)?, copy(second, &groups.columns)?];
    let first = instead(copies[0].as_ref(), first);
    let second = instead(copies[1].as_ref(), second);
    let arrangement = Arrangement::new([&first, &second], groups, &contracted, axes)?;
    let n_parts = arrangement.n_parts::<T::Device>();
    if n_parts == 1 {
        return queue(cuda, &arrangement, [&first, &second], 1, output, stream);
    }
    let parts = Dense {
        letters: vec![PART, ELEMENT],
        numbers: {
            let mut parts = Tensor::unset(output.backend(), &[n_parts, output.len()])?;
            queue(cuda, &arrangement, [&first, &second], n_parts, &mut parts, stream)?;
            parts
        },
    };
    sum(cuda, &parts.operand(), &vec![(ELEMENT, output.len())], output, stream)
}

fn queue<T: Factor>(
    cuda: &Cuda,
    arrangement: &Arrangement,
    [first, second]: [&Operand<'_, T>; 2],
    n_parts: usize,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let length = (output.len() / n_parts) as i64;
    let along = [(0, first), (1, second)].map(|(number, operand)| {
        let bytes = operand.view.origin() * size_of::<T>() as isize;
        arrangement.are_pieces_along_sum(number, operand.view.address().wrapping_add_signed(bytes))
    });
    let matrix_kernel = match along {
        [Some(first), Some(second)] => <T::Device as Instance>::matrix_kernel(first, second),
        _ => None,
    };
    let matrix_kernel = matrix_kernel.filter(|kernel| cuda.has_kernel(kernel));
    let (of_vector, bytes) = match &matrix_kernel {
        Some(_) => (2, 2 * size_of::<T>()),
        None => (<T::Device as Instance>::of_vector(), 16),
    };
    let is_wide = output.address().is_multiple_of(bytes) && arrangement.is_wide(of_vector, length);
    let side = |operand: &Operand<'_, T>, number: usize| -> Result<Side<T::Device>> {
        Ok(Side {
            memory: operand.view.global_units()?,
            origin: operand.view.origin() as i64,
            stride: arrangement.sum_strides[number],
            along_sum: u32::from(arrangement.is_along_sum(number)),
        })
    };
    let parameters = Product {
        first: side(first, 0)?,
        second: side(second, 1)?,
        output: output.global_mut("the output")?,
        n_rows: arrangement.n_rows,
        n_columns: arrangement.n_columns,
        n_items: arrangement.n_items,
        n_summed: arrangement.n_summed,
        n_summed_of_part: arrangement.n_summed_of_part(n_parts),
        n_axes: arrangement.n_axes(),
        is_wide: u32::from(is_wide),
        part_stride: length,
        rows: arrangement.rows(),
        columns: arrangement.columns(),
        batch: arrangement.batch(),
    };
    if let Some(kernel) = matrix_kernel {
        return cuda.launch(&kernel, halves::launch(&parameters), parameters, stream);
    }
    let tile = arrangement.tile::<T::Device>();
    let kernel = <T::Device as Instance>::kernel(tile);
    let launch = <T::Device as Instance>::launch(tile, &parameters);
    cuda.launch(&kernel, launch, parameters, stream)
}
