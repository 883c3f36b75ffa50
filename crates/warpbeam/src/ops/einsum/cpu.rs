//! Products on the CPU: operands as dense matrices, a matrix product for every batch item, threads share the rows.

use super::contraction::{Contraction, Groups, Operand};
use super::factor::{Factor, sealed::Number};
use crate::Result;
use crate::device::{Tensor, zeroed};
use crate::ops::copy::assign;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{ArrayViewD, ArrayViewMutD, IxDyn, Zip};
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows of a thread's piece of a product; a number of its own, so that results do not depend on the number of threads.
const ROWS: usize = 128;

/// Dense matrices, one a batch item, row by row or column by column.
struct Matrices<'a, W: Clone> {
    numbers: Cow<'a, [W]>,
    rows: usize,
    columns: usize,
    by_rows: bool,
}

impl<W: Clone> Matrices<'_, W> {
    /// A batch item's matrix.
    fn item(&self, item: usize) -> MatRef<'_, W> {
        let size = self.rows * self.columns;
        let numbers = &self.numbers[item * size..(item + 1) * size];
        if self.by_rows {
            MatRef::from_row_major_slice(numbers, self.rows, self.columns)
        } else {
            MatRef::from_column_major_slice(numbers, self.rows, self.columns)
        }
    }
}

/// The elements of a view in row-major order; the same memory where they lie so.
fn dense<'a, T: Factor>(operand: &Operand<'a, T>, order: &[char]) -> Result<(Cow<'a, [T]>, bool)> {
    let view = operand.ordered(order)?.view.host("an operand")?;
    if let Some(numbers) = view.to_slice() {
        return Ok((Cow::Borrowed(numbers), true));
    }
    let mut copy = zeroed::<T>(view.len(), "the copy of an operand")?;
    if let Ok(target) = ArrayViewMutD::from_shape(view.raw_dim(), &mut copy) {
        assign(target, &view);
    }
    Ok((Cow::Owned(copy), false))
}

/// An operand's matrices, `rows` by `columns`, without the letters that it has alone.
fn matrices<'a, T: Factor>(
    operand: &Operand<'a, T>,
    [batch, rows, columns, alone]: [&[char]; 4],
) -> Result<Matrices<'a, T::Wide>> {
    let count = |letters: &[char]| letters.iter().filter_map(|letter| operand.length(*letter)).product();
    let by_rows = [batch, rows, columns, alone].concat();
    let by_columns = [batch, columns, rows, alone].concat();
    let (mut numbers, mut is_by_rows) = (dense(operand, &by_rows)?, true);
    if !numbers.1 && operand.ordered(&by_columns)?.view.is_contiguous() {
        (numbers, is_by_rows) = (dense(operand, &by_columns)?, false);
    }
    let (numbers, n_alone) = (numbers.0, count(alone));
    let numbers = if alone.is_empty() {
        T::widen_all(numbers)
    } else {
        let n_sums = count(batch) * count(rows) * count(columns);
        let sum = |place: usize| {
            let summands = &numbers[place * n_alone..(place + 1) * n_alone];
            summands.iter().fold(T::ZERO, |sum, number| sum + number.widen())
        };
        Cow::Owned((0..n_sums).into_par_iter().map(sum).collect())
    };
    Ok(Matrices {
        numbers,
        rows: count(rows),
        columns: count(columns),
        by_rows: is_by_rows,
    })
}

/// Sums one operand over what is not in the output, or multiplies two.
pub(super) fn run<T: Factor>(contraction: &Contraction<'_, T>, output: &mut Tensor<T>) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    let target = output.host_array_mut("the output")?;
    match &contraction.operands[..] {
        [operand] => sum(operand, &contraction.output, target),
        [first, second] => multiply([first, second], &contraction.output, target),
        _ => Ok(()),
    }
}

fn sum<T: Factor>(operand: &Operand<'_, T>, output: &[char], mut target: ArrayViewMutD<'_, T>) -> Result<()> {
    let is_summed = |letter: &&char| !output.contains(letter);
    let alone: Vec<char> = operand.letters.iter().filter(is_summed).copied().collect();
    if alone.is_empty() {
        assign(target, &operand.ordered(output)?.view.host("an operand")?);
        return Ok(());
    }
    let sums = matrices(operand, [output, &[], &[], &alone])?;
    let narrow = |(target, wide): (&mut T, &T::Wide)| *target = T::narrow(*wide);
    target.iter_mut().zip(sums.numbers.iter()).for_each(narrow);
    Ok(())
}

fn multiply<T: Factor>(operands: [&Operand<'_, T>; 2], output: &[char], target: ArrayViewMutD<'_, T>) -> Result<()> {
    let length = |letter: &char| operands.iter().find_map(|operand| operand.length(*letter));
    let count = |letters: &[char]| -> usize { letters.iter().filter_map(length).product() };
    let groups = Groups::new(operands, output);
    // Threads share rows: the longer side.
    if count(&groups.rows) < count(&groups.columns) {
        return multiply_long([operands[1], operands[0]], output, target);
    }
    multiply_long(operands, output, target)
}

fn multiply_long<T: Factor>(
    [first, second]: [&Operand<'_, T>; 2],
    output: &[char],
    mut target: ArrayViewMutD<'_, T>,
) -> Result<()> {
    let Groups {
        batch,
        rows,
        columns,
        contracted,
        alone,
    } = Groups::new([first, second], output);
    let left = matrices(first, [&batch, &rows, &contracted, &alone[0]])?;
    let right = matrices(second, [&batch, &contracted, &columns, &alone[1]])?;
    let mut products = vec![T::ZERO; target.len()];
    if left.columns > 0 {
        products_of::<T>(&left, &right, &mut products);
    }
    let order = [batch, rows, columns].concat();
    let axes: Vec<usize> = output
        .iter()
        .filter_map(|letter| order.iter().position(|known| known == letter))
        .collect();
    let mut shape = vec![0; order.len()];
    axes.iter()
        .zip(target.shape())
        .for_each(|(&axis, &length)| shape[axis] = length);
    if let Ok(products) = ArrayViewD::from_shape(IxDyn(&shape), &products) {
        Zip::from(&mut target)
            .and(&products.permuted_axes(axes))
            .par_for_each(|target, wide| *target = T::narrow(*wide));
    }
    Ok(())
}

fn products_of<T: Number>(left: &Matrices<'_, T::Wide>, right: &Matrices<'_, T::Wide>, products: &mut [T::Wide]) {
    let columns = right.columns;
    let items = products.par_chunks_mut(left.rows * columns).enumerate();
    items.for_each(|(item, product)| {
        let (left, right) = (left.item(item), right.item(item));
        let pieces = product.par_chunks_mut(ROWS * columns).enumerate();
        pieces.for_each(|(piece, product)| {
            let rows = product.len() / columns;
            let target = MatMut::from_row_major_slice_mut(product, rows, columns);
            let left = left.subrows(piece * ROWS, rows);
            matmul(target, Accum::Replace, left, right, T::ONE, Par::Seq);
        });
    });
}
