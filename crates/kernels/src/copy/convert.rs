//! Numbers of one type as numbers of another, on the way through a copy.

use cuda_std::half::F16;
use cuda_std::math::{Real, i16_to_f32};

/// What becomes `O` on the way.
pub trait Convert<O>: Copy {
    /// The nearest number, ties to even; what is beyond the largest one is infinite.
    fn convert(self) -> O;
}

macro_rules! conversions {
    ($($input:ty => $output:ty: $convert:expr;)*) => { $(
        impl Convert<$output> for $input {
            #[inline(always)]
            fn convert(self) -> $output {
                let convert: fn($input) -> $output = $convert;
                convert(self)
            }
        }
    )* };
}

conversions! {
    u16 => u16: |bits| bits;
    u32 => u32: |bits| bits;
    i16 => F16: |value| F16::from_f32(i16_to_f32(value));
    i16 => f32: i16_to_f32;
    F16 => f32: F16::to_f32;
    f32 => F16: F16::from_f32;
    // Rounded twice, which moves a tie by less than 2⁻¹³ of a half's last place.
    f64 => F16: |value| F16::from_f32(f32::from_f64(value));
    f64 => f32: f32::from_f64;
}

impl<I: Convert<O>, O, const COUNT: usize> Convert<[O; COUNT]> for [I; COUNT] {
    #[inline(always)]
    fn convert(self) -> [O; COUNT] {
        self.map(I::convert)
    }
}

cuda_std::on_host! {
    use super::tiles;

    /// A pair of types that there are kernels for: single numbers, two neighbours, and more where they have room in 16 bytes.
    pub trait Conversion<O>: tiles::Unit<O> {
        /// Two neighbours.
        type Two: tiles::Unit<Self::TwoOutput>;
        /// What becomes of them.
        type TwoOutput: cuda_std::Element;
        /// As many neighbours as there is a kernel for.
        type Most: tiles::Unit<Self::MostOutput>;
        /// What becomes of them.
        type MostOutput: cuda_std::Element;

        /// The kernel that turns two by two around and converts them, for numbers of 2 bytes on both sides.
        fn pairs_kernel() -> Option<cuda_std::Kernel<tiles::Tiles<u16>>>;
    }

    macro_rules! widths {
        ($($input:ty => $output:ty, $most:literal, $pairs:expr;)*) => { $(
            impl Conversion<$output> for $input {
                type Two = [$input; 2];
                type TwoOutput = [$output; 2];
                type Most = [$input; $most];
                type MostOutput = [$output; $most];

                fn pairs_kernel() -> Option<cuda_std::Kernel<tiles::Tiles<u16>>> {
                    $pairs
                }
            }
        )* };
    }

    widths! {
        i16 => F16, 4, Some(super::pairs::convert_pairs_i16_f16);
        i16 => f32, 4, None;
        F16 => f32, 4, None;
        f32 => F16, 4, None;
        f64 => F16, 2, None;
        f64 => f32, 2, None;
    }
}
