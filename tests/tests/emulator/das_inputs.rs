//! What the delay-and-sum kernels read, as the library prepares it.

use cuda_std::Global;
use cuda_std::emulator::Buffer;
use cuda_std::half::F16;
use cuda_std::math::Real;
use half::f16;
use integration_tests::sample::TestSample;
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use kernels::das::sample::{RealOf, Sample as DeviceSample, Value};
use kernels::das::voxel::{Instances, Taps};
use ndarray::ArrayD;
use num_complex::Complex;
use warpbeam::{DasGeometry, DasOptions, Interpolation, SumOver, Window};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

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
    pub(crate) transmits: Buffer<i32>,
    pub(crate) phases: Buffer<R>,
    pub(crate) n_voxels: usize,
    n_entries: usize,
    n_transmits: usize,
    n_channels: usize,
    is_directive: bool,
    options: DasOptions,
}

impl<R: Real> Inputs<R> {
    pub(crate) fn new(geometry: &DasGeometry, options: &DasOptions) -> Self {
        let round = |value: f64| R::from_f64(value);
        let n_channels = geometry.element_positions.nrows();
        let elements: Vec<_> = geometry
            .element_positions
            .rows()
            .into_iter()
            .enumerate()
            .flat_map(|(m, p)| {
                let weight = geometry.channel_weights.as_ref().map_or(1.0, |weights| weights[m]);
                [[round(p[0]), round(p[1])], [round(p[2]), round(weight)]]
            })
            .collect();
        let normals: Vec<_> = (0..n_channels)
            .flat_map(|m| {
                let normal = |axis| {
                    geometry
                        .element_normals
                        .as_ref()
                        .map_or(f64::from(u8::from(axis == 2)), |normals| normals[[m, axis]])
                };
                let bound = geometry.element_cosine_bounds.as_ref().map_or(-2.0, |bounds| bounds[m]);
                [[round(normal(0)), round(normal(1))], [round(normal(2)), round(bound)]]
            })
            .collect();
        let voxels: Vec<_> = (0..3)
            .flat_map(|axis| geometry.voxel_positions.iter().skip(axis).step_by(3).map(|&p| round(p)))
            .collect();
        let per_voxel = |array: &ArrayD<f64>| Buffer::new(&array.iter().map(|&value| round(value)).collect::<Vec<_>>());
        let phases: Vec<_> = (0..geometry.n_transmits())
            .map(|q| options.phase_offsets.get(q).copied().unwrap_or(0.0) / std::f64::consts::TAU)
            .map(|turns| round(turns - turns.round()))
            .collect();
        let n_voxels = geometry.voxel_positions.len() / 3;
        let mut transmits: Vec<i32> = geometry
            .transmit_lists
            .as_ref()
            .map_or_else(Vec::new, |lists| lists.indices.iter().copied().collect());
        for at in n_voxels..transmits.len() {
            if transmits[at - n_voxels] == -1 {
                transmits[at] = -1;
            }
        }
        Self {
            elements: Buffer::new(&elements),
            normals: Buffer::new(&normals),
            voxels: Buffer::new(&voxels),
            offsets: per_voxel(&geometry.transmit_offsets),
            weights: per_voxel(&geometry.transmit_weights),
            transmits: Buffer::new(&transmits),
            phases: Buffer::new(&phases),
            n_voxels,
            n_entries: geometry.transmit_offsets.shape()[0],
            n_transmits: geometry.n_transmits(),
            n_channels,
            is_directive: options.f_number > 0.0
                || options.directivity_exponent > 0.0
                || geometry.element_cosine_bounds.is_some(),
            options: options.clone(),
        }
    }

    /// What a kernel gets of it, for recordings of `n_samples` samples.
    pub(crate) fn block(&self, n_samples: usize) -> Geometry<R> {
        let options = &self.options;
        Geometry {
            elements: self.elements.global(),
            normals: self.normals.global(),
            voxels: self.voxels.global(),
            offsets: self.offsets.global(),
            weights: self.weights.global(),
            transmits: self.transmits.global(),
            phases: self.phases.global(),
            order: Global::empty(),
            voxel_pitch: self.n_voxels as u64,
            first_voxel: 0,
            n_voxels: self.n_voxels as u64,
            aperture: Aperture::new(options.f_number, options.window, options.directivity_exponent),
            turns: TurnsPerSample::from_radians(options.phase_per_sample),
            interpolation: options.interpolation,
            n_samples: n_samples as i32,
            n_channels: self.n_channels as u32,
            n_transmits: self.n_transmits as u32,
            n_entries: self.n_entries as u32,
            is_directive: u32::from(self.is_directive),
            is_sparse: u32::from(self.options_are_sparse()),
            is_ordered: 0,
        }
    }

    fn options_are_sparse(&self) -> bool {
        !self.transmits.to_vec().is_empty()
    }

    /// Channels and transmits of a part of the sum.
    fn part(&self) -> (usize, usize) {
        match self.options.sum_over {
            SumOver::ChannelsAndTransmits => (self.n_channels, self.n_transmits),
            SumOver::Channels => (self.n_channels, 1),
            SumOver::Transmits => (1, self.n_transmits),
            SumOver::Neither => (1, 1),
        }
    }

    /// Parts of the sum.
    pub(crate) fn n_parts(&self) -> usize {
        let (channels, transmits) = self.part();
        (self.n_channels / channels) * (self.n_transmits / transmits)
    }

    /// The block of an output `(batch, part, voxel)` in `buffer`.
    pub(crate) fn output<V: Value>(&self, buffer: &Buffer<V>) -> Output<V> {
        let (channels, transmits) = self.part();
        Output {
            n_parts: self.n_parts() as u32,
            n_transmit_parts: (self.n_transmits / transmits) as u32,
            transmits_per_part: transmits as u32,
            channels_per_part: channels as u32,
            ..Output::whole(
                buffer.global_mut(),
                self.n_voxels as u64,
                self.n_transmits as u32,
                self.n_channels as u32,
            )
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
        _ => Taps::Any,
    }
}

/// The options of a case that tries everything a kernel has, one interpolation after the other.
pub(crate) fn options_with_everything(interpolation: Interpolation, is_complex: bool) -> DasOptions {
    DasOptions {
        interpolation,
        phase_per_sample: if is_complex { -0.9 } else { 0.0 },
        phase_offsets: if is_complex { vec![300.0, -2.0] } else { Vec::new() },
        f_number: 0.7,
        window: Window::Tukey { taper: 0.25 },
        directivity_exponent: 1.3,
        ..DasOptions::default()
    }
}

/// Every interpolation.
pub(crate) const INTERPOLATIONS: [Interpolation; 5] = [
    Interpolation::Nearest,
    Interpolation::Linear,
    Interpolation::Quadratic,
    Interpolation::Cubic,
    Interpolation::Lanczos3,
];

/// Every way to keep parts apart.
pub(crate) const SUMS: [SumOver; 4] = [
    SumOver::ChannelsAndTransmits,
    SumOver::Channels,
    SumOver::Transmits,
    SumOver::Neither,
];
