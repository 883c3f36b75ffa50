//! Matrix operations of a warp on registers, with the operands' places as the instructions define them.
//!
//! Lane l of the warp is in group g = l / 4 and has place t = l mod 4 there. Halves come in pairs, the lower index in
//! the lower half of the register.
//!
//! What the hardware promises of a product: operands are taken exactly (TF32 drops the low 13 bits of a number's
//! significand), products are exact, and they are added to the sum in single precision or better, in an order that is
//! open; of numbers in double precision products and sums are rounded to that. The emulator adds them to the sum one after the
//! other, by ascending index, each time rounded to nearest: a result may differ by a few roundings of the largest partial sum.

use crate::{Element, Shared, backend};

/// Loads `COUNT` (1, 2 or 4) 8×8 matrices of 16-bit numbers; `sm_75` and later.
///
/// Lane 8 i + r gives the element at which row r of matrix i starts; a row is 16 bytes. Register i of a lane then
/// holds the elements (g, 2 t) and (g, 2 t + 1) of matrix i. The other lanes' `row` is ignored.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, with rows that lie in the slice, start at multiples of 16 bytes, and were
/// written before the last barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn ldmatrix<T: Element, const COUNT: usize>(from: Shared<T>, row: u32) -> [u32; COUNT] {
    const { assert!(COUNT == 1 || COUNT == 2 || COUNT == 4, "1, 2 or 4 matrices") };
    // SAFETY: the caller's promise.
    unsafe { backend::ldmatrix::<T, COUNT, false>(from.address, row, from.length) }
}

/// As [`ldmatrix`], transposed: register i of a lane holds the elements (2 t, g) and (2 t + 1, g) of matrix i.
///
/// # Safety
///
/// As [`ldmatrix`].
#[inline(always)]
#[track_caller]
pub unsafe fn ldmatrix_transposed<T: Element, const COUNT: usize>(from: Shared<T>, row: u32) -> [u32; COUNT] {
    const { assert!(COUNT == 1 || COUNT == 2 || COUNT == 4, "1, 2 or 4 matrices") };
    // SAFETY: the caller's promise.
    unsafe { backend::ldmatrix::<T, COUNT, true>(from.address, row, from.length) }
}

/// `a · b + sum` for a 16×16 matrix a and a 16×8 matrix b of halves; `sm_80` and later.
///
/// | register | elements |
/// |---|---|
/// | `a[0]`, `a[1]` | (g, 2t), (g, 2t+1) and (g+8, 2t), (g+8, 2t+1) |
/// | `a[2]`, `a[3]` | (g, 2t+8), (g, 2t+9) and (g+8, 2t+8), (g+8, 2t+9) |
/// | `b[0]`, `b[1]` | (2t, g), (2t+1, g) and (2t+8, g), (2t+9, g) |
/// | `sum[0]`, `sum[1]` | (g, 2t), (g, 2t+1) |
/// | `sum[2]`, `sum[3]` | (g+8, 2t), (g+8, 2t+1) |
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn mma_m16n8k16_f16(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe { backend::mma_m16n8k16_f16(a, b, sum) }
}

/// `a · b + sum` for a 16×8 matrix a and an 8×8 matrix b in TF32; `sm_80` and later.
///
/// | register | element |
/// |---|---|
/// | `a[0]`, `a[1]` | (g, t), (g+8, t) |
/// | `a[2]`, `a[3]` | (g, t+4), (g+8, t+4) |
/// | `b[0]`, `b[1]` | (t, g), (t+4, g) |
/// | `sum` | as in [`mma_m16n8k16_f16`] |
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn mma_m16n8k8_tf32(a: [f32; 4], b: [f32; 2], sum: [f32; 4]) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe { backend::mma_m16n8k8_tf32(a, b, sum) }
}

/// `a · b + sum` for an 8×4 matrix a and a 4×8 matrix b in double precision; `sm_80` and later.
///
/// | register | element |
/// |---|---|
/// | `a` | (g, t) |
/// | `b` | (t, g) |
/// | `sum[0]`, `sum[1]` | (g, 2t), (g, 2t+1) |
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn mma_m8n8k4_f64(a: f64, b: f64, sum: [f64; 2]) -> [f64; 2] {
    // SAFETY: the caller's promise.
    unsafe { backend::mma_m8n8k4_f64(a, b, sum) }
}
