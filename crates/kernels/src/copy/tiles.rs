//! Units whose fastest axis is another one in the input than in the output, tile by tile through shared memory.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: [`ROWS`] positions along the input's fastest axis × [`Unit::COLUMNS`] along the output's |
//! | grid | x: tiles along the output's axis, then the input's, then the other axes' positions |
//! | shared memory | [`shared_bytes`]: the tile |
//! | barriers | one, between reading and writing |
//! | result | every position's place in the output is written once |
//!
//! A warp reads neighbours in the input and writes neighbours in the output; its lanes meet different banks both ways,
//! because a column of the tile is an odd number of words (or, of wider units, of units) long. Units may be of another type
//! in the output; the tile holds those.

use super::axes::{Axis, Divisor};
use super::convert::Convert;
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, Shared, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Positions of a tile along the input's fastest axis.
pub const ROWS: u32 = WARP;

/// Axes besides the two of a tile.
pub const MOST_OTHERS: usize = super::axes::MOST_AXES - 2;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Warps of a block.
const WARPS: u32 = THREADS / WARP;

/// Units from column to column of a tile.
const fn pitch<U>() -> u32 {
    if size_of::<U>() == 2 { ROWS + 2 } else { ROWS + 1 }
}

/// An axis of a tile.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Positions along it.
    pub length: u32,
    /// Tiles along it.
    pub tiles: Divisor,
    /// Units from one position to the next in the input.
    pub input_stride: i64,
    /// Units from one position to the next in the output.
    pub output_stride: i64,
}

/// The kernel's parameters; strides and origins in units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tiles<I, O = I> {
    /// The memory to read.
    pub input: Global<I>,
    /// The memory to write.
    pub output: GlobalMut<O>,
    /// Where in `input` position 0 of all axes is.
    pub input_origin: i64,
    /// Where in `output` position 0 of all axes is.
    pub output_origin: i64,
    /// The input's fastest axis.
    pub rows: Side,
    /// The output's fastest axis.
    pub columns: Side,
    /// How many of the other axes there are.
    pub n_others: u32,
    /// The other axes, those whose tiles follow each other first; the last ones are [`Axis::NONE`].
    pub others: [Axis; MOST_OTHERS],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<I: Element, O: Element> Parameters for Tiles<I, O> {}

/// A tile's place.
pub(super) struct Place {
    /// Tile along the input's fastest axis.
    pub(super) row: u32,
    /// Tile along the output's.
    pub(super) column: u32,
    /// Where in the input the other axes' positions begin.
    pub(super) from: i64,
    /// Where in the output.
    pub(super) to: i64,
}

/// The place of the block's tile.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a position")]
pub(super) fn place<I, O>(p: &Tiles<I, O>) -> Place {
    let (rest, column) = p.columns.tiles.divide(thread::block_idx_x());
    let (mut rest, row) = p.rows.tiles.divide(rest);
    let (mut from, mut to) = (p.input_origin, p.output_origin);
    cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6] {
        if (AXIS as u32) < p.n_others {
            let axis = p.others[AXIS];
            let (quotient, position) = axis.length.divide(rest);
            rest = quotient;
            from += i64::from(position) * axis.input_stride;
            to += i64::from(position) * axis.output_stride;
        }
    });
    Place { row, column, from, to }
}

/// The kernel's body: `LOADS` units a thread, in `STORES` groups of columns as wide as a warp.
///
/// # Safety
///
/// The slices hold what origins, strides and lengths say; no two positions have one place in the output;
/// [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn tiles<I: Element + Default + Convert<O>, O: Element, const LOADS: usize>(p: Tiles<I, O>) {
    let columns_of_tile = LOADS as u32 * WARPS;
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let place = place(&p);
    let (first_row, first_column) = (place.row * ROWS, place.column * columns_of_tile);
    // SAFETY: the launch gives as much.
    let tile = unsafe { Shared::<O>::new(0, columns_of_tile * pitch::<O>()) };
    let mut values = [I::default(); LOADS];
    let row = first_row + lane;
    let at =
        place.from + i64::from(row) * p.rows.input_stride + i64::from(first_column + warp) * p.columns.input_stride;
    let step = i64::from(WARPS) * p.columns.input_stride;
    cuda_std::unroll!(LOAD in 0..LOADS {
        let column = first_column + warp + LOAD as u32 * WARPS;
        if row < p.rows.length && column < p.columns.length {
            // SAFETY: both positions are in range.
            values[LOAD] = unsafe { p.input.load((at + LOAD as i64 * step) as u64) };
        }
    });
    cuda_std::unroll!(LOAD in 0..LOADS {
        let column = warp + LOAD as u32 * WARPS;
        // SAFETY: a place of the tile that is this thread's.
        unsafe { tile.store(column * pitch::<O>() + lane, values[LOAD].convert()) };
    });
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    let groups = columns_of_tile / WARP;
    let at = place.to
        + i64::from(first_row + warp) * p.rows.output_stride
        + i64::from(first_column + lane) * p.columns.output_stride;
    let row_step = i64::from(WARPS) * p.rows.output_stride;
    let column_step = i64::from(WARP) * p.columns.output_stride;
    cuda_std::unroll!(STORE in 0..LOADS {
        let (group, row) = (STORE as u32 % groups, warp + STORE as u32 / groups * WARPS);
        let column = lane + group * WARP;
        if first_row + row < p.rows.length && first_column + column < p.columns.length {
            let to = at + i64::from(STORE as u32 / groups) * row_step + i64::from(group) * column_step;
            // SAFETY: both positions are in range and this thread's; the tile is behind the barrier.
            unsafe { p.output.store(to as u64, tile.load(column * pitch::<O>() + row)) };
        }
    });
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $loads:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Units of the size, or types, in the name.
            $name(p: Tiles<$input, $output>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { tiles::<$input, $output, $loads>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Unit<$output> for $input {
                const COLUMNS: u32 = $loads * WARPS;

                fn tiles_kernel() -> cuda_std::Kernel<Tiles<Self, $output>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A unit that there is a kernel for, and what becomes of it in the output.
    pub trait Unit<O = Self>: super::flat::Unit<O> {
        /// Positions of a tile along the output's fastest axis.
        const COLUMNS: u32;

        /// The kernel.
        fn tiles_kernel() -> cuda_std::Kernel<Tiles<Self, O>>;
    }

    /// Bytes of shared memory.
    pub const fn shared_bytes<I: Unit<O>, O>() -> u32 {
        I::COLUMNS * pitch::<O>() * size_of::<O>() as u32
    }
}

instances! {
    copy_tiles_2: u16 => u16, 8, 48;
    copy_tiles_4: u32 => u32, 8, 48;
    copy_tiles_8: [u32; 2] => [u32; 2], 8, 56;
    copy_tiles_16: [u32; 4] => [u32; 4], 4, 56;
    convert_tiles_i16_f16: i16 => F16, 8, 48;
    convert_tiles_i16_f16_x2: [i16; 2] => [F16; 2], 8, 48;
    convert_tiles_i16_f16_x4: [i16; 4] => [F16; 4], 8, 56;
    convert_tiles_i16_f32: i16 => f32, 8, 48;
    convert_tiles_i16_f32_x2: [i16; 2] => [f32; 2], 8, 56;
    convert_tiles_i16_f32_x4: [i16; 4] => [f32; 4], 4, 56;
    convert_tiles_f16_f32: F16 => f32, 8, 48;
    convert_tiles_f16_f32_x2: [F16; 2] => [f32; 2], 8, 56;
    convert_tiles_f16_f32_x4: [F16; 4] => [f32; 4], 4, 56;
    convert_tiles_f32_f16: f32 => F16, 8, 48;
    convert_tiles_f32_f16_x2: [f32; 2] => [F16; 2], 8, 56;
    convert_tiles_f32_f16_x4: [f32; 4] => [F16; 4], 8, 72;
    convert_tiles_f64_f16: f64 => F16, 8, 56;
    convert_tiles_f64_f16_x2: [f64; 2] => [F16; 2], 4, 56;
    convert_tiles_f64_f32: f64 => f32, 8, 56;
    convert_tiles_f64_f32_x2: [f64; 2] => [f32; 2], 4, 56;
}
