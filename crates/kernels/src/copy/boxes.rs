//! Units of arrays with short axes, box by box through shared memory.
//!
//! A box has a few positions along each of some axes: the fastest of the input until there are neighbours enough, and the
//! fastest of the output. Boxes are alike, so a thread finds its units' offsets once, and for each box adds where it begins.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads; up to 6 units of a box each, 4 of 8 bytes |
//! | grid | x: a block for each of `n_blocks`, box after box that many apart |
//! | shared memory | [`shared_bytes`]: a box |
//! | barriers | two a box: before the shared memory is written anew, and behind that |
//! | result | every position's place in the output is written once |
//!
//! A box's units are asked for before those of the box before are written. In shared memory they lie in the input's order;
//! what lies between the rows there is the launching side's choice, so that lanes meet different banks both ways.

use super::axes::{Axis, Divisor, MOST_AXES};
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, Shared, thread};

/// Threads of a block.
pub const THREADS: u32 = 512;

/// Units of a thread at most, of so many bytes: more do not fit into 64 registers.
const fn units(unit_bytes: usize) -> usize {
    if unit_bytes < 8 { 6 } else { 4 }
}

/// Units of a box at most.
pub const fn most_units(unit_bytes: usize) -> u32 {
    THREADS * units(unit_bytes) as u32
}

/// Axes of a box at most.
pub const MOST_SIDES: usize = 4;

/// Axes that a box has a part of, not all positions.
pub const MOST_CUTS: usize = 2;

/// An axis of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Positions of a box along it.
    pub length: Divisor,
    /// Units from one position to the next in memory.
    pub stride: i32,
    /// The same in the box.
    pub pitch: u32,
    /// Which of the cut axes it is, or [`MOST_CUTS`].
    pub cut: u32,
}

impl Side {
    /// An axis that a box does not have.
    pub const NONE: Self = Self {
        length: Divisor::new(1),
        stride: 0,
        pitch: 0,
        cut: MOST_CUTS as u32,
    };
}

/// An axis of which a box has a part.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Positions along it in all.
    pub length: u32,
    /// Positions of a box.
    pub of_box: u32,
}

/// The kernel's parameters; strides and origins in units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Boxes<U> {
    /// The memory to read.
    pub input: Global<U>,
    /// The memory to write.
    pub output: GlobalMut<U>,
    /// Where in `input` position 0 of all axes is.
    pub input_origin: i64,
    /// Where in `output` position 0 of all axes is.
    pub output_origin: i64,
    /// The axes of a box in the input's order, with the input's strides; the last ones are [`Side::NONE`].
    pub reading: [Side; MOST_SIDES],
    /// The same axes in the output's order, with the output's strides.
    pub writing: [Side; MOST_SIDES],
    /// The cut axes, whose boxes are the first of `steps`; where there are fewer, lengths of 1.
    pub cuts: [Cut; MOST_CUTS],
    /// From box to box: along the cut axes, then along the axes of which a box has one position.
    pub steps: [Axis; MOST_AXES],
    /// How many of the steps there are; the others are [`Axis::NONE`].
    pub n_steps: u32,
    /// Units of a box.
    pub n_units: u32,
    /// Boxes.
    pub n_boxes: u32,
    /// Blocks.
    pub n_blocks: u32,
    /// Units of shared memory.
    pub n_shared: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<U: Element> Parameters for Boxes<U> {}

/// Where a box begins, and how many positions it has along the cut axes.
#[derive(Clone, Copy)]
struct Start {
    from: i64,
    to: i64,
    left: [u32; MOST_CUTS],
    is_whole: bool,
}

impl Start {
    #[inline(always)]
    #[allow(unused_assignments, reason = "after the last axis nothing is left of a number")]
    fn new<U>(p: &Boxes<U>, number: u32) -> Self {
        let mut rest = number;
        let mut start = Self {
            from: p.input_origin,
            to: p.output_origin,
            left: [0; MOST_CUTS],
            is_whole: true,
        };
        cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7, 8] {
            if (STEP as u32) < p.n_steps {
                let step = p.steps[STEP];
                let (quotient, position) = step.length.divide(rest);
                rest = quotient;
                start.from += i64::from(position) * step.input_stride;
                start.to += i64::from(position) * step.output_stride;
                if STEP < MOST_CUTS {
                    let cut = p.cuts[STEP % MOST_CUTS];
                    start.left[STEP % MOST_CUTS] = cut.length - position * cut.of_box;
                    start.is_whole &= cut.length - position * cut.of_box >= cut.of_box;
                }
            }
        });
        start
    }
}

/// Offsets of a unit in memory and in the box.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a number")]
fn place(sides: &[Side; MOST_SIDES], unit: u32) -> (i32, u32) {
    let (mut rest, mut offset, mut at) = (unit, 0, 0);
    cuda_std::unroll!(SIDE in [0, 1, 2, 3] {
        let side = sides[SIDE];
        let (quotient, position) = side.length.divide(rest);
        rest = quotient;
        offset += position.cast_signed() * side.stride;
        at += position * side.pitch;
    });
    (offset, at)
}

/// A bit for every unit of a thread whose positions are below what is left along the cut axes.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a number")]
fn units_there<const UNITS: usize>(sides: &[Side; MOST_SIDES], thread: u32, left: [u32; MOST_CUTS]) -> u32 {
    let (mut units, mut unit) = (0, 0);
    // Few boxes ask: neither positions from before nor several units at a time are worth registers, so the compiler is to
    // know nothing of them.
    while unit < UNITS as u32 {
        let (mut rest, mut is_there) = (thread::opaque(thread) + unit * THREADS, true);
        cuda_std::unroll!(SIDE in [0, 1, 2, 3] {
            let side = sides[SIDE];
            let (quotient, position) = side.length.divide(rest);
            rest = quotient;
            is_there &= side.cut != 0 || position < left[0];
            is_there &= side.cut != 1 || position < left[1];
        });
        units |= u32::from(is_there) << unit;
        unit = thread::opaque(unit + 1);
    }
    units
}

/// The kernel's body.
///
/// # Safety
///
/// The slices hold what origins, strides and lengths say; no two positions have one place in the output; offsets within a
/// box are less than 2³¹; `n_shared` units of shared memory; a grid of `n_blocks`.
#[inline(always)]
unsafe fn boxes<U: Element + Default, const UNITS: usize, const HALF_OF_UNITS: usize>(p: Boxes<U>) {
    const { assert!(UNITS == units(size_of::<U>()) && UNITS == 2 * HALF_OF_UNITS) };
    let thread = thread::thread_idx_x();
    // SAFETY: the launch gives as much.
    let memory = unsafe { Shared::<U>::new(0, p.n_shared) };
    let (mut input, mut output) = ([0; UNITS], [0; UNITS]);
    // In one word, to save registers: where in the box a unit is written, and above that where one is read.
    let mut places = [0; UNITS];
    cuda_std::unroll!(UNIT in 0..UNITS {
        // Beyond the last unit offsets are the last one's, and are not used.
        let unit = (thread + UNIT as u32 * THREADS).min(p.n_units - 1);
        let (into, out_of);
        (input[UNIT], into) = place(&p.reading, unit);
        (output[UNIT], out_of) = place(&p.writing, unit);
        places[UNIT] = into | out_of << 16;
    });
    // A bit for every unit of the thread that a whole box has.
    let mut all = 0;
    cuda_std::unroll!(UNIT in 0..UNITS {
        all |= u32::from(thread + UNIT as u32 * THREADS < p.n_units) << UNIT;
    });
    let mut values = [U::default(); UNITS];
    let mut next = thread::block_idx_x();
    // Of the box before: where it begins in the output, and which of its units there are.
    let (mut to, mut written) = (0, 0);
    loop {
        let start = Start::new(&p, next.min(p.n_boxes - 1));
        let mut read = if next < p.n_boxes { all } else { 0 };
        if !start.is_whole {
            read &= units_there::<UNITS>(&p.reading, thread, start.left);
        }
        cuda_std::unroll!(UNIT in 0..UNITS {
            if read & 1 << UNIT != 0 {
                // SAFETY: a unit of the box that is there.
                values[UNIT] = unsafe { p.input.load((start.from + i64::from(input[UNIT])) as u64) };
            }
        });
        if written != 0 {
            // Half by half: all at once there are not registers enough.
            cuda_std::unroll!(HALF in [0, 1] {
                let mut units = [U::default(); HALF_OF_UNITS];
                cuda_std::unroll!(UNIT in 0..HALF_OF_UNITS {
                    // What is taken out of a word anew for each box takes no registers in between.
                    let place = thread::opaque(places[HALF_OF_UNITS * HALF + UNIT]) >> 16;
                    // SAFETY: a place of the box, which is behind the barrier.
                    units[UNIT] = unsafe { memory.load(place) };
                });
                cuda_std::unroll!(UNIT in 0..HALF_OF_UNITS {
                    if written & 1 << (HALF_OF_UNITS * HALF + UNIT) != 0 {
                        let to = to + i64::from(output[HALF_OF_UNITS * HALF + UNIT]);
                        // SAFETY: a unit of the box before that is there, this thread's alone in the output.
                        unsafe { p.output.store(to as u64, units[UNIT]) };
                    }
                });
            });
        }
        if next >= p.n_boxes {
            return;
        }
        // SAFETY: all threads of the block have the same boxes.
        unsafe { thread::sync_threads() };
        cuda_std::unroll!(UNIT in 0..UNITS {
            if all & 1 << UNIT != 0 {
                // SAFETY: a place of the box that is this thread's.
                unsafe { memory.store(thread::opaque(places[UNIT]) & 0xffff, values[UNIT]) };
            }
        });
        // SAFETY: as above.
        unsafe { thread::sync_threads() };
        (to, written) = (start.to, all);
        if !start.is_whole {
            written &= units_there::<UNITS>(&p.writing, thread, start.left);
        }
        next += p.n_blocks;
    }
}

macro_rules! instances {
    ($($name:ident: $unit:ty, $units:literal, $half_of_units:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Units of the size in the name.
            $name(p: Boxes<$unit>),
            threads THREADS, blocks 2,
            resources Resources { registers: $registers, barriers: 2, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { boxes::<$unit, $units, $half_of_units>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Unit for $unit {
                fn boxes_kernel() -> cuda_std::Kernel<Boxes<Self>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A unit that there is a kernel for.
    pub trait Unit: Element {
        /// The kernel.
        fn boxes_kernel() -> cuda_std::Kernel<Boxes<Self>>;
    }

    /// Bytes of shared memory.
    pub const fn shared_bytes<U>(n_shared: u32) -> u32 {
        n_shared * size_of::<U>() as u32
    }
}

instances! {
    copy_boxes_2: u16, 6, 3, 64;
    copy_boxes_4: u32, 6, 3, 64;
    copy_boxes_8: [u32; 2], 4, 2, 64;
}
