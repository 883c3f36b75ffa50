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

    /// The nearest half, ties to even; overflow is infinite.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Self {
        Self(crate::backend::f32_to_f16(value))
    }
}
