//! IEEE 754 half precision as a storage type.

/// A half-precision number, stored; arithmetic happens in [`f32`].
///
/// The same bits as `half::f16` on the host and `f16` on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

impl F16 {
    /// The value, exactly.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        crate::backend::f16_to_f32(self.0)
    }

    /// The values of the two halves in a word, the lower first, exactly.
    ///
    /// The same as by [`F16::to_f32`]; on the device without taking the word apart first.
    #[inline(always)]
    pub fn pair_to_f32(word: u32) -> [f32; 2] {
        crate::backend::f16_pair_to_f32(word)
    }

    /// The lower halves of two words as one word, and the upper halves as another.
    #[inline(always)]
    pub fn transpose_pairs(first: u32, second: u32) -> [u32; 2] {
        crate::backend::transpose_halves(first, second)
    }

    /// The nearest half, ties to even; overflow is infinite.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        Self(crate::backend::f32_to_f16(value))
    }
}

/// Two halves in a word, the lower index in the lower half: what matrix instructions take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16Pair(pub u32);

impl F16Pair {
    /// The nearest halves, the first in the lower half.
    #[inline(always)]
    pub fn from_f32(values: [f32; 2]) -> Self {
        Self(crate::backend::f32_to_f16_pair(values))
    }

    /// The products, half by half, each rounded once.
    #[inline(always)]
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        Self(crate::backend::f16_pair_multiply(self.0, other.0))
    }

    /// −0, twice.
    pub const MINUS_ZERO: Self = Self(0x8000_8000);

    /// `self · factor + summand`, half by half, each rounded once.
    #[inline(always)]
    #[must_use]
    pub fn multiply_add(self, factor: Self, summand: Self) -> Self {
        Self(crate::backend::f16_pair_multiply_add(self.0, factor.0, summand.0))
    }

    /// Both signs turned.
    #[inline(always)]
    #[must_use]
    pub fn negate(self) -> Self {
        Self(self.0 ^ 0x8000_8000)
    }

    /// The lower half, twice.
    #[inline(always)]
    #[must_use]
    pub fn low_twice(self) -> Self {
        Self(crate::backend::repeat_half::<false>(self.0))
    }

    /// The upper half, twice.
    #[inline(always)]
    #[must_use]
    pub fn high_twice(self) -> Self {
        Self(crate::backend::repeat_half::<true>(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{F16, F16Pair};

    #[test]
    fn pairs_transpose() {
        assert_eq!(
            F16::transpose_pairs(0x1234_5678, 0x9abc_def0),
            [0xdef0_5678, 0x9abc_1234]
        );
    }

    #[test]
    fn pairs_are_their_halves() {
        let halves = |pair: F16Pair| [F16(pair.0 as u16), F16((pair.0 >> 16) as u16)];
        for step in -400_i32..400 {
            let (a, b) = (step as f32 * 0.37, (step as f32 * 0.11).sin() * 3.0);
            let pair = F16Pair::from_f32([a, b]);
            let [low, high] = halves(pair);
            assert_eq!([low, high], [F16::from_f32(a), F16::from_f32(b)]);
            assert_eq!(halves(pair.low_twice()), [low, low]);
            assert_eq!(halves(pair.high_twice()), [high, high]);
            assert_eq!(halves(pair.negate()), [F16(low.0 ^ 0x8000), F16(high.0 ^ 0x8000)]);
            // Exact in single precision, so rounded once.
            let product = F16::from_f32(low.to_f32() * high.to_f32());
            assert_eq!(halves(pair.multiply(pair.low_twice()))[1], product);
            assert_eq!(pair.multiply_add(pair, F16Pair::MINUS_ZERO), pair.multiply(pair));
        }
    }
}
