//! Matrix operations on the device.
//!
//! The half-precision intrinsics of LLVM take vector types that rustc does not pass on this target, so they are inline
//! PTX here, which LLVM does not know to be convergent: kernels keep them where control flow is the same for a warp.

use crate::Element;
use core::arch::asm;

#[repr(C)]
struct Four(f32, f32, f32, f32);

#[repr(C)]
struct Two(f64, f64);

#[allow(improper_ctypes)]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.mma.m8n8k4.row.col.f64"]
    fn multiply_f64(a: f64, b: f64, c0: f64, c1: f64) -> Two;

    #[link_name = "llvm.nvvm.mma.m16n8k8.row.col.tf32"]
    fn multiply_tf32(a0: u32, a1: u32, a2: u32, a3: u32, b0: u32, b1: u32, c0: f32, c1: f32, c2: f32, c3: f32) -> Four;
}

#[inline(always)]
pub(crate) unsafe fn ldmatrix<T: Element, const COUNT: usize, const TRANSPOSED: bool>(
    base: u32,
    row: u32,
    _length: u32,
) -> [u32; COUNT] {
    let at = base + row * size_of::<T>() as u32;
    let mut out = [0_u32; 4];
    // SAFETY: the rows are in range by the caller's promise, and all lanes arrive.
    unsafe {
        macro_rules! load {
            ($form:literal, $registers:literal, $at:literal, $($register:literal)*) => {
                asm!(concat!("ldmatrix.sync.aligned.m8n8.", $form, ".shared.b16 ", $registers, ", [", $at, "];"),
                    $(out(reg32) out[$register],)* in(reg32) at, options(nostack))
            };
        }
        match (COUNT, TRANSPOSED) {
            (1, false) => load!("x1", "{{{0}}}", "{1}", 0),
            (1, true) => load!("x1.trans", "{{{0}}}", "{1}", 0),
            (2, false) => load!("x2", "{{{0}, {1}}}", "{2}", 0 1),
            (2, true) => load!("x2.trans", "{{{0}, {1}}}", "{2}", 0 1),
            (_, false) => load!("x4", "{{{0}, {1}, {2}, {3}}}", "{4}", 0 1 2 3),
            (_, true) => load!("x4.trans", "{{{0}, {1}, {2}, {3}}}", "{4}", 0 1 2 3),
        }
    }
    let mut registers = [0; COUNT];
    registers.copy_from_slice(&out[..COUNT]);
    registers
}

#[inline(always)]
pub(crate) unsafe fn mma_m16n8k16_f16(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
    let [mut d0, mut d1, mut d2, mut d3] = sum;
    // SAFETY: a pure function of the warp's registers; all lanes arrive.
    unsafe {
        asm!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \
            {{{d0}, {d1}, {d2}, {d3}}}, {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{d0}, {d1}, {d2}, {d3}}};",
            d0 = inout(reg32) d0, d1 = inout(reg32) d1, d2 = inout(reg32) d2, d3 = inout(reg32) d3,
            a0 = in(reg32) a[0], a1 = in(reg32) a[1], a2 = in(reg32) a[2], a3 = in(reg32) a[3],
            b0 = in(reg32) b[0], b1 = in(reg32) b[1], options(pure, nomem, nostack, preserves_flags));
    }
    [d0, d1, d2, d3]
}

#[inline(always)]
pub(crate) unsafe fn mma_m16n8k8_tf32(a: [f32; 4], b: [f32; 2], sum: [f32; 4]) -> [f32; 4] {
    // SAFETY: a pure function of the warp's registers; all lanes arrive.
    let Four(d0, d1, d2, d3) = unsafe {
        multiply_tf32(
            a[0].to_bits(),
            a[1].to_bits(),
            a[2].to_bits(),
            a[3].to_bits(),
            b[0].to_bits(),
            b[1].to_bits(),
            sum[0],
            sum[1],
            sum[2],
            sum[3],
        )
    };
    [d0, d1, d2, d3]
}

#[inline(always)]
pub(crate) unsafe fn mma_m8n8k4_f64(a: f64, b: f64, sum: [f64; 2]) -> [f64; 2] {
    // SAFETY: a pure function of the warp's registers; all lanes arrive.
    let Two(d0, d1) = unsafe { multiply_f64(a, b, sum[0], sum[1]) };
    [d0, d1]
}

/// From PTX 6.3 on the modifier must be there, before it must not; sm_70 gets PTX 6.0.
#[cfg(target_feature = "sm_80")]
macro_rules! sync {
    () => {
        ".sync.aligned."
    };
}
#[cfg(not(target_feature = "sm_80"))]
macro_rules! sync {
    () => {
        ".sync."
    };
}

macro_rules! load_tile {
    ($operand:literal, $layout:literal, $at:ident, $stride:ident) => {{
        let mut r = [0_u32; 8];
        asm!(concat!("wmma.load.", $operand, sync!(), $layout,
                ".m16n16k16.shared.f16 {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}}, [{8}], {9};"),
            out(reg32) r[0], out(reg32) r[1], out(reg32) r[2], out(reg32) r[3],
            out(reg32) r[4], out(reg32) r[5], out(reg32) r[6], out(reg32) r[7],
            in(reg32) $at, in(reg32) $stride, options(nostack));
        r
    }};
}

#[inline(always)]
pub(crate) unsafe fn wmma_load_left(rows: bool, base: u32, start: u32, _length: u32, stride: u32) -> [u32; 8] {
    let at = base + start * 2;
    // SAFETY: the tile is in range by the caller's promise, and all lanes arrive.
    unsafe {
        if rows {
            load_tile!("a", "row", at, stride)
        } else {
            load_tile!("a", "col", at, stride)
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn wmma_load_right(rows: bool, base: u32, start: u32, _length: u32, stride: u32) -> [u32; 8] {
    let at = base + start * 2;
    // SAFETY: the tile is in range by the caller's promise, and all lanes arrive.
    unsafe {
        if rows {
            load_tile!("b", "row", at, stride)
        } else {
            load_tile!("b", "col", at, stride)
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn wmma_multiply(
    left_rows: bool,
    right_rows: bool,
    a: [u32; 8],
    b: [u32; 8],
    mut d: [f32; 8],
) -> [f32; 8] {
    macro_rules! multiply {
        ($left:literal, $right:literal) => {
            asm!(concat!("wmma.mma", sync!(), $left, ".", $right, ".m16n16k16.f32.f32 ",
                    "{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}}, {{{8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}}}, ",
                    "{{{16}, {17}, {18}, {19}, {20}, {21}, {22}, {23}}}, ",
                    "{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};"),
                inout(reg32) d[0], inout(reg32) d[1], inout(reg32) d[2], inout(reg32) d[3],
                inout(reg32) d[4], inout(reg32) d[5], inout(reg32) d[6], inout(reg32) d[7],
                in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3],
                in(reg32) a[4], in(reg32) a[5], in(reg32) a[6], in(reg32) a[7],
                in(reg32) b[0], in(reg32) b[1], in(reg32) b[2], in(reg32) b[3],
                in(reg32) b[4], in(reg32) b[5], in(reg32) b[6], in(reg32) b[7],
                options(pure, nomem, nostack, preserves_flags))
        };
    }
    // SAFETY: a pure function of the warp's registers; all lanes arrive.
    unsafe {
        match (left_rows, right_rows) {
            (true, true) => multiply!("row", "row"),
            (true, false) => multiply!("row", "col"),
            (false, true) => multiply!("col", "row"),
            (false, false) => multiply!("col", "col"),
        }
    }
    d
}

#[inline(always)]
pub(crate) unsafe fn wmma_store(rows: bool, base: u32, start: u32, _length: u32, stride: u32, d: [f32; 8]) {
    let at = base + start * 4;
    macro_rules! store {
        ($layout:literal) => {
            asm!(concat!("wmma.store.d", sync!(), $layout,
                    ".m16n16k16.shared.f32 [{8}], {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}}, {9};"),
                in(reg32) d[0], in(reg32) d[1], in(reg32) d[2], in(reg32) d[3],
                in(reg32) d[4], in(reg32) d[5], in(reg32) d[6], in(reg32) d[7],
                in(reg32) at, in(reg32) stride, options(nostack))
        };
    }
    // SAFETY: the tile is in range by the caller's promise, and all lanes arrive.
    unsafe {
        if rows {
            store!("row");
        } else {
            store!("col");
        }
    }
}
