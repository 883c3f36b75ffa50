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

#[cfg(test)]
mod tests {
    use super::F16;

    #[test]
    fn pairs_transpose() {
        assert_eq!(
            F16::transpose_pairs(0x1234_5678, 0x9abc_def0),
            [0xdef0_5678, 0x9abc_1234]
        );
    }
}
