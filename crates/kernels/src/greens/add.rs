//! The parts of a sum, added in their order.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, a number each |
//! | grid | x: numbers |
//! | shared memory, barriers | none |

use super::THREADS;
use cuda_std::{Global, GlobalMut, Parameters, Resources, thread};
use num_complex::Complex;

/// The parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GreensAdd {
    /// `(part, number)`.
    pub parts: Global<Complex<f32>>,
    /// Where their sums go.
    pub output: GlobalMut<Complex<f32>>,
    /// The first of them there.
    pub first: u64,
    /// Numbers.
    pub n_numbers: u64,
    /// Parts.
    pub n_parts: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for GreensAdd {}

cuda_std::kernels! {
    /// Adds parts.
    greens_add(p: GreensAdd),
    threads THREADS, blocks 1,
    resources Resources { registers: 40, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        let at = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
        if at < p.n_numbers {
            // SAFETY: part and number are in range, and the number is this thread's own.
            unsafe {
                let mut sum = p.parts.load(at);
                let mut part = 1;
                while part < p.n_parts {
                    let next = p.parts.load(u64::from(part) * p.n_numbers + at);
                    sum = Complex::new(sum.re + next.re, sum.im + next.im);
                    part += 1;
                }
                p.output.store(p.first + at, sum);
            }
        }
    }
}
