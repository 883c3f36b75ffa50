//! What the delay-and-sum kernels read, as the library prepares it.

use cuda_std::emulator::Buffer;
use cuda_std::half::F16;
use cuda_std::math::Real;
use half::f16;
use integration_tests::sample::TestSample;
use kernels::das::sample::{RealOf, Sample as DeviceSample};
use kernels::das::voxel::{Instances, Taps};
use ndarray::ArrayD;
use num_complex::Complex;
use warpbeam::{DasGeometry, DasOptions, Interpolation};

/// A sample type of the library and what it is on the device.
pub(crate) trait Stored: TestSample {
    /// On the device.
    type Stored: Instances;
    /// The same bits there.
    fn stored(self) -> Self::Stored;
    /// A sum from there.
    fn image(value: ValueOf<Self>) -> Self::Sum;
    /// What outputs are full of before a launch.
    fn nan() -> ValueOf<Self>;
}

/// What a sample is summed in, on the device.
pub(crate) type ValueOf<T> = <<T as Stored>::Stored as DeviceSample>::Value;

macro_rules! stored {
    ($($host:ty => $stored:ty, $sum:ident: $convert:expr;)*) => { $(
        impl Stored for $host {
            type Stored = $stored;
            fn stored(self) -> $stored {
                let convert: fn($host) -> $stored = $convert;
                convert(self)
            }
            fn image(value: $sum) -> $sum {
                value
            }
            fn nan() -> $sum {
                $sum::NAN
            }
        }

        impl Stored for Complex<$host> {
            type Stored = Complex<$stored>;
            fn stored(self) -> Complex<$stored> {
                Complex::new(self.re.stored(), self.im.stored())
            }
            fn image(value: Complex<$sum>) -> Complex<$sum> {
                value
            }
            fn nan() -> Complex<$sum> {
                Complex::new($sum::NAN, $sum::NAN)
            }
        }
    )* };
}

stored! {
    i16 => i16, f32: |sample| sample;
    f16 => F16, f32: |sample| F16(sample.to_bits());
    f32 => f32, f32: |sample| sample;
    f64 => f64, f64: |sample| sample;
}

/// A geometry in the emulator's memory.
pub(crate) struct Inputs<R: Real> {
    pub(crate) elements: Buffer<[R; 2]>,
    pub(crate) normals: Buffer<[R; 2]>,
    pub(crate) voxels: Buffer<R>,
    pub(crate) offsets: Buffer<R>,
    pub(crate) weights: Buffer<R>,
    pub(crate) phases: Buffer<R>,
    pub(crate) n_voxels: usize,
}

impl<R: Real> Inputs<R> {
    pub(crate) fn new(geometry: &DasGeometry, options: &DasOptions) -> Self {
        let round = |value: f64| R::from_f64(value);
        let n_transmits = geometry.transmit_offsets.shape()[0];
        let elements: Vec<_> = geometry
            .element_positions
            .rows()
            .into_iter()
            .flat_map(|p| [[round(p[0]), round(p[1])], [round(p[2]), round(0.0)]])
            .collect();
        let normals: Vec<_> = (0..geometry.element_positions.nrows())
            .flat_map(|m| {
                let normal = |axis| {
                    geometry
                        .element_normals
                        .as_ref()
                        .map_or(f64::from(u8::from(axis == 2)), |normals| normals[[m, axis]])
                };
                let bound = geometry.element_cosine_bounds.as_ref().map_or(-1.0, |bounds| bounds[m]);
                [[round(normal(0)), round(normal(1))], [round(normal(2)), round(bound)]]
            })
            .collect();
        let voxels: Vec<_> = (0..3)
            .flat_map(|axis| geometry.voxel_positions.iter().skip(axis).step_by(3).map(|&p| round(p)))
            .collect();
        let per_voxel = |array: &ArrayD<f64>| Buffer::new(&array.iter().map(|&value| round(value)).collect::<Vec<_>>());
        let phases: Vec<_> = (0..n_transmits)
            .map(|q| options.phase_offsets.get(q).copied().unwrap_or(0.0) / std::f64::consts::TAU)
            .map(|turns| round(turns - turns.round()))
            .collect();
        Self {
            elements: Buffer::new(&elements),
            normals: Buffer::new(&normals),
            voxels: Buffer::new(&voxels),
            offsets: per_voxel(&geometry.transmit_offsets),
            weights: per_voxel(&geometry.transmit_weights),
            phases: Buffer::new(&phases),
            n_voxels: geometry.voxel_positions.len() / 3,
        }
    }
}

/// The precision of a sample type's geometry.
pub(crate) type PrecisionOf<T> = RealOf<<T as Stored>::Stored>;

/// Samples that an interpolation takes.
pub(crate) fn taps(interpolation: Interpolation) -> Taps {
    match interpolation {
        Interpolation::Linear => Taps::Two,
        Interpolation::Nearest => Taps::One,
    }
}
