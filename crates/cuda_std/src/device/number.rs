//! Fast math and half-precision conversions on the device.

#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits) as f32
}

#[inline(always)]
pub(crate) fn f16_pair_to_f32(word: u32) -> [f32; 2] {
    let (low, high): (f32, f32);
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!(
            "{{ .reg .b16 low, high; mov.b32 {{low, high}}, {2}; cvt.f32.f16 {0}, low; cvt.f32.f16 {1}, high; }}",
            out(reg32) low, out(reg32) high, in(reg32) word, options(pure, nomem, nostack, preserves_flags),
        );
    }
    [low, high]
}

/// The halves of a word, the lower first, each below the same upper half.
#[inline(always)]
pub(crate) fn split_halves(word: u32, upper: u32) -> [u32; 2] {
    let (low, high): (u32, u32);
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!(
            "prmt.b32 {0}, {2}, {3}, 0x5410; prmt.b32 {1}, {2}, {3}, 0x5432;",
            out(reg32) low, out(reg32) high, in(reg32) word, in(reg32) upper,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [low, high]
}

/// The lower halves of two words, and the upper ones.
#[inline(always)]
pub(crate) fn transpose_halves(first: u32, second: u32) -> [u32; 2] {
    let (low, high): (u32, u32);
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!(
            "prmt.b32 {0}, {2}, {3}, 0x5410; prmt.b32 {1}, {2}, {3}, 0x7632;",
            out(reg32) low, lateout(reg32) high, in(reg32) first, in(reg32) second,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [low, high]
}

#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    (value as f16).to_bits()
}

/// From `sm_80` on one instruction.
#[cfg(target_feature = "sm_80")]
macro_rules! convert_pair {
    () => {
        "cvt.rn.f16x2.f32 {0}, {1}, {2};"
    };
}
#[cfg(not(target_feature = "sm_80"))]
macro_rules! convert_pair {
    () => {
        "{{ .reg .b16 low, high; cvt.rn.f16.f32 high, {1}; cvt.rn.f16.f32 low, {2}; mov.b32 {0}, {{low, high}}; }}"
    };
}
#[inline(always)]
pub(crate) fn f32_to_f16_pair([low, high]: [f32; 2]) -> u32 {
    let word: u32;
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!(convert_pair!(), out(reg32) word, in(reg32) high, in(reg32) low,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}

#[inline(always)]
pub(crate) fn f16_pair_multiply(a: u32, b: u32) -> u32 {
    let product: u32;
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!("mul.rn.f16x2 {0}, {1}, {2};", out(reg32) product, in(reg32) a, in(reg32) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

#[inline(always)]
pub(crate) fn f16_pair_multiply_add(a: u32, b: u32, c: u32) -> u32 {
    let sum: u32;
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!("fma.rn.f16x2 {0}, {1}, {2}, {3};", out(reg32) sum, in(reg32) a, in(reg32) b, in(reg32) c,
            options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

#[inline(always)]
pub(crate) fn repeat_half<const UPPER: bool>(word: u32) -> u32 {
    let repeated: u32;
    // SAFETY: registers only.
    unsafe {
        if UPPER {
            core::arch::asm!("prmt.b32 {0}, {1}, {1}, 0x3232;", out(reg32) repeated, in(reg32) word,
                options(pure, nomem, nostack, preserves_flags));
        } else {
            core::arch::asm!("prmt.b32 {0}, {1}, {1}, 0x1010;", out(reg32) repeated, in(reg32) word,
                options(pure, nomem, nostack, preserves_flags));
        }
    }
    repeated
}

#[inline(always)]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    let word: u32;
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!("prmt.b32 {0}, {1}, {2}, {3};", out(reg32) word, in(reg32) low, in(reg32) high, in(reg32) selector,
            options(pure, nomem, nostack, preserves_flags));
    }
    word
}

/// Saturated, so that it takes one instruction; that makes NaN 0.
#[inline(always)]
pub(crate) fn hat(value: f32) -> f32 {
    let result: f32;
    // SAFETY: registers only.
    unsafe {
        core::arch::asm!(
            "{{ .reg .f32 below; abs.f32 below, {1}; neg.f32 below, below; add.sat.f32 {0}, below, 0f3F800000; }}",
            out(reg32) result, in(reg32) value, options(pure, nomem, nostack, preserves_flags),
        );
    }
    result
}

pub(crate) mod f32 {
    use core::arch::asm;
    use core::intrinsics;

    #[inline(always)]
    pub(crate) fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        intrinsics::fmaf32(a, b, c)
    }

    /// The fast reciprocal root, and one Newton step: the fast root alone is off by two units in the last place, which
    /// a delay of a thousand samples shows.
    #[inline(always)]
    pub(crate) fn sqrt(value: f32) -> f32 {
        let reciprocal: f32;
        // The least normal number keeps 0 away from the reciprocal; it changes no other root.
        let safe = if value > f32::MIN_POSITIVE {
            value
        } else {
            f32::MIN_POSITIVE
        };
        // SAFETY: a pure function of registers.
        unsafe {
            asm!("rsqrt.approx.ftz.f32 {0}, {1};", out(reg32) reciprocal, in(reg32) safe,
                options(pure, nomem, nostack, preserves_flags));
        }
        let root = value * reciprocal;
        mul_add(mul_add(-root, root, value), 0.5 * reciprocal, root)
    }

    #[inline(always)]
    pub(crate) fn root_and_inverse(value: f32) -> (f32, f32) {
        let reciprocal: f32;
        // SAFETY: a pure function of registers.
        unsafe {
            asm!("rsqrt.approx.ftz.f32 {0}, {1};", out(reg32) reciprocal, in(reg32) value,
                options(pure, nomem, nostack, preserves_flags));
        }
        let root = value * reciprocal;
        (mul_add(mul_add(-root, root, value), 0.5 * reciprocal, root), reciprocal)
    }

    #[inline(always)]
    pub(crate) fn divide(value: f32, divisor: f32) -> f32 {
        let quotient: f32;
        // SAFETY: a pure function of registers.
        unsafe {
            asm!("div.full.f32 {0}, {1}, {2};", out(reg32) quotient, in(reg32) value, in(reg32) divisor,
                options(pure, nomem, nostack, preserves_flags));
        }
        quotient
    }

    #[inline(always)]
    pub(crate) fn floor_i32(value: f32) -> i32 {
        let result: i32;
        // SAFETY: a pure function of registers; saturates.
        unsafe {
            asm!("cvt.rmi.s32.f32 {0}, {1};", out(reg32) result, in(reg32) value,
                options(pure, nomem, nostack, preserves_flags));
        }
        result
    }

    #[inline(always)]
    pub(crate) fn cos_sin(radians: f32) -> (f32, f32) {
        let (cosine, sine): (f32, f32);
        // SAFETY: a pure function of registers.
        unsafe {
            asm!("cos.approx.ftz.f32 {0}, {1};", out(reg32) cosine, in(reg32) radians,
                options(pure, nomem, nostack, preserves_flags));
            asm!("sin.approx.ftz.f32 {0}, {1};", out(reg32) sine, in(reg32) radians,
                options(pure, nomem, nostack, preserves_flags));
        }
        (cosine, sine)
    }

    #[inline(always)]
    pub(crate) fn power(base: f32, exponent: f32) -> f32 {
        let (logarithm, result): (f32, f32);
        // SAFETY: pure functions of registers.
        unsafe {
            asm!("lg2.approx.ftz.f32 {0}, {1};", out(reg32) logarithm, in(reg32) base,
                options(pure, nomem, nostack, preserves_flags));
            asm!("ex2.approx.ftz.f32 {0}, {1};", out(reg32) result, in(reg32) exponent * logarithm,
                options(pure, nomem, nostack, preserves_flags));
        }
        result
    }
}

pub(crate) mod f64 {
    use core::arch::asm;
    use core::intrinsics;

    #[inline(always)]
    pub(crate) fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        intrinsics::fmaf64(a, b, c)
    }

    #[inline(always)]
    pub(crate) fn sqrt(value: f64) -> f64 {
        intrinsics::sqrtf64(value)
    }

    #[inline(always)]
    pub(crate) fn root_and_inverse(value: f64) -> (f64, f64) {
        let root = sqrt(value);
        (root, 1.0 / root)
    }

    #[inline(always)]
    pub(crate) fn divide(value: f64, divisor: f64) -> f64 {
        value / divisor
    }

    #[inline(always)]
    pub(crate) fn floor_i32(value: f64) -> i32 {
        let result: i32;
        // SAFETY: a pure function of registers; saturates.
        unsafe {
            asm!("cvt.rmi.s32.f64 {0}, {1};", out(reg32) result, in(reg64) value,
                options(pure, nomem, nostack, preserves_flags));
        }
        result
    }
}
