//! Rows whose ends lie anywhere, in vectors of [`VECTOR_BYTES`] on both sides.
//!
//! A thread's piece of work is one aligned vector of the output, of which a row covers all or a part. It reads the two aligned
//! vectors of the input that hold it and shifts one out of them. So the position of a row is found once for a vector, not for
//! every unit of it, and neither side touches part of a sector but at a row's ends: these are stored unit by unit.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads; the second vector of a thread is [`THREADS`] behind its first |
//! | grid | x: a block for [`VECTORS`] · [`THREADS`] vectors |
//! | shared memory | none |
//! | result | every position's place in the output is written once |
//!
//! Along one axis of rows positions may be looked up, as in [`super::flat`]. Units of the input around a row may be read,
//! never beyond its slice.

use super::axes::Divisor;
use super::flat::{Flat, places};
use cuda_std::{Element, Parameters, Resources, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Vectors of a thread.
pub const VECTORS: usize = 2;

/// Bytes of a vector.
pub const VECTOR_BYTES: usize = 16;

/// A vector, as words.
type Vector = [u32; 4];

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shifted<U> {
    /// What is moved; the first axis is that along rows, dense on both sides, and the output begins with a vector.
    pub flat: Flat<U>,
    /// Vectors of the output that a row touches at most.
    pub vectors_of_row: Divisor,
    /// As many for every row.
    pub n_vectors: u32,
    /// Units of the input before its first aligned vector.
    pub lead: u32,
    /// Complete vectors of the input from there on.
    pub n_input_vectors: i64,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<U: Element> Parameters for Shifted<U> {}

/// A unit of which several make a vector.
pub trait Part: Element {
    /// How many do.
    const COUNT: u32 = (VECTOR_BYTES / size_of::<Self>()) as u32;

    /// The unit `NUMBER` of a vector.
    fn of<const NUMBER: usize>(vector: Vector) -> Self;
}

impl Part for u16 {
    #[inline(always)]
    fn of<const NUMBER: usize>(vector: Vector) -> Self {
        (vector[NUMBER / 2 % 4] >> (16 * (NUMBER % 2))) as u16
    }
}

impl Part for u32 {
    #[inline(always)]
    fn of<const NUMBER: usize>(vector: Vector) -> Self {
        vector[NUMBER % 4]
    }
}

impl Part for [u32; 2] {
    #[inline(always)]
    fn of<const NUMBER: usize>(vector: Vector) -> Self {
        [vector[2 * NUMBER % 4], vector[(2 * NUMBER + 1) % 4]]
    }
}

/// The vector that begins `bytes` behind the first of two, an even number below [`VECTOR_BYTES`].
#[inline(always)]
fn shifted(low: Vector, high: Vector, bytes: u32) -> Vector {
    let select = |condition: bool, a: u32, b: u32| if condition { a } else { b };
    let by_two = bytes & 8 != 0;
    let [a, b, c, d] = low;
    let [e, f, g, h] = high;
    let words = [
        select(by_two, c, a),
        select(by_two, d, b),
        select(by_two, e, c),
        select(by_two, f, d),
        select(by_two, g, e),
        select(by_two, h, f),
    ];
    let by_one = bytes & 4 != 0;
    let word = |number: usize| select(by_one, words[number + 1], words[number]);
    let words = [word(0), word(1), word(2), word(3), word(4)];
    let bits = (bytes & 2) * 8;
    let part = |low: u32, high: u32| ((u64::from(high) << 32 | u64::from(low)) >> bits) as u32;
    [
        part(words[0], words[1]),
        part(words[1], words[2]),
        part(words[2], words[3]),
        part(words[3], words[4]),
    ]
}

/// What a vector of the output takes from a row.
#[derive(Clone, Copy, Default)]
struct Piece {
    /// Where in the input its first unit would be.
    from: i64,
    /// Where in the output.
    to: i64,
    /// The first of its units that is the row's.
    start: u32,
    /// Behind the last one; not beyond `start` where there is none.
    end: u32,
    /// The aligned vector of the input that `from` is in.
    vector: i64,
    /// Units of that vector before `from`.
    skip: u32,
    /// Whether a unit is in that vector.
    needs_low: bool,
    /// Whether one is in the next.
    needs_high: bool,
    /// Whether all of what is needed is complete vectors of the input.
    is_inside: bool,
}

impl Piece {
    /// The `number`th vector of a row that begins at `from` and `to`.
    #[inline(always)]
    fn new<U: Part>(p: &Shifted<U>, number: u32, from: i64, to: i64, is_there: bool) -> Self {
        let mask = U::COUNT - 1;
        // Where in the row the vector begins; before it, if the row does not begin with a vector.
        let offset = (number * U::COUNT).cast_signed() - (to as u32 & mask).cast_signed();
        let length = p.flat.axes[0].length.get().cast_signed();
        let (from, to) = (from + i64::from(offset), to + i64::from(offset));
        let start = (-offset).max(0).cast_unsigned();
        let end = if is_there {
            (length - offset).clamp(0, U::COUNT.cast_signed())
        } else {
            0
        }
        .cast_unsigned();
        let in_vectors = from - i64::from(p.lead);
        let (vector, skip) = (in_vectors >> U::COUNT.ilog2(), in_vectors as u32 & mask);
        let needs_low = start < U::COUNT - skip && start < end;
        let needs_high = end > U::COUNT - skip && start < end;
        let first = vector + i64::from(!needs_low);
        let last = vector + i64::from(needs_high);
        Self {
            from,
            to,
            start,
            end,
            vector,
            skip,
            needs_low,
            needs_high,
            is_inside: first >= 0 && last < p.n_input_vectors,
        }
    }
}

/// The kernel's body.
///
/// # Safety
///
/// As for [`super::flat`]; the output is aligned to a vector, the input from unit `lead` on; a block of the grid for every
/// [`THREADS`] · [`VECTORS`] vectors.
#[inline(always)]
unsafe fn rows<U: Part>(p: Shifted<U>) {
    let first = thread::block_idx_x() * (THREADS * VECTORS as u32) + thread::thread_idx_x();
    let (mut row, mut number) = ([0; VECTORS], [0; VECTORS]);
    cuda_std::unroll!(PIECE in [0, 1] {
        // What is beyond the last vector goes the last one's way, and takes nothing.
        let vector = (first + PIECE as u32 * THREADS).min(p.n_vectors - 1);
        (row[PIECE], number[PIECE]) = p.vectors_of_row.divide(vector);
    });
    // SAFETY: rows of the launch.
    let (from, to) = unsafe { places::<U, U, VECTORS, 1>(&p.flat, row) };
    let mut pieces = [Piece::default(); VECTORS];
    cuda_std::unroll!(PIECE in [0, 1] {
        let is_there = first + PIECE as u32 * THREADS < p.n_vectors;
        pieces[PIECE] = Piece::new(&p, number[PIECE], from[PIECE], to[PIECE], is_there);
    });
    // SAFETY: the launching side's promise that this is aligned.
    let input = unsafe { p.flat.input.from(u64::from(p.lead)).cast::<Vector>() };
    // SAFETY: the same for the output.
    let output = unsafe { p.flat.output.cast::<Vector>() };
    let (mut low, mut high) = ([Vector::default(); VECTORS], [Vector::default(); VECTORS]);
    cuda_std::unroll!(PIECE in [0, 1] {
        let piece = pieces[PIECE];
        if piece.is_inside && piece.needs_low {
            // SAFETY: a complete vector of the input.
            low[PIECE] = unsafe { input.load(piece.vector as u64) };
        }
        if piece.is_inside && piece.needs_high {
            // SAFETY: as above.
            high[PIECE] = unsafe { input.load((piece.vector + 1) as u64) };
        }
    });
    cuda_std::unroll!(PIECE in [0, 1] {
        let piece = pieces[PIECE];
        let vector = shifted(low[PIECE], high[PIECE], piece.skip * size_of::<U>() as u32);
        if piece.is_inside && piece.start == 0 && piece.end == U::COUNT {
            // SAFETY: all of it is the row's, and this thread's alone.
            unsafe { output.store((piece.to >> U::COUNT.ilog2()) as u64, vector) };
        } else {
            cuda_std::unroll!(UNIT in [0, 1, 2, 3, 4, 5, 6, 7] {
                if UNIT as u32 >= piece.start && (UNIT as u32) < piece.end.min(U::COUNT) {
                    // SAFETY: a unit of the row, in the input and in the output.
                    unsafe {
                        let unit = if piece.is_inside {
                            U::of::<UNIT>(vector)
                        } else {
                            p.flat.input.load((piece.from + UNIT as i64) as u64)
                        };
                        p.flat.output.store((piece.to + UNIT as i64) as u64, unit);
                    }
                }
            });
        }
    });
}

macro_rules! instances {
    ($($name:ident: $unit:ty, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Rows of units of the size in the name.
            $name(p: Shifted<$unit>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { rows::<$unit>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Unit for $unit {
                fn shifted_kernel() -> cuda_std::Kernel<Shifted<Self>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A unit that there is a kernel for.
    pub trait Unit: Part + super::flat::Unit<Self> {
        /// The kernel.
        fn shifted_kernel() -> cuda_std::Kernel<Shifted<Self>>;
    }
}

instances! {
    copy_shifted_2: u16, 96;
    copy_shifted_4: u32, 96;
    copy_shifted_8: [u32; 2], 96;
}
