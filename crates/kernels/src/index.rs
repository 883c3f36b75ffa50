//! Indices: looking for one that is out of range, and sums of rows that share a target.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: an index each, or an element of the output each |
//! | grid | x: a block for [`THREADS`] of them |
//! | shared memory | none |
//! | result | the least bad position; or every sum once, its summands in the order of the list |

use crate::copy::axes::{Axis, MOST_AXES};
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, atomic, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// What stands in [`Check::first_bad`] before the launch, and after it where every index is good.
pub const NONE: u32 = u32::MAX;

/// The parameters of the search.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Check {
    /// The indices.
    pub indices: Global<i32>,
    /// One number, [`NONE`] before the launch: the least position of an index that is out of range.
    pub first_bad: GlobalMut<u32>,
    /// How many indices there are.
    pub n_indices: u32,
    /// What indices must be below; 2³¹ at most.
    pub below: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Check {}

/// The parameters of the sums; strides and origins in elements.
///
/// Along the axis `summed` a position is a list: its target in the output, and its sources in the input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sum<T> {
    /// The memory of the summands.
    pub input: Global<T>,
    /// The memory of what is added to.
    pub output: GlobalMut<T>,
    /// Where along the axis a list's target lies.
    pub targets: Global<i32>,
    /// Where in `sources` a list begins; one more than there are lists.
    pub starts: Global<u32>,
    /// Where along the axis summands lie, list after list.
    pub sources: Global<i32>,
    /// Where in `input` position 0 of all axes is.
    pub input_origin: i64,
    /// Where in `output` position 0 of all axes is.
    pub output_origin: i64,
    /// Elements of the launch, the product of the axes' lengths.
    pub n_elements: u32,
    /// How many of the axes there are; the others are [`Axis::NONE`].
    pub n_axes: u32,
    /// The axis of lists.
    pub summed: u32,
    /// The first list of the launch.
    pub first: u32,
    /// The axes, fastest first.
    pub axes: [Axis; MOST_AXES],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<T: Element> Parameters for Sum<T> {}

/// A number that is summed: integers wrap, halves are summed in single precision and rounded once.
pub trait Summand: Element {
    /// What it is summed as.
    type Sum: Copy;

    /// The number, exactly.
    fn widen(self) -> Self::Sum;

    /// A sum and one more.
    fn add(sum: Self::Sum, number: Self) -> Self::Sum;

    /// The sum as a number.
    fn narrow(sum: Self::Sum) -> Self;
}

macro_rules! summands {
    ($($type:ty: $sum:ty, |$number:ident| $widen:expr, |$a:ident, $b:ident| $add:expr, |$total:ident| $narrow:expr;)*) => { $(
        impl Summand for $type {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                let $number = self;
                $widen
            }

            #[inline(always)]
            fn add($a: $sum, number: Self) -> $sum {
                let $b = number.widen();
                $add
            }

            #[inline(always)]
            fn narrow($total: $sum) -> Self {
                $narrow
            }
        }
    )* };
}

summands! {
    i16: i32, |number| i32::from(number), |a, b| a.wrapping_add(b), |sum| sum as i16;
    i32: i32, |number| number, |a, b| a.wrapping_add(b), |sum| sum;
    F16: f32, |number| number.to_f32(), |a, b| a + b, |sum| F16::from_f32(sum);
    f32: f32, |number| number, |a, b| a + b, |sum| sum;
    f64: f64, |number| number, |a, b| a + b, |sum| sum;
}

/// The body of the sums.
///
/// # Safety
///
/// The slices hold what origins, strides, lengths and lists say; no two lists have one target; a block of the grid for
/// every [`THREADS`] elements.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a position")]
unsafe fn sum<T: Summand>(p: Sum<T>) {
    let element = thread::block_idx_x() * THREADS + thread::thread_idx_x();
    if element >= p.n_elements {
        return;
    }
    let (mut from, mut to) = (p.input_origin, p.output_origin);
    let (mut rest, mut list, mut stride) = (element, 0, 0);
    cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6, 7, 8] {
        if (AXIS as u32) < p.n_axes {
            let axis = p.axes[AXIS];
            let (quotient, position) = if AXIS as u32 + 1 < p.n_axes { axis.length.divide(rest) } else { (0, rest) };
            rest = quotient;
            if AXIS as u32 == p.summed {
                list = u64::from(position) + u64::from(p.first);
                stride = axis.input_stride;
                // SAFETY: a list's number.
                to += i64::from(unsafe { p.targets.load(list) }) * axis.output_stride;
            } else {
                from += i64::from(position) * axis.input_stride;
                to += i64::from(position) * axis.output_stride;
            }
        }
    });
    // SAFETY: there is one start more than lists.
    let (mut next, end) = unsafe { (p.starts.load(list), p.starts.load(list + 1)) };
    let summand = |number: u32| {
        // SAFETY: a number from the list's start to its end, and a row that it names.
        unsafe {
            let source = i64::from(p.sources.load(u64::from(number)));
            p.input.load((from + source * stride) as u64)
        }
    };
    // SAFETY: a place in the output, this thread's alone.
    let mut total = unsafe { p.output.load(to as u64) }.widen();
    // Four loads are under way at a time; the sums keep their order.
    while next + 4 <= end {
        let summands = [summand(next), summand(next + 1), summand(next + 2), summand(next + 3)];
        total = T::add(total, summands[0]);
        total = T::add(total, summands[1]);
        total = T::add(total, summands[2]);
        total = T::add(total, summands[3]);
        next += 4;
    }
    while next < end {
        total = T::add(total, summand(next));
        next += 1;
    }
    // SAFETY: as for the load.
    unsafe { p.output.store(to as u64, T::narrow(total)) };
}

macro_rules! instances {
    ($($name:ident: $type:ty;)*) => {
        cuda_std::kernels! {
            /// Looks for indices that are out of range.
            check_indices(p: Check),
            threads THREADS, blocks 1,
            resources Resources { registers: 16, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                let number = thread::block_idx_x() * THREADS + thread::thread_idx_x();
                // SAFETY: an index's number; one word that only atomic operations touch.
                unsafe {
                    if number < p.n_indices && p.indices.load(u64::from(number)).cast_unsigned() >= p.below {
                        atomic::min(p.first_bad, 0, number);
                    }
                }
            }

            $(
                /// Sums of the type in the name.
                $name(p: Sum<$type>),
                threads THREADS, blocks 1,
                resources Resources { registers: 64, barriers: 0, warp_operations: 0, matrix_operations: 0 },
                {
                    // SAFETY: the launching side's promise.
                    unsafe { sum::<$type>(p) }
                }
            )*
        }

        cuda_std::on_host! { $(
            impl Instance for $type {
                fn kernel() -> cuda_std::Kernel<Sum<Self>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A type that there is a kernel for.
    pub trait Instance: Summand {
        /// The kernel.
        fn kernel() -> cuda_std::Kernel<Sum<Self>>;
    }
}

instances! {
    scatter_add_i16: i16;
    scatter_add_i32: i32;
    scatter_add_f16: F16;
    scatter_add_f32: f32;
    scatter_add_f64: f64;
}
