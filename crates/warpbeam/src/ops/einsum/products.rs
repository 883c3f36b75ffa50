//! Products by a kernel: what is summed first, which operands are copied, in how many parts a sum is made. The launch itself
//! is a [`Launcher`]'s.

use super::arrangement::{Arrangement, lengths_of};
use super::contraction::{Contraction, Groups, Operand};
use super::factor::Factor;
use crate::Result;
use crate::device::{Element, Scratch, Stream, Tensor, Workspace};
use crate::ops::contiguous_copy_into;
use ndarray::arr0;
use std::sync::OnceLock;

/// Letters of what the library adds: parts of a sum, and all elements of an output.
const PART: char = '0';
const ELEMENT: char = '1';

/// What makes the products of an arrangement.
pub(super) trait Launcher {
    /// Queues them; the parts of the sum are dense outputs one after the other.
    fn queue<T: Factor>(
        &self,
        arrangement: &Arrangement,
        operands: [&Operand<'_, T>; 2],
        n_parts: usize,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()>;
}

/// Where sums go: letters and lengths of a dense tensor.
pub(super) type Axes = Vec<(char, usize)>;

/// What a plan keeps.
pub(super) struct Memory<T> {
    workspace: Workspace,
    /// The number 1, by which sums are products.
    one: OnceLock<Tensor<T>>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self {
            workspace: Workspace::default(),
            one: OnceLock::new(),
        }
    }
}

/// What is there for one run.
struct Room<'a, T> {
    scratch: Scratch<'a>,
    one: &'a OnceLock<Tensor<T>>,
}

impl<T: Factor> Room<'_, T> {
    fn one(&self) -> Result<&Tensor<T>> {
        if let Some(one) = self.one.get() {
            return Ok(one);
        }
        let one = Tensor::from_array(self.scratch.backend(), &arr0(T::narrow(T::ONE)))?;
        Ok(self.one.get_or_init(|| one))
    }
}

/// Queues the sums of one operand over what is not in the output, or the products of two.
pub(super) fn run<T: Factor>(
    launcher: &impl Launcher,
    contraction: &Contraction<'_, T>,
    output: &mut Tensor<T>,
    memory: &Memory<T>,
    stream: &Stream,
) -> Result<()> {
    output.expect_contiguous("the output")?;
    if output.is_empty() {
        return Ok(());
    }
    let room = Room {
        scratch: memory.workspace.enter(stream)?,
        one: &memory.one,
    };
    let letters = contraction.output.iter().copied();
    let axes: Axes = letters.zip(contraction.output_shape.iter().copied()).collect();
    match &contraction.operands[..] {
        [operand] => sum(launcher, operand, &axes, output, &room),
        [first, second] => multiply(launcher, [first, second], &axes, output, &room),
        _ => Ok(()),
    }
}

/// Sums over letters that the output has not, as a product with 1; a copy where there is none.
fn sum<T: Factor>(
    launcher: &impl Launcher,
    operand: &Operand<'_, T>,
    axes: &Axes,
    output: &mut Tensor<T>,
    room: &Room<'_, T>,
) -> Result<()> {
    let kept: Vec<char> = axes.iter().map(|axis| axis.0).collect();
    let is_summed = |letter: &&char| !kept.contains(letter);
    let summed: Vec<char> = operand.letters.iter().filter(is_summed).copied().collect();
    if summed.is_empty() {
        return contiguous_copy_into(operand.ordered(&kept)?.view, output, room.scratch.stream());
    }
    let one = Operand {
        letters: Vec::new(),
        view: room.one()?.view(),
    };
    let groups = Groups {
        rows: kept,
        contracted: summed,
        ..Groups::default()
    };
    product(launcher, [operand, &one], groups, axes, output, room)
}

/// An operand's sums over letters that it has alone, dense; `None` where it has none.
fn summed_alone<T: Factor>(
    launcher: &impl Launcher,
    operand: &Operand<'_, T>,
    alone: &[char],
    room: &Room<'_, T>,
) -> Result<Option<Dense<T>>> {
    if alone.is_empty() {
        return Ok(None);
    }
    let is_kept = |letter: &&char| !alone.contains(letter);
    let letters: Vec<char> = operand.letters.iter().filter(is_kept).copied().collect();
    let axes = lengths_of(operand, &letters);
    let shape: Vec<usize> = axes.iter().map(|axis| axis.1).collect();
    let mut numbers = room.scratch.tensor(&shape)?;
    if !numbers.is_empty() {
        sum(launcher, operand, &axes, &mut numbers, room)?;
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
    launcher: &impl Launcher,
    [first, second]: [&Operand<'_, T>; 2],
    axes: &Axes,
    output: &mut Tensor<T>,
    room: &Room<'_, T>,
) -> Result<()> {
    let letters: Vec<char> = axes.iter().map(|axis| axis.0).collect();
    let groups = Groups::new([first, second], &letters);
    let sums = [
        summed_alone(launcher, first, &groups.alone[0], room)?,
        summed_alone(launcher, second, &groups.alone[1], room)?,
    ];
    let first = instead(sums[0].as_ref(), first);
    let second = instead(sums[1].as_ref(), second);
    product(launcher, [&first, &second], groups, axes, output, room)
}

/// Queues a product of operands without letters of their own alone.
fn product<T: Factor>(
    launcher: &impl Launcher,
    [first, second]: [&Operand<'_, T>; 2],
    mut groups: Groups,
    axes: &Axes,
    output: &mut Tensor<T>,
    room: &Room<'_, T>,
) -> Result<()> {
    // Columns lie side by side in the output.
    let last = axes.iter().rev().find(|axis| axis.1 > 1);
    if last.is_some_and(|axis| groups.rows.contains(&axis.0)) {
        std::mem::swap(&mut groups.rows, &mut groups.columns);
        return oriented(launcher, [second, first], &groups, axes, output, room);
    }
    oriented(launcher, [first, second], &groups, axes, output, room)
}

fn oriented<T: Factor>(
    launcher: &impl Launcher,
    [first, second]: [&Operand<'_, T>; 2],
    groups: &Groups,
    axes: &Axes,
    output: &mut Tensor<T>,
    room: &Room<'_, T>,
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
        let view = operand.ordered(&letters)?.view;
        let mut numbers = room.scratch.tensor(view.shape())?;
        contiguous_copy_into(view, &mut numbers, room.scratch.stream())?;
        Ok(Some(Dense { letters, numbers }))
    };
    let copies = [copy(first, &groups.rows)?, copy(second, &groups.columns)?];
    let first = instead(copies[0].as_ref(), first);
    let second = instead(copies[1].as_ref(), second);
    let arrangement = Arrangement::new([&first, &second], groups, &contracted, axes)?;
    let n_parts = arrangement.n_parts::<T::Device>();
    if n_parts == 1 {
        return launcher.queue(&arrangement, [&first, &second], 1, output, room.scratch.stream());
    }
    let parts = Dense {
        letters: vec![PART, ELEMENT],
        numbers: {
            let mut parts = room.scratch.tensor(&[n_parts, output.len()])?;
            launcher.queue(
                &arrangement,
                [&first, &second],
                n_parts,
                &mut parts,
                room.scratch.stream(),
            )?;
            parts
        },
    };
    sum(launcher, &parts.operand(), &vec![(ELEMENT, output.len())], output, room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Backend;
    use crate::ops::einsum::contraction::Rule;
    use crate::ops::einsum::cpu;
    use kernels::copy::axes::Axis;
    use kernels::product::Instance;
    use ndarray::ArrayD;
    use std::cell::Cell;
    use std::collections::HashMap;

    /// Loops in place of the kernel, over the same numbers as it gets.
    #[derive(Default)]
    struct Loops {
        launches: Cell<usize>,
        in_parts: Cell<usize>,
    }

    fn place(axes: &[Axis], n_axes: u32, mut position: u32, stride: impl Fn(&Axis) -> i64) -> i64 {
        let mut place = 0;
        for axis in &axes[..n_axes as usize] {
            place += i64::from(position % axis.length.get()) * stride(axis);
            position /= axis.length.get();
        }
        assert_eq!(position, 0, "as many positions as the axes have");
        place
    }

    /// The elements of a view by their places in memory.
    fn memory<T: Factor>(operand: &Operand<'_, T>) -> HashMap<i64, T> {
        let view = operand.view.host("an operand").unwrap();
        let origin = operand.view.origin() as i64;
        let element = |(place, number): (ndarray::IxDyn, &T)| {
            let steps = (0..view.ndim()).map(|axis| place[axis] as i64 * operand.view.strides()[axis] as i64);
            (origin + steps.sum::<i64>(), *number)
        };
        view.indexed_iter().map(element).collect()
    }

    impl Launcher for Loops {
        fn queue<T: Factor>(
            &self,
            arrangement: &Arrangement,
            operands: [&Operand<'_, T>; 2],
            n_parts: usize,
            output: &mut Tensor<T>,
            _stream: &Stream,
        ) -> Result<()> {
            self.launches.set(self.launches.get() + 1);
            self.in_parts.set(self.in_parts.get() + usize::from(n_parts > 1));
            let [first, second] = operands.map(memory);
            let origins = operands.map(|operand| operand.view.origin() as i64);
            let [n_row_axes, n_column_axes, n_batch_axes] = arrangement.n_axes();
            let (rows, columns, batch) = (arrangement.rows(), arrangement.columns(), arrangement.batch());
            let length = output.len() / n_parts;
            let is_wide = arrangement.is_wide(<T::Device as Instance>::of_vector(), length as i64);
            let of_part = arrangement.n_summed_of_part(n_parts);
            assert!(
                n_parts == 1 || (n_parts as u32 - 1) * of_part < arrangement.n_summed,
                "no empty part"
            );
            let mut written = vec![false; output.len()];
            let numbers = output.host_slice_mut("the output")?;
            for part in 0..n_parts as u32 {
                let summed = part * of_part..(part * of_part + of_part).min(arrangement.n_summed);
                for item in 0..arrangement.n_items {
                    let (mut at, mut rest) = ([0; 3], item);
                    for axis in &batch[..n_batch_axes as usize] {
                        let position = i64::from(rest % axis.length.get());
                        rest /= axis.length.get();
                        at.iter_mut()
                            .zip(axis.strides)
                            .for_each(|(at, stride)| *at += position * stride);
                    }
                    for row in 0..arrangement.n_rows {
                        let x = origins[0] + at[0] + place(&rows, n_row_axes, row, |axis| axis.input_stride);
                        let to = at[2] + place(&rows, n_row_axes, row, |axis| axis.output_stride);
                        for column in 0..arrangement.n_columns {
                            let y =
                                origins[1] + at[1] + place(&columns, n_column_axes, column, |axis| axis.input_stride);
                            let to = to + place(&columns, n_column_axes, column, |axis| axis.output_stride);
                            let of_vector = i64::from(<T::Device as Instance>::of_vector());
                            assert!(!is_wide || (to - i64::from(column)) % of_vector == 0, "aligned");
                            let mut sum = T::ZERO;
                            for summed in summed.clone() {
                                let [a, b] = arrangement.sum_strides.map(|stride| i64::from(summed) * stride);
                                sum += first[&(x + a)].widen() * second[&(y + b)].widen();
                            }
                            let to = part as usize * length + to as usize;
                            assert!(!std::mem::replace(&mut written[to], true), "each element once");
                            numbers[to] = T::narrow(sum);
                        }
                    }
                }
            }
            assert!(written.into_iter().all(|written| written), "every element");
            Ok(())
        }
    }

    /// Small whole numbers, whose sums are exact.
    fn tensor(shape: &[usize], seed: usize) -> Tensor<f64> {
        let length: usize = shape.iter().product();
        let numbers = (0..length)
            .map(|place| ((place * 31 + seed * 17) % 13) as f64 - 6.0)
            .collect();
        let array = ArrayD::from_shape_vec(shape, numbers).unwrap();
        Tensor::from_array(&Backend::cpu(), &array).unwrap()
    }

    fn check(subscripts: &str, lengths: &[(char, usize)], launcher: &Loops) {
        let stream = Backend::cpu().stream().unwrap();
        let operands: Vec<&str> = subscripts.split("->").next().unwrap().split(',').collect();
        let length = |letter: char| lengths.iter().find(|known| known.0 == letter).unwrap().1;
        // Axes in several orders, some backward, some of every other position.
        for layout in 0..6 {
            let tensors: Vec<_> = operands
                .iter()
                .enumerate()
                .map(|(number, letters)| {
                    let turn = (layout + number) % letters.len().max(1);
                    let mut order: Vec<usize> = (0..letters.len()).collect();
                    order.rotate_left(turn);
                    let steps = if layout % 3 == 1 { 2 } else { 1 };
                    let shape: Vec<usize> = letters.chars().map(length).collect();
                    let stored: Vec<usize> = order.iter().map(|&axis| shape[axis] * steps).collect();
                    (tensor(&stored, layout + 5 * number), order, steps)
                })
                .collect();
            let views = tensors.iter().map(|(tensor, order, steps)| {
                let mut view = tensor.view();
                for axis in 0..order.len() {
                    view = view.sliced(axis, 0..tensor.shape()[axis], *steps).unwrap();
                }
                if layout > 2 && !order.is_empty() {
                    view = view.inverted_axis(layout % order.len()).unwrap();
                }
                let mut back = vec![0; order.len()];
                order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
                view.permuted_axes(&back).unwrap()
            });
            let views: Vec<_> = views.collect();
            let rule = Rule::new(subscripts, views.iter().map(|view| view.shape().to_vec()).collect()).unwrap();
            let contraction = Contraction::new(&rule, views).unwrap();
            let output = || Tensor::<f64>::zeros(&Backend::cpu(), &contraction.output_shape).unwrap();
            let (mut expected, mut got) = (output(), output());
            cpu::run(&contraction, &mut expected).unwrap();
            run(launcher, &contraction, &mut got, &Memory::default(), &stream).unwrap();
            assert_eq!(
                got.to_array().unwrap(),
                expected.to_array().unwrap(),
                "{subscripts}, layout {layout}"
            );
        }
    }

    #[test]
    fn launches_compute_what_the_letters_say() {
        let launcher = Loops::default();
        let lengths = [('a', 2), ('b', 3), ('i', 5), ('j', 4), ('k', 7), ('l', 1), ('m', 6)];
        for subscripts in [
            "ij,jk->ik",
            "ij,jk->ki",
            "ji,jk->ik",
            "ij,kj->ik",
            "ij,jk",
            "aij,ajk->aik",
            "iaj,jka->kia",
            "abij,bjk->kabi",
            "i,j->ji",
            "i,i->",
            "i,i->i",
            "ij,ij->ij",
            "ij,ij->ji",
            "iab,kab->ik",
            "iab,bka->ik",
            "aib,bka->ki",
            "ijm,jk->ik",
            "ij,jkm->ik",
            "im,kb->ik",
            "m,ki->i",
            "ii,ik->k",
            "iij,jk->ki",
            "aibj,akbm->ijkm",
            "aibj,akbm->imkj",
            "l,li->il",
            "ijl,lk->kl",
            ",ij->ji",
            "ij,->i",
            ",->",
            "ij->i",
            "ij->j",
            "iab->bi",
            "iab->",
            "aiai->a",
            "l->",
            "kaj->jk",
        ] {
            check(subscripts, &lengths, &launcher);
        }
        assert!(launcher.launches.get() > 100);
        assert_eq!(launcher.in_parts.get(), 0, "these sums are short");
    }

    #[test]
    fn long_sums_are_made_in_parts() {
        let launcher = Loops::default();
        for length in [1024, 1500, 4099] {
            check("ij,jk->ik", &[('i', 3), ('j', length), ('k', 2)], &launcher);
            check("ij->i", &[('i', 3), ('j', length)], &launcher);
        }
        assert_eq!(launcher.in_parts.get(), 36);
    }
}
