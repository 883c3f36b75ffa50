//! Boxes of arrays with short axes: how many positions along each axis, and where units lie in shared memory.

use super::Part;
use crate::copy::axes::{Axis, Divisor, MOST_AXES};
use crate::copy::boxes::{Boxes, Cut, MOST_CUTS, MOST_SIDES, Side, THREADS, Unit, most_units, shared_bytes};
use cuda_std::{Global, GlobalMut, Launch};

/// Bytes that are to be neighbours on either side.
const RUN_BYTES: u64 = 128;

/// Shared memory of a block at most.
const MOST_SHARED_BYTES: u64 = 48 << 10;

/// Boxes of a block, where there are enough for [`ENOUGH_BLOCKS`].
const BOXES_OF_BLOCK: u32 = 16;

/// Blocks that keep any device busy.
const ENOUGH_BLOCKS: u32 = 1024;

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Positions along each axis.
    lengths: Vec<u64>,
    /// The axes of which it has more than one, in the order of the input; and units of shared memory from one to the next.
    reading: Vec<(usize, u64)>,
    n_shared: u64,
}

impl Form {
    /// The axes of which a box has a part, the output's first.
    fn cuts(&self, part: &Part) -> Vec<usize> {
        let is_cut = |&axis: &usize| self.lengths[axis] > 1 && self.lengths[axis] < part.axes[axis].length;
        (0..self.lengths.len()).filter(is_cut).collect()
    }
}

/// The axes of a run: whole ones until there are `run` positions, and a part of the last.
fn walk(part: &Part, order: &[usize], run: u64, lengths: &mut [u64]) {
    let mut have = 1;
    for &axis in order {
        if have >= run {
            return;
        }
        let wanted = run.div_ceil(have).min(part.axes[axis].length).max(lengths[axis]);
        lengths[axis] = wanted;
        if wanted < part.axes[axis].length {
            return;
        }
        have *= wanted;
    }
}

/// Positions along an axis, at most so many, that begin where sectors do if the axis does.
fn rounded(length: u64, most: u64) -> u64 {
    let multiple = match most {
        64.. => 32,
        8.. => 8,
        _ => 1,
    };
    if most >= length {
        length
    } else {
        most / multiple * multiple
    }
}

impl Part {
    /// The box for units of so many bytes, if there is one with neighbours enough on both sides.
    pub(super) fn form(&self, unit_bytes: usize) -> Option<Form> {
        let run = RUN_BYTES / unit_bytes as u64;
        let mut of_input: Vec<usize> = (0..self.axes.len())
            .filter(|&axis| self.axes[axis].input_stride != 0)
            .collect();
        of_input.sort_by_key(|&axis| self.axes[axis].input_stride.unsigned_abs());
        let of_output: Vec<usize> = (0..self.axes.len()).collect();
        let mut form = Form {
            lengths: vec![1; self.axes.len()],
            reading: Vec::new(),
            n_shared: 0,
        };
        walk(self, &of_output, run, &mut form.lengths);
        walk(self, &of_input, run, &mut form.lengths);
        let cuts = form.cuts(self);
        let whole: u64 = form
            .lengths
            .iter()
            .enumerate()
            .filter(|(axis, _)| !cuts.contains(axis))
            .map(|(_, length)| length)
            .product();
        let most_units = u64::from(most_units(unit_bytes));
        let most = most_units / whole;
        match cuts[..] {
            [] => {}
            [axis] => form.lengths[axis] = rounded(self.axes[axis].length, most),
            [first, second] => {
                let [first_length, second_length] = [first, second].map(|axis| self.axes[axis].length);
                form.lengths[first] = rounded(first_length, most.isqrt()).max(1);
                form.lengths[second] = rounded(second_length, most / form.lengths[first]).max(1);
                form.lengths[first] = rounded(first_length, most / form.lengths[second]);
            }
            _ => return None,
        }
        let units: u64 = form.lengths.iter().product();
        let reaches = |stride: fn(&super::Planned) -> i64| {
            let each = self.axes.iter().zip(&form.lengths);
            each.map(|(axis, length)| stride(axis).unsigned_abs().saturating_mul(length - 1))
                .fold(0, u64::saturating_add)
        };
        let is_near = |reach: u64| reach < 1 << 31;
        let is_possible = (1..=most_units).contains(&units)
            && is_near(reaches(|axis| axis.input_stride))
            && is_near(reaches(|axis| axis.output_stride));
        // What is broadcast is read at one place from any position: last in the box.
        of_input.extend((0..self.axes.len()).filter(|&axis| self.axes[axis].input_stride == 0));
        of_input.retain(|&axis| form.lengths[axis] > 1);
        if !is_possible || of_input.len() > MOST_SIDES {
            return None;
        }
        form.set_pitches(&of_input, 128 / unit_bytes as u64);
        (form.n_shared * unit_bytes as u64 <= MOST_SHARED_BYTES).then_some(form)
    }

    /// Parameters and shape of a launch of boxes.
    ///
    /// # Panics
    ///
    /// For a part that has another way.
    pub fn boxes<U: Unit>(&self, input: Global<U>, output: GlobalMut<U>) -> (Boxes<U>, Launch) {
        let form = self.form(size_of::<U>()).expect("the way of the part");
        let cuts = form.cuts(self);
        let sides = |axes: &mut dyn Iterator<Item = usize>, stride: fn(&super::Planned) -> i64| {
            let mut sides = [Side::NONE; MOST_SIDES];
            for (side, axis) in sides.iter_mut().zip(axes) {
                let pitch = form.reading.iter().find(|(read, _)| *read == axis);
                *side = Side {
                    length: Divisor::new(form.lengths[axis] as u32),
                    stride: stride(&self.axes[axis]) as i32,
                    pitch: pitch.map_or(0, |(_, pitch)| *pitch as u32),
                    cut: cuts.iter().position(|&cut| cut == axis).unwrap_or(MOST_CUTS) as u32,
                };
            }
            sides
        };
        let mut of_cuts = [Cut { length: 1, of_box: 1 }; MOST_CUTS];
        let mut steps = [Axis::NONE; MOST_AXES];
        for (place, &axis) in cuts.iter().enumerate() {
            let (of_box, planned) = (form.lengths[axis], &self.axes[axis]);
            of_cuts[place] = Cut {
                length: planned.length as u32,
                of_box: of_box as u32,
            };
            steps[place] = Axis {
                length: Divisor::new(planned.length.div_ceil(of_box) as u32),
                input_stride: planned.input_stride * of_box as i64,
                output_stride: planned.output_stride * of_box as i64,
            };
        }
        let mut n_steps = MOST_CUTS;
        for (planned, _) in self.axes.iter().zip(&form.lengths).filter(|(_, length)| **length == 1) {
            steps[n_steps] = Axis {
                length: Divisor::new(planned.length as u32),
                input_stride: planned.input_stride,
                output_stride: planned.output_stride,
            };
            n_steps += 1;
        }
        let n_boxes: u64 = steps.iter().map(|step| u64::from(step.length.get())).product();
        let n_boxes = n_boxes as u32;
        let n_blocks = n_boxes.div_ceil(BOXES_OF_BLOCK).max(n_boxes.min(ENOUGH_BLOCKS));
        let parameters = Boxes {
            input,
            output,
            input_origin: self.input_origin,
            output_origin: self.output_origin,
            reading: sides(&mut form.reading.iter().map(|(axis, _)| *axis), |axis| axis.input_stride),
            writing: sides(
                &mut (0..self.axes.len()).filter(|&axis| form.lengths[axis] > 1),
                |axis| axis.output_stride,
            ),
            cuts: of_cuts,
            steps,
            n_steps: n_steps as u32,
            n_units: form.lengths.iter().product::<u64>() as u32,
            n_boxes,
            n_blocks,
            n_shared: form.n_shared as u32,
        };
        let launch = Launch {
            grid: [n_blocks, 1, 1],
            threads: THREADS,
            shared_bytes: shared_bytes::<U>(parameters.n_shared),
        };
        (parameters, launch)
    }
}

impl Form {
    /// Units of shared memory from position to position: one after the other in the input's order, with gaps so that
    /// neighbours of the output are in different ones of so many banks.
    ///
    /// Where the output's fastest axis is short, of length l, positions of its next axis fill a row of ⌈banks / l⌉ banks, and
    /// those of the fastest begin a row each; where it is long, its positions are an odd number apart. Short gaps have to do
    /// where positions are close together.
    fn set_pitches(&mut self, of_input: &[usize], banks: u64) {
        let mut of_output = of_input.to_vec();
        of_output.sort_unstable();
        let shortest = of_output.first().map_or(1, |&axis| self.lengths[axis]);
        let is_short = shortest < banks;
        let mut next = 1;
        for &axis in of_input {
            let wanted = match of_output.iter().position(|&other| other == axis) {
                Some(0) if is_short => Some(banks.div_ceil(shortest)),
                Some(1) if is_short => Some(1),
                Some(0) => Some(1),
                _ => None,
            };
            let pitch = match wanted {
                Some(residue) if next >= 2 * banks => next + (residue + banks - next % banks) % banks,
                Some(_) => next | 1,
                None => next,
            };
            self.reading.push((axis, pitch));
            next = pitch * self.lengths[axis];
        }
        self.n_shared = next;
    }
}
