//! From shapes and strides to launches: axes are joined, cut and ordered so that both sides are touched in long pieces.

mod boxes;
mod shifted;

use super::axes::{Axis, Divisor, MOST_AXES, UNITS_BELOW};
use super::flat::{Flat, NO_AXIS};
use super::pairs;
use super::shifted::VECTOR_BYTES;
use super::tiles::{MOST_OTHERS, Side, Tiles};
use crate::index::Sum;
use cuda_std::{Element, Global, GlobalMut, Launch};

/// Shortest axis that is worth a side of a tile.
const SHORTEST_SIDE: u64 = 8;

/// Units of the output's fastest axis after which the input's, a short one, has its turn.
const LONG_CUT: u64 = 256;

/// Units of the input's fastest axis after which the output's next one has its turn, where the output's fastest is short.
const SHORT_CUT: u64 = 32;

/// What is to be copied; strides and origins in elements.
#[derive(Clone, Debug)]
pub struct Arrangement {
    /// Bytes of an element: 2, 4, 8 or 16.
    pub element_bytes: usize,
    /// Bytes of an element of the output: as many, or others where it is converted.
    pub output_element_bytes: usize,
    /// Whether there is a kernel for two by two, of 2 bytes on both sides.
    pub takes_pairs: bool,
    /// Whether elements stay what they are: some kernels do nothing else.
    pub only_moves: bool,
    /// Elements of a unit at most: as many as kernels take at once.
    pub most_elements: usize,
    /// Length of every axis, none of them 0.
    pub shape: Vec<usize>,
    /// Elements from one position to the next in the input.
    pub input_strides: Vec<isize>,
    /// Elements from one position to the next in the output; the last axis is the fastest.
    pub output_strides: Vec<isize>,
    /// Address of the slice to read.
    pub input_address: usize,
    /// Address of the slice to write.
    pub output_address: usize,
    /// Where in the slice to read position 0 of all axes is.
    pub input_origin: isize,
    /// Where in the slice to write position 0 of all axes is.
    pub output_origin: isize,
    /// The axis whose positions are looked up.
    pub looked_up: Option<usize>,
}

/// An axis while it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    length: u64,
    input_stride: i64,
    output_stride: i64,
    is_looked_up: bool,
}

/// A launch: which kernels, and their parameters but for the memory.
#[derive(Clone, Debug)]
pub struct Part {
    /// Elements of a unit.
    pub elements: usize,
    way: Way,
    /// Fastest in the output first, or for tiles in the order of [`Tiles`]: rows, columns, others.
    axes: Vec<Planned>,
    input_origin: i64,
    output_origin: i64,
    /// Bytes of the slice to read before its first whole vector.
    input_lead_bytes: usize,
    /// Added to positions before they are looked up.
    first: u64,
}

/// Which kernels copy a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// [`super::flat`].
    Flat,
    /// [`super::shifted`].
    Shifted,
    /// [`super::boxes`].
    Boxes,
    /// [`super::tiles`].
    Tiles,
    /// [`super::pairs`].
    Pairs,
}

/// The launches that copy everything; none where an axis is empty.
pub fn plan(arrangement: &Arrangement) -> Vec<Part> {
    if arrangement.shape.contains(&0) {
        return Vec::new();
    }
    let whole = Part {
        elements: 1,
        way: Way::Flat,
        axes: joined(arrangement),
        input_origin: arrangement.input_origin as i64,
        output_origin: arrangement.output_origin as i64,
        input_lead_bytes: arrangement.input_address.next_multiple_of(VECTOR_BYTES) - arrangement.input_address,
        first: 0,
    };
    let mut parts = Vec::new();
    for mut piece in whole.whole_units(arrangement) {
        piece.widen(arrangement);
        for part in piece.below_the_limit() {
            part.order(arrangement, &mut parts);
        }
    }
    parts
}

/// The axes, fastest in the output first, neighbours joined where they are one on both sides.
fn joined(arrangement: &Arrangement) -> Vec<Planned> {
    let mut axes: Vec<Planned> = Vec::new();
    for axis in (0..arrangement.shape.len()).rev() {
        let next = Planned {
            length: arrangement.shape[axis] as u64,
            input_stride: arrangement.input_strides[axis] as i64,
            output_stride: arrangement.output_strides[axis] as i64,
            is_looked_up: arrangement.looked_up == Some(axis),
        };
        if next.length == 1 && !next.is_looked_up {
            continue;
        }
        if let Some(last) = axes.last_mut() {
            let continues = |stride: i64, next: i64| stride.checked_mul(last.length as i64) == Some(next);
            if !last.is_looked_up
                && !next.is_looked_up
                && continues(last.input_stride, next.input_stride)
                && continues(last.output_stride, next.output_stride)
            {
                last.length *= next.length;
                continue;
            }
        }
        axes.push(next);
    }
    axes
}

impl Part {
    /// One dense piece of any length as the whole units in it and the rest.
    fn whole_units(self, arrangement: &Arrangement) -> Vec<Self> {
        let most = arrangement.most_elements as u64;
        match self.axes[..] {
            [axis] if !axis.is_looked_up && axis.length > most && !axis.length.is_multiple_of(most) => {
                self.cut(0, axis.length / most * most).into()
            }
            _ => vec![self],
        }
    }

    /// Takes several neighbours as one unit, as many as alignment and lengths allow.
    fn widen(&mut self, arrangement: &Arrangement) {
        let Some((fastest, others)) = self.axes.split_first() else {
            return;
        };
        if fastest.input_stride != 1 || fastest.output_stride != 1 || fastest.is_looked_up {
            return;
        }
        let fits = |factor: u64| {
            let bytes = |of_element: usize| factor as usize * of_element;
            let divides = |number: i64| number.unsigned_abs().is_multiple_of(factor);
            fastest.length.is_multiple_of(factor)
                && others
                    .iter()
                    .all(|axis| divides(axis.input_stride) && divides(axis.output_stride))
                && divides(self.input_origin)
                && divides(self.output_origin)
                && arrangement.input_address.is_multiple_of(bytes(arrangement.element_bytes))
                && arrangement
                    .output_address
                    .is_multiple_of(bytes(arrangement.output_element_bytes))
        };
        let most = arrangement.most_elements as u64;
        let Some(factor) = [8, 4, 2].into_iter().find(|&factor| factor <= most && fits(factor)) else {
            return;
        };
        let signed = factor as i64;
        for axis in &mut self.axes[1..] {
            axis.input_stride /= signed;
            axis.output_stride /= signed;
        }
        self.axes[0].length /= factor;
        self.input_origin /= signed;
        self.output_origin /= signed;
        self.elements = factor as usize;
        // A fastest axis that is one unit is none.
        if self.axes.len() > 1 && self.axes[0].length == 1 {
            self.axes.remove(0);
        }
    }

    fn n_units(&self) -> u64 {
        self.axes.iter().map(|axis| axis.length).product()
    }

    /// Two parts, cut along an axis before a position.
    fn cut(&self, axis: usize, position: u64) -> [Self; 2] {
        let (mut before, mut after) = (self.clone(), self.clone());
        before.axes[axis].length = position;
        after.axes[axis].length -= position;
        if self.axes[axis].is_looked_up {
            after.first += position;
        }
        // Along an axis that is looked up, positions of the input or the output may be the axis's own.
        let Planned {
            input_stride,
            output_stride,
            is_looked_up,
            ..
        } = self.axes[axis];
        if !is_looked_up {
            after.input_origin += position as i64 * input_stride;
            after.output_origin += position as i64 * output_stride;
        }
        [before, after]
    }

    /// Parts with few enough units for a launch.
    fn below_the_limit(self) -> Vec<Self> {
        if self.n_units() < u64::from(UNITS_BELOW) {
            return vec![self];
        }
        let (longest, axis) = self
            .axes
            .iter()
            .enumerate()
            .max_by_key(|(_, axis)| axis.length)
            .expect("more than one unit has an axis");
        // Whole lines of 128 units, so that both parts begin as well as the whole does.
        let half = (axis.length / 2).next_multiple_of(if axis.length > 1 << 10 { 128 } else { 1 });
        self.cut(longest, half)
            .into_iter()
            .flat_map(Self::below_the_limit)
            .collect()
    }

    /// The input's fastest axis, if it is another one than the output's.
    fn fastest_of_input(&self) -> Option<usize> {
        let (fastest, axis) = self
            .axes
            .iter()
            .enumerate()
            .filter(|(_, axis)| !axis.is_looked_up && axis.input_stride != 0)
            .min_by_key(|(_, axis)| axis.input_stride.unsigned_abs())?;
        let of_output = self.axes.first()?;
        let is_other = fastest != 0
            && of_output.input_stride != 0
            && axis.input_stride.unsigned_abs() < of_output.input_stride.unsigned_abs();
        is_other.then_some(fastest)
    }

    /// Chooses kernels and the order of axes.
    fn order(mut self, arrangement: &Arrangement, parts: &mut Vec<Self>) {
        if self.has_long_rows(arrangement) {
            self.way = Way::Shifted;
            parts.push(self);
            return;
        }
        let Some(fastest) = self.fastest_of_input().filter(|_| arrangement.looked_up.is_none()) else {
            parts.push(self);
            return;
        };
        let lengths = [self.axes[fastest].length, self.axes[0].length];
        if lengths.iter().all(|&length| length >= SHORTEST_SIDE) {
            let rows = self.axes.remove(fastest);
            self.axes.insert(0, rows);
            self.way = if self.has_pairs(arrangement) {
                Way::Pairs
            } else {
                Way::Tiles
            };
            parts.push(self);
            return;
        }
        let unit_bytes = self.elements * arrangement.element_bytes;
        if arrangement.only_moves && unit_bytes < VECTOR_BYTES && self.form(unit_bytes).is_some() {
            self.way = Way::Boxes;
            parts.push(self);
            return;
        }
        let (cut, length) = if lengths[0] < SHORTEST_SIDE {
            (0, LONG_CUT)
        } else {
            (fastest, SHORT_CUT)
        };
        let whole = self.axes[cut].length / length * length;
        if self.axes.len() == MOST_AXES || whole <= length {
            let axis = self.axes.remove(fastest);
            self.axes.insert(1, axis);
            parts.push(self);
            return;
        }
        if whole < self.axes[cut].length {
            let [main, rest] = self.cut(cut, whole);
            main.order(arrangement, parts);
            rest.order(arrangement, parts);
            return;
        }
        let mut outer = self.axes[cut];
        outer.length /= length;
        outer.input_stride *= length as i64;
        outer.output_stride *= length as i64;
        self.axes[cut].length = length;
        let rows = self.axes.remove(fastest);
        self.axes.insert(1, rows);
        // After the output's next axis, where the output's fastest one is short.
        let place = if cut == 0 { 2 } else { 3.min(self.axes.len()) };
        self.axes.insert(place, outer);
        parts.push(self);
    }

    /// Whether tiles can take units of 2 bytes by twos; rows and columns are the first axes.
    fn has_pairs(&self, arrangement: &Arrangement) -> bool {
        let is_even = |number: i64| number % 2 == 0;
        let [rows, columns, others @ ..] = &self.axes[..] else {
            return false;
        };
        arrangement.takes_pairs
            && self.elements == 1
            && [rows.length, columns.length].iter().all(|length| length % 2 == 0)
            && rows.input_stride == 1
            && columns.output_stride == 1
            && is_even(rows.output_stride)
            && is_even(columns.input_stride)
            && others
                .iter()
                .all(|axis| is_even(axis.input_stride) && is_even(axis.output_stride))
            && is_even(self.input_origin)
            && is_even(self.output_origin)
            && arrangement.input_address.is_multiple_of(4)
            && arrangement.output_address.is_multiple_of(4)
    }

    /// Which kernels copy the part.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Parameters and shape of a flat launch; `sources` and `targets` where positions are looked up in the input or output.
    pub fn flat<I: super::flat::Unit<O>, O: Element>(
        &self,
        input: Global<I>,
        output: GlobalMut<O>,
        sources: Option<Global<i32>>,
        targets: Option<Global<i32>>,
    ) -> (Flat<I, O>, Launch) {
        let n_units = self.n_units() as u32;
        let looked_up = self.axes.iter().position(|axis| axis.is_looked_up);
        // What is not looked up along the axis begins where the part does.
        let (mut input_origin, mut output_origin) = (self.input_origin, self.output_origin);
        if let Some(axis) = looked_up {
            let first = self.first as i64;
            input_origin += sources.map_or(first * self.axes[axis].input_stride, |_| 0);
            output_origin += targets.map_or(first * self.axes[axis].output_stride, |_| 0);
        }
        let parameters = Flat {
            input,
            output,
            sources: sources.unwrap_or(Global::empty()),
            targets: targets.unwrap_or(Global::empty()),
            input_origin,
            output_origin,
            n_units,
            n_axes: self.axes.len() as u32,
            looked_up: looked_up.map_or(NO_AXIS, |axis| axis as u32),
            first: self.first as u32,
            has_sources: u32::from(sources.is_some()),
            has_targets: u32::from(targets.is_some()),
            axes: to_array(&self.axes),
        };
        (
            parameters,
            Launch {
                grid: [n_units.div_ceil(super::flat::units_of_block::<I, O>()), 1, 1],
                threads: super::flat::THREADS,
                shared_bytes: 0,
            },
        )
    }

    /// Parameters and shape of a launch of sums, along the axis that is looked up.
    pub fn sum<T: crate::index::Instance>(
        &self,
        input: Global<T>,
        output: GlobalMut<T>,
        targets: Global<i32>,
        starts: Global<u32>,
        sources: Global<i32>,
    ) -> (Sum<T>, Launch) {
        let n_elements = self.n_units() as u32;
        let summed = self.axes.iter().position(|axis| axis.is_looked_up);
        let parameters = Sum {
            input,
            output,
            targets,
            starts,
            sources,
            input_origin: self.input_origin,
            output_origin: self.output_origin,
            n_elements,
            n_axes: self.axes.len() as u32,
            summed: summed.map_or(NO_AXIS, |axis| axis as u32),
            first: self.first as u32,
            axes: to_array(&self.axes),
        };
        (
            parameters,
            Launch {
                grid: [n_elements.div_ceil(crate::index::THREADS), 1, 1],
                threads: crate::index::THREADS,
                shared_bytes: 0,
            },
        )
    }

    /// Parameters and shape of a launch of tiles.
    pub fn tiles<I: super::tiles::Unit<O>, O: Element>(
        &self,
        input: Global<I>,
        output: GlobalMut<O>,
    ) -> (Tiles<I, O>, Launch) {
        let parameters = self.in_tiles(input, output, [super::tiles::ROWS, I::COLUMNS]);
        let launch = Launch {
            grid: [self.n_tiles(&parameters), 1, 1],
            threads: super::tiles::THREADS,
            shared_bytes: super::tiles::shared_bytes::<I, O>(),
        };
        (parameters, launch)
    }

    /// Parameters and shape of a launch of tiles of pairs.
    pub fn pairs(&self, input: Global<u16>, output: GlobalMut<u16>) -> (Tiles<u16>, Launch) {
        let parameters = self.in_tiles(input, output, [pairs::SIDE; 2]);
        let launch = Launch {
            grid: [self.n_tiles(&parameters), 1, 1],
            threads: pairs::THREADS,
            shared_bytes: pairs::SHARED_BYTES,
        };
        (parameters, launch)
    }

    fn in_tiles<I, O>(&self, input: Global<I>, output: GlobalMut<O>, of_tile: [u32; 2]) -> Tiles<I, O> {
        let side = |axis: &Planned, of_tile: u32| Side {
            length: axis.length as u32,
            tiles: Divisor::new((axis.length as u32).div_ceil(of_tile)),
            input_stride: axis.input_stride,
            output_stride: axis.output_stride,
        };
        Tiles {
            input,
            output,
            input_origin: self.input_origin,
            output_origin: self.output_origin,
            rows: side(&self.axes[0], of_tile[0]),
            columns: side(&self.axes[1], of_tile[1]),
            n_others: self.axes.len() as u32 - 2,
            others: to_array::<MOST_OTHERS>(&self.axes[2..]),
        }
    }

    fn n_tiles<I, O>(&self, parameters: &Tiles<I, O>) -> u32 {
        let others: u64 = self.axes[2..].iter().map(|axis| axis.length).product();
        parameters.rows.tiles.get() * parameters.columns.tiles.get() * others as u32
    }
}

/// The axes for a kernel, what is not there filled up.
fn to_array<const COUNT: usize>(axes: &[Planned]) -> [Axis; COUNT] {
    let mut array = [Axis::NONE; COUNT];
    for (place, axis) in array.iter_mut().zip(axes) {
        *place = Axis {
            length: Divisor::new(axis.length as u32),
            input_stride: axis.input_stride,
            output_stride: axis.output_stride,
        };
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrangement(shape: &[usize], input_strides: &[isize], looked_up: Option<usize>) -> Arrangement {
        let mut output_strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            output_strides[axis - 1] = output_strides[axis] * shape[axis] as isize;
        }
        Arrangement {
            element_bytes: 4,
            output_element_bytes: 4,
            takes_pairs: false,
            only_moves: true,
            most_elements: 4,
            shape: shape.to_vec(),
            input_strides: input_strides.to_vec(),
            output_strides,
            input_address: 256,
            output_address: 256,
            input_origin: 0,
            output_origin: 0,
            looked_up,
        }
    }

    #[test]
    fn parts_stay_below_the_limit_and_cover_everything() {
        // The input repeats, so that nothing is joined or widened.
        let mut parts = plan(&arrangement(&[5, 1 << 30], &[0, 2], None));
        assert!(parts.len() > 2 && parts.iter().all(|part| part.n_units() < u64::from(UNITS_BELOW)));
        assert_eq!(parts.iter().map(Part::n_units).sum::<u64>(), 5 << 30);
        parts.sort_by_key(|part| part.output_origin);
        for pair in parts.windows(2) {
            // Parts are cut along one axis or the other: each begins where one before it does or ends.
            assert!(pair[0].output_origin < pair[1].output_origin);
            assert_eq!(pair[1].input_origin, 2 * (pair[1].output_origin % (1 << 30)));
        }
    }

    #[test]
    fn rows_that_are_looked_up_are_counted_on_from_part_to_part() {
        let mut parts = plan(&arrangement(&[1 << 21, 1 << 12], &[1 << 13, 2], Some(0)));
        parts.sort_by_key(|part| part.first);
        let mut next = 0;
        for part in &parts {
            assert!(part.n_units() < u64::from(UNITS_BELOW));
            assert_eq!((part.first, part.output_origin), (next, 0));
            next += part.n_units() >> 12;
            let empty = Global::<u32>::empty();
            let (flat, _) = part.flat(empty, GlobalMut::empty(), Some(Global::empty()), None);
            assert_eq!(u64::from(flat.first), part.first);
            assert_eq!((flat.input_origin, flat.output_origin), (0, (part.first << 12) as i64));
        }
        assert_eq!(next, 1 << 21);
    }

    #[test]
    fn neighbours_are_joined_and_taken_together() {
        let [part] = &plan(&arrangement(&[6, 5, 8], &[40, 8, 1], None))[..] else {
            panic!("one launch");
        };
        assert_eq!((part.elements, part.axes.len(), part.n_units()), (4, 1, 60));
        let [part] = &plan(&arrangement(&[6, 5, 8], &[50, 10, 1], None))[..] else {
            panic!("one launch");
        };
        assert_eq!((part.elements, part.axes.len(), part.n_units()), (2, 2, 120));
    }
}
