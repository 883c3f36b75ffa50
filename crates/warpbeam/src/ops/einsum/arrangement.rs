//! Letters as the axes of a launch: merged where they may be, with their strides.

use super::contraction::{Groups, Operand};
use super::products::Axes;
use crate::device::Element;
use crate::{Error, Result};
use kernels::copy::axes::{Axis, Divisor};
use kernels::product::{BatchAxis, DEPTH, Instance, MOST_AXES, Tile};

/// What counts of a launch are below.
const BELOW: usize = 1 << 31;

/// Blocks that should be there, so that every multiprocessor has work.
const ENOUGH_BLOCKS: u64 = 264;

/// Parts of a sum at most, and positions that pay for a part.
const MOST_PARTS: u64 = 256;
const LEAST_OF_PART: u64 = 512;

/// Rows and columns from which on a large tile is not mostly empty.
const LARGE_FROM: u32 = 33;

/// Strides up to which neighbours share sectors.
const NEAR: usize = 2;

/// Elements up to which it does not matter how an operand is read.
const FEW: usize = 1 << 12;

/// Letters and their lengths in an operand.
pub(super) fn lengths_of<T: Element>(operand: &Operand<'_, T>, letters: &[char]) -> Axes {
    let length = |letter: &char| operand.length(*letter).map(|length| (*letter, length));
    letters.iter().filter_map(length).collect()
}

/// A letter's stride in an operand; 0 where it has not that letter.
fn stride<T: Element>(operand: &Operand<'_, T>, letter: char) -> i64 {
    operand
        .axis(letter)
        .map_or(0, |axis| operand.view.strides()[axis] as i64)
}

/// An axis and its strides in `ARRAYS` arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strided<const ARRAYS: usize> {
    length: usize,
    strides: [i64; ARRAYS],
}

/// Axes, slowest first, as fewer axes, fastest first; without those of length 1.
fn merged<const ARRAYS: usize>(axes: impl DoubleEndedIterator<Item = Strided<ARRAYS>>) -> Vec<Strided<ARRAYS>> {
    let mut merged: Vec<Strided<ARRAYS>> = Vec::new();
    for axis in axes.rev().filter(|axis| axis.length != 1) {
        if let Some(last) = merged.last_mut() {
            let reach = last.strides.map(|stride| stride.checked_mul(last.length as i64));
            if reach == axis.strides.map(Some) {
                last.length *= axis.length;
                continue;
            }
        }
        merged.push(axis);
    }
    merged
}

impl Groups {
    /// The letters that are summed in the order of the larger operand's memory.
    pub(super) fn order_of_sum<T: Element>(&self, operands: [&Operand<'_, T>; 2]) -> Vec<char> {
        let [first, second] = operands;
        let leading = if first.view.len() < second.view.len() {
            second
        } else {
            first
        };
        let mut letters = self.contracted.clone();
        letters.sort_by_key(|letter| std::cmp::Reverse(stride(leading, *letter).unsigned_abs()));
        letters
    }
}

impl<T: Element> Operand<'_, T> {
    fn merged(&self, letters: &[char]) -> Vec<Strided<1>> {
        let axis = |letter: &char| Strided {
            length: self.length(*letter).unwrap_or(1),
            strides: [stride(self, *letter)],
        };
        merged(letters.iter().map(axis))
    }

    /// Whether a kernel can read the operand, and neighbouring lanes find what they read in the same sectors: the sum is one
    /// axis, and it or the fastest axis of rows or columns is dense.
    pub(super) fn is_readable(&self, free: &[char], contracted: &[char]) -> bool {
        let (free, contracted) = (self.merged(free), self.merged(contracted));
        let fastest = [free.first(), contracted.first()];
        let units = fastest
            .into_iter()
            .flatten()
            .map(|axis| axis.strides[0].unsigned_abs() as usize);
        contracted.len() <= 1 && (self.view.len() <= FEW || units.min().is_none_or(|unit| unit <= NEAR))
    }
}

/// What a launch is for.
#[derive(Debug)]
pub(super) struct Arrangement {
    pub(super) n_rows: u32,
    pub(super) n_columns: u32,
    pub(super) n_items: u32,
    pub(super) n_summed: u32,
    /// From one position of the sum to the next, in both operands.
    pub(super) sum_strides: [i64; 2],
    /// Strides in the first operand and the output.
    rows: Vec<Strided<2>>,
    /// Strides in the second operand and the output.
    columns: Vec<Strided<2>>,
    /// Strides in both operands and the output.
    batch: Vec<Strided<3>>,
}

impl Arrangement {
    /// Of readable operands.
    pub(super) fn new<T: Element>(
        [first, second]: [&Operand<'_, T>; 2],
        groups: &Groups,
        contracted: &[char],
        output: &Axes,
    ) -> Result<Self> {
        let length = |letter: char| first.length(letter).or_else(|| second.length(letter)).unwrap_or(1);
        let in_output = |letter: char| -> i64 {
            let behind = output.iter().rev().take_while(|axis| axis.0 != letter);
            behind.map(|axis| axis.1 as i64).product()
        };
        let with_output = |operand: &Operand<'_, T>, letters: &[char]| {
            let axis = |letter: &char| Strided {
                length: length(*letter),
                strides: [stride(operand, *letter), in_output(*letter)],
            };
            merged(letters.iter().map(axis))
        };
        let batch = merged(groups.batch.iter().map(|letter| Strided {
            length: length(*letter),
            strides: [stride(first, *letter), stride(second, *letter), in_output(*letter)],
        }));
        let summed = merged(contracted.iter().map(|letter| Strided {
            length: length(*letter),
            strides: [stride(first, *letter), stride(second, *letter)],
        }));
        let count = |letters: &[char]| -> Result<u32> {
            let count = letters
                .iter()
                .fold(1_usize, |count, letter| count.saturating_mul(length(*letter)));
            if count < BELOW {
                return Ok(count as u32);
            }
            Err(Error::OutOfRange {
                what: "the number of rows, columns, batch items or summands of a product",
                value: count as f64,
                requirement: "below 2^31 on a GPU",
            })
        };
        Ok(Self {
            n_rows: count(&groups.rows)?,
            n_columns: count(&groups.columns)?,
            n_items: count(&groups.batch)?,
            n_summed: count(contracted)?,
            sum_strides: summed.first().map_or([0, 0], |axis| axis.strides),
            rows: with_output(first, &groups.rows),
            columns: with_output(second, &groups.columns),
            batch,
        })
    }

    /// How much of the output a block takes: the large tile where it is filled and there are enough of them.
    pub(super) fn tile<I: Instance>(&self) -> Tile {
        let is_filled = self.n_rows >= LARGE_FROM && self.n_columns >= LARGE_FROM;
        if is_filled && self.blocks::<I>(Tile::Large) >= ENOUGH_BLOCKS / 4 {
            Tile::Large
        } else {
            Tile::Small
        }
    }

    fn blocks<I: Instance>(&self, tile: Tile) -> u64 {
        let [rows, columns] = I::tile(tile);
        let tiles = u64::from(self.n_rows.div_ceil(rows)) * u64::from(self.n_columns.div_ceil(columns));
        tiles.saturating_mul(u64::from(self.n_items))
    }

    /// In how many parts to sum, by a rule that knows the shape alone; halves, whose parts would be rounded, in one.
    pub(super) fn n_parts<I: Instance>(&self) -> usize {
        if !I::IS_SUM {
            return 1;
        }
        let wanted = ENOUGH_BLOCKS.div_ceil(self.blocks::<I>(self.tile::<I>()).max(1));
        let n_parts = wanted
            .min(u64::from(self.n_summed) / LEAST_OF_PART)
            .clamp(1, MOST_PARTS) as usize;
        // As many as there are of that length.
        (self.n_summed as usize)
            .div_ceil(self.n_summed_of_part(n_parts) as usize)
            .max(1)
    }

    /// Positions of a part.
    pub(super) fn n_summed_of_part(&self, n_parts: usize) -> u32 {
        self.n_summed
            .div_ceil(n_parts as u32)
            .next_multiple_of(DEPTH)
            .max(DEPTH)
    }

    /// Whether neighbouring lanes bring neighbours along the sum, of operand 0 or 1.
    pub(super) fn is_along_sum(&self, operand: usize) -> bool {
        // What is not there or repeated is no direction.
        let distance = |stride: i64| if stride == 0 { u64::MAX } else { stride.unsigned_abs() };
        let free = [&self.rows, &self.columns][operand];
        let across = free.first().map_or(u64::MAX, |axis| distance(axis.strides[0]));
        distance(self.sum_strides[operand]) < across
    }

    /// Whether columns can be written `of_vector` at a time.
    pub(super) fn is_wide(&self, of_vector: u32, part_stride: i64) -> bool {
        let [columns] = &self.columns[..] else {
            return false;
        };
        let rows = self.rows.iter().map(|axis| axis.strides[1]);
        let batch = self.batch.iter().map(|axis| axis.strides[2]);
        let mut all = rows.chain(batch).chain([part_stride, columns.length as i64]);
        columns.strides[1] == 1 && all.all(|stride| stride % i64::from(of_vector) == 0)
    }

    /// Whether the pieces of 16 bytes, `piece` elements, of which operand 0 or 1 consists for matrix instructions, run along
    /// the sum; `None` where it has no such pieces, or the product is too small. `address` is that of its first element.
    pub(super) fn are_pieces_along_sum(&self, operand: usize, address: usize, piece: u32) -> Option<bool> {
        let is_whole = |stride: i64| stride % i64::from(piece) == 0;
        let is_large = self.n_rows.min(self.n_columns) >= LARGE_FROM && self.n_summed >= piece;
        let is_aligned = address.is_multiple_of(16) && self.batch.iter().all(|axis| is_whole(axis.strides[operand]));
        if !is_large || !is_aligned {
            return None;
        }
        let (free, stride) = ([&self.rows, &self.columns][operand], self.sum_strides[operand]);
        if stride == 1 && free.iter().all(|axis| is_whole(axis.strides[0])) {
            return Some(true);
        }
        matches!(free[..], [axis] if axis.strides[0] == 1 && is_whole(stride)).then_some(false)
    }

    /// Axes of rows, columns and batch items.
    pub(super) fn n_axes(&self) -> [u32; 3] {
        [self.rows.len(), self.columns.len(), self.batch.len()].map(|count| count as u32)
    }

    pub(super) fn rows(&self) -> [Axis; MOST_AXES] {
        padded(&self.rows)
    }

    pub(super) fn columns(&self) -> [Axis; MOST_AXES] {
        padded(&self.columns)
    }

    pub(super) fn batch(&self) -> [BatchAxis; MOST_AXES] {
        let axis = |axis: &Strided<3>| BatchAxis {
            length: Divisor::new(axis.length as u32),
            strides: axis.strides,
        };
        std::array::from_fn(|number| self.batch.get(number).map_or(BatchAxis::NONE, axis))
    }
}

fn padded(axes: &[Strided<2>]) -> [Axis; MOST_AXES] {
    let axis = |axis: &Strided<2>| Axis {
        length: Divisor::new(axis.length as u32),
        input_stride: axis.strides[0],
        output_stride: axis.strides[1],
    };
    std::array::from_fn(|number| axes.get(number).map_or(Axis::NONE, axis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_follow_each_other_are_one() {
        const fn axis<const ARRAYS: usize>(length: usize, strides: [i64; ARRAYS]) -> Strided<ARRAYS> {
            Strided { length, strides }
        }
        let axes = [
            axis(2, [60, 6]),
            axis(1, [7, 7]),
            axis(3, [20, 2]),
            axis(2, [10, 1]),
            axis(5, [2, 100]),
        ];
        assert_eq!(
            merged(axes.into_iter()),
            [axis(5, [2, 100]), axis(12, [10, 1])],
            "fastest first"
        );
        let backward = [axis(2, [-12]), axis(3, [-4])];
        assert_eq!(merged(backward.into_iter()), [axis(6, [-4])]);
        let repeated = [axis(2, [0]), axis(3, [0])];
        assert_eq!(merged(repeated.into_iter()), [axis(6, [0])]);
        assert!(merged([axis(1, [5])].into_iter()).is_empty());
    }
}
