//! Math and half-precision conversions on the host.

#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

#[inline(always)]
pub(crate) fn f16_pair_to_f32(word: u32) -> [f32; 2] {
    [f16_to_f32(word as u16), f16_to_f32((word >> 16) as u16)]
}

#[inline(always)]
pub(crate) fn split_halves(word: u32, upper: u32) -> [u32; 2] {
    [word & 0xffff, word >> 16].map(|half| upper << 16 | half)
}

#[inline(always)]
pub(crate) fn transpose_halves(first: u32, second: u32) -> [u32; 2] {
    [first & 0xffff | second << 16, first >> 16 | second & 0xffff_0000]
}

#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    // The device has one NaN.
    if value.is_nan() {
        0x7fff
    } else {
        half::f16::from_f32(value).to_bits()
    }
}

#[inline(always)]
pub(crate) fn f32_to_f16_pair(values: [f32; 2]) -> u32 {
    let [low, high] = values.map(|value| u32::from(f32_to_f16(value)));
    low | high << 16
}

/// A product of two halves is exact in single precision.
#[inline(always)]
pub(crate) fn f16_pair_multiply(a: u32, b: u32) -> u32 {
    let ([a_low, a_high], [b_low, b_high]) = (f16_pair_to_f32(a), f16_pair_to_f32(b));
    f32_to_f16_pair([a_low * b_low, a_high * b_high])
}

/// Rounded twice, to double precision, which holds the product exactly, and from there to half.
#[inline(always)]
pub(crate) fn f16_pair_multiply_add(a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(f16_pair_to_f32);
    let half = |index: usize| {
        let sum = f64::from(a[index]).mul_add(f64::from(b[index]), f64::from(c[index]));
        if sum.is_nan() {
            0x7fff
        } else {
            u32::from(half::f16::from_f64(sum).to_bits())
        }
    };
    half(0) | half(1) << 16
}

#[inline(always)]
pub(crate) fn repeat_half<const UPPER: bool>(word: u32) -> u32 {
    let half = if UPPER { word >> 16 } else { word & 0xffff };
    half | half << 16
}

/// A nibble's upper bit would repeat a byte's sign.
#[inline(always)]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    let byte = |place: u32| {
        let nibble = selector >> (4 * place) & 0xf;
        let byte = bytes[(nibble & 7) as usize];
        match nibble {
            0..8 => byte,
            _ if byte < 0x80 => 0,
            _ => 0xff,
        }
    };
    u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
}

#[inline(always)]
pub(crate) fn opaque(value: u32) -> u32 {
    value
}

#[inline(always)]
pub(crate) fn hat(value: f32) -> f32 {
    // The maximum of NaN and 0 is 0.
    (1.0 - value.abs()).max(0.0)
}

macro_rules! number {
    ($type:ident) => {
        pub(crate) mod $type {
            #[inline(always)]
            pub(crate) fn mul_add(a: $type, b: $type, c: $type) -> $type {
                a.mul_add(b, c)
            }

            #[inline(always)]
            pub(crate) fn sqrt(value: $type) -> $type {
                value.sqrt()
            }

            #[inline(always)]
            pub(crate) fn root_and_inverse(value: $type) -> ($type, $type) {
                let root = value.sqrt();
                (root, 1.0 / root)
            }

            #[inline(always)]
            pub(crate) fn divide(value: $type, divisor: $type) -> $type {
                value / divisor
            }

            /// Truncates, then corrects below zero: unlike `floor` and a cast that saturates, that is vector code.
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "written once for both precisions")]
            pub(crate) fn floor_i32(value: $type) -> i32 {
                const LEAST: $type = i32::MIN as $type;
                const MOST: $type = (i32::MAX - 127) as $type;
                // NaN is not above the least.
                let value = if value > LEAST { value } else { LEAST };
                let value = if value < MOST { value } else { MOST };
                // SAFETY: within the range of `i32`, both bounds being exact in either precision.
                let truncated: i32 = unsafe { value.to_int_unchecked() };
                truncated - i32::from(truncated as $type > value)
            }
        }
    };
}

number!(f32);
number!(f64);
