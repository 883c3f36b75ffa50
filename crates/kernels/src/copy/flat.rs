//! Units in an order of positions, each from its place in the input to its place in the output.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads; the n-th unit of a thread is [`THREADS`] behind its one before |
//! | grid | x: a block for [`units_of_block`] units |
//! | shared memory | none |
//! | result | every position's place in the output is written once |
//!
//! Along one axis positions may be looked up, in the input (rows from given places) or in the output (to given places).
//! All loads of a thread are under way before its first store. Units may be of another type in the output.

use super::axes::{Axis, MOST_AXES};
use super::convert::Convert;
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// In place of an axis: none is looked up.
pub const NO_AXIS: u32 = u32::MAX;

/// The kernel's parameters; strides and origins in units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Flat<I, O = I> {
    /// The memory to read.
    pub input: Global<I>,
    /// The memory to write.
    pub output: GlobalMut<O>,
    /// Where along the axis `looked_up` a position lies in the input; empty where it is the position itself.
    pub sources: Global<i32>,
    /// The same for the output.
    pub targets: Global<i32>,
    /// Where in `input` position 0 of all axes is.
    pub input_origin: i64,
    /// Where in `output` position 0 of all axes is.
    pub output_origin: i64,
    /// Units of the launch, the product of the axes' lengths.
    pub n_units: u32,
    /// How many of the axes there are; the others are [`Axis::NONE`].
    pub n_axes: u32,
    /// The axis whose positions are looked up, or [`NO_AXIS`].
    pub looked_up: u32,
    /// What is added to a position before it is looked up.
    pub first: u32,
    /// Whether positions are looked up in `sources`, not 0, or 0.
    pub has_sources: u32,
    /// Whether positions are looked up in `targets`, not 0, or 0.
    pub has_targets: u32,
    /// The axes, fastest first.
    pub axes: [Axis; MOST_AXES],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<I: Element, O: Element> Parameters for Flat<I, O> {}

/// Replaces positions by those that stand in `places`, unless `has` is 0.
///
/// # Safety
///
/// `places` has one for every position, `first` added.
#[inline(always)]
unsafe fn look_up<const UNITS: usize>(places: Global<i32>, has: u32, first: u32, positions: &mut [u32; UNITS]) {
    if has != 0 {
        cuda_std::unroll!(UNIT in [0, 1, 2, 3, 4, 5, 6, 7] {
            if UNIT < UNITS {
                let place = u64::from(first) + u64::from(positions[UNIT % UNITS]);
                // SAFETY: the caller's promise; places are not negative.
                positions[UNIT % UNITS] = unsafe { places.load(place) }.cast_unsigned();
            }
        });
    }
}

/// Where in the input and the output positions lie, of the axes from the `FIRST` on.
///
/// # Safety
///
/// `rest` numbers positions; what is looked up has a place for each.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a position")]
pub(super) unsafe fn places<I, O, const UNITS: usize, const FIRST: usize>(
    p: &Flat<I, O>,
    mut rest: [u32; UNITS],
) -> ([i64; UNITS], [i64; UNITS]) {
    let mut from = [p.input_origin; UNITS];
    let mut to = [p.output_origin; UNITS];
    cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6, 7, 8] {
        if AXIS + 1 > FIRST && (AXIS as u32) < p.n_axes {
            let axis = p.axes[AXIS];
            let mut positions = rest;
            if (AXIS as u32) + 1 < p.n_axes {
                cuda_std::unroll!(UNIT in [0, 1, 2, 3, 4, 5, 6, 7] {
                    (rest[UNIT % UNITS], positions[UNIT % UNITS]) = if UNIT < UNITS {
                        axis.length.divide(rest[UNIT % UNITS])
                    } else {
                        (rest[UNIT % UNITS], positions[UNIT % UNITS])
                    };
                });
            }
            let (mut sources, mut targets) = (positions, positions);
            if AXIS as u32 == p.looked_up {
                // SAFETY: positions along the axis.
                unsafe { look_up(p.sources, p.has_sources, p.first, &mut sources) };
                // SAFETY: as above.
                unsafe { look_up(p.targets, p.has_targets, p.first, &mut targets) };
            }
            cuda_std::unroll!(UNIT in [0, 1, 2, 3, 4, 5, 6, 7] {
                if UNIT < UNITS {
                    from[UNIT % UNITS] += i64::from(sources[UNIT % UNITS]) * axis.input_stride;
                    to[UNIT % UNITS] += i64::from(targets[UNIT % UNITS]) * axis.output_stride;
                }
            });
        }
    });
    (from, to)
}

/// The kernel's body, with `UNITS` units a thread.
///
/// # Safety
///
/// The slices hold what origins, strides and lengths say, looked-up positions included; no two positions have one place in
/// the output; a block of the grid for every [`THREADS`] · `UNITS` units.
#[inline(always)]
unsafe fn flat<I: Element + Default + Convert<O>, O: Element, const UNITS: usize>(p: Flat<I, O>) {
    let first = thread::block_idx_x() * (THREADS * UNITS as u32) + thread::thread_idx_x();
    let mut rest = [0; UNITS];
    cuda_std::unroll!(UNIT in 0..UNITS {
        // What is beyond the last unit goes the last one's way, and is not stored.
        rest[UNIT] = (first + UNIT as u32 * THREADS).min(p.n_units - 1);
    });
    // SAFETY: positions of the launch.
    let (from, to) = unsafe { places::<I, O, UNITS, 0>(&p, rest) };
    let mut values = [I::default(); UNITS];
    cuda_std::unroll!(UNIT in 0..UNITS {
        // SAFETY: a unit's place in the input.
        values[UNIT] = unsafe { p.input.load(from[UNIT] as u64) };
    });
    cuda_std::unroll!(UNIT in 0..UNITS {
        if first + UNIT as u32 * THREADS < p.n_units {
            // SAFETY: a unit's place in the output, this thread's alone.
            unsafe { p.output.store(to[UNIT] as u64, values[UNIT].convert()) };
        }
    });
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $units:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Units of the size, or types, in the name.
            $name(p: Flat<$input, $output>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { flat::<$input, $output, $units>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Unit<$output> for $input {
                const UNITS: u32 = $units;

                fn flat_kernel() -> cuda_std::Kernel<Flat<Self, $output>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A unit that there is a kernel for, and what becomes of it in the output.
    pub trait Unit<O = Self>: Element {
        /// Units of a thread.
        const UNITS: u32;

        /// The kernel.
        fn flat_kernel() -> cuda_std::Kernel<Flat<Self, O>>;
    }

    /// Units of a block.
    pub const fn units_of_block<I: Unit<O>, O>() -> u32 {
        I::UNITS * THREADS
    }
}

instances! {
    copy_flat_2: u16 => u16, 8, 96;
    copy_flat_4: u32 => u32, 4, 64;
    copy_flat_8: [u32; 2] => [u32; 2], 4, 64;
    copy_flat_16: [u32; 4] => [u32; 4], 4, 64;
    convert_flat_i16_f16: i16 => F16, 8, 96;
    convert_flat_i16_f16_x2: [i16; 2] => [F16; 2], 4, 64;
    convert_flat_i16_f16_x4: [i16; 4] => [F16; 4], 4, 64;
    convert_flat_i16_f32: i16 => f32, 8, 96;
    convert_flat_i16_f32_x2: [i16; 2] => [f32; 2], 4, 64;
    convert_flat_i16_f32_x4: [i16; 4] => [f32; 4], 4, 64;
    convert_flat_f16_f32: F16 => f32, 8, 96;
    convert_flat_f16_f32_x2: [F16; 2] => [f32; 2], 4, 64;
    convert_flat_f16_f32_x4: [F16; 4] => [f32; 4], 4, 64;
    convert_flat_f32_f16: f32 => F16, 8, 96;
    convert_flat_f32_f16_x2: [f32; 2] => [F16; 2], 4, 64;
    convert_flat_f32_f16_x4: [f32; 4] => [F16; 4], 4, 64;
    convert_flat_f64_f16: f64 => F16, 4, 64;
    convert_flat_f64_f16_x2: [f64; 2] => [F16; 2], 4, 64;
    convert_flat_f64_f32: f64 => f32, 4, 64;
    convert_flat_f64_f32_x2: [f64; 2] => [f32; 2], 4, 64;
}
