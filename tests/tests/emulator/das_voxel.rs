//! The kernels that take a thread a voxel, launched as the library does, against the f64 oracle.

use cuda_std::Launch;
use cuda_std::emulator::{Buffer, Options, launch_with};
use cuda_std::half::F16;
use cuda_std::math::Real;
use half::f16;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::Tally;
use integration_tests::random::rng;
use integration_tests::sample::TestSample;
use kernels::das::sample::{RealOf, Sample as DeviceSample};
use kernels::das::voxel::{DasVoxel, ITEMS, Instances, THREADS, Taps, Tile};
use ndarray::{Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use warpbeam::{DasGeometry, DasOptions, Interpolation, Window};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

/// A sample type of the library and what it is on the device.
trait Stored: TestSample {
    type Stored: Instances;
    fn stored(self) -> Self::Stored;
    fn image(value: ValueOf<Self>) -> Self::Sum;
    fn nan() -> ValueOf<Self>;
}

type ValueOf<T> = <<T as Stored>::Stored as DeviceSample>::Value;

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

/// Runs a kernel over all voxels and batch items, its output full of NaN before.
fn run<T: Stored>(
    geometry: &DasGeometry,
    options: &DasOptions,
    data: &Array4<T>,
    tile: Tile,
    seed: u64,
) -> ArrayD<T::Sum> {
    let round = |value: f64| RealOf::<T::Stored>::from_f64(value);
    let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
    let n_voxels = geometry.voxel_positions.len() / 3;
    let samples: Vec<T::Stored> = data.iter().map(|sample| sample.stored()).collect();
    let elements: Vec<_> = geometry
        .element_positions
        .rows()
        .into_iter()
        .flat_map(|p| [[round(p[0]), round(p[1])], [round(p[2]), round(0.0)]])
        .collect();
    let normals: Vec<_> = (0..n_channels)
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
    let output = Buffer::filled(<T as Stored>::nan(), n_batch * n_voxels);
    let (samples, elements, normals, voxels, phases) = (
        Buffer::new(&samples),
        Buffer::new(&elements),
        Buffer::new(&normals),
        Buffer::new(&voxels),
        Buffer::new(&phases),
    );
    let (offsets, weights) = (
        per_voxel(&geometry.transmit_offsets),
        per_voxel(&geometry.transmit_weights),
    );
    let (taps, items) = (
        match options.interpolation {
            Interpolation::Linear => Taps::Two,
            Interpolation::Nearest => Taps::One,
        },
        match tile {
            Tile::One => 1,
            Tile::Many => ITEMS,
        },
    );
    let parameters = DasVoxel::<T::Stored> {
        samples: samples.global(),
        elements: elements.global(),
        normals: normals.global(),
        voxels: voxels.global(),
        offsets: offsets.global(),
        weights: weights.global(),
        phases: phases.global(),
        output: output.global_mut(),
        batch_stride: (n_channels * n_transmits * n_samples) as u64,
        transmit_stride: n_samples as u64,
        channel_stride: (n_transmits * n_samples) as u64,
        voxel_pitch: n_voxels as u64,
        first_voxel: 0,
        n_voxels: n_voxels as u64,
        aperture: Aperture::new(options.f_number, options.window),
        turns: TurnsPerSample::from_radians(options.phase_per_sample),
        n_samples: n_samples as i32,
        n_channels: n_channels as u32,
        n_transmits: n_transmits as u32,
        n_batch: n_batch as u32,
        first_item: 0,
        is_directive: 1,
    };
    let shape = Launch {
        grid: [(n_voxels as u32).div_ceil(THREADS), (n_batch as u32).div_ceil(items), 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    let launch_options = Options {
        seed,
        ..Options::default()
    };
    launch_with(&T::Stored::kernel(taps, tile), shape, parameters, launch_options)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let sums = output.to_vec().into_iter().map(T::image).collect();
    ArrayD::from_shape_vec(IxDyn(&[n_batch, n_voxels]), sums).expect("a sum a batch item and voxel")
}

/// Both interpolations and both tiles, with every option that the kernel has.
fn check<T: Stored>() {
    let mut rng = rng();
    for interpolation in [Interpolation::Linear, Interpolation::Nearest] {
        let options = DasOptions {
            interpolation,
            phase_per_sample: if T::IS_COMPLEX { -0.9 } else { 0.0 },
            phase_offsets: if T::IS_COMPLEX { vec![300.0, -2.0] } else { Vec::new() },
            f_number: 0.7,
            window: Window::Tukey { taper: 0.25 },
            ..DasOptions::default()
        };
        let case = Case {
            channels: 6,
            transmits: 2,
            // A tile of many and three items of the next one.
            batch: ITEMS as usize + 3,
            // A block, and threads of the next one without a voxel.
            grid: vec![THREADS as usize + 5],
            elements: Elements::Convex,
            cosine_bound: Some(0.4),
            options,
            ..Case::default()
        };
        for tile in [Tile::One, Tile::Many] {
            let mut tally = Tally::default();
            let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
            let data = case.data::<T>(&mut rng);
            let image = run(&geometry, &case.options, &data, tile, rng.u64(..));
            tally.add::<T>(&image, &terms, &terms.sum(&data));
            tally.assert_within_bound::<T>(&format!("{tile:?}, {}", case.describe()), &case.options);
        }
    }
}

macro_rules! on_every_type {
    ($($name:ident: $type:ty;)*) => { $(
        #[test]
        fn $name() {
            check::<$type>();
        }
    )* };
}

on_every_type! {
    i16: i16;
    f16: f16;
    f32: f32;
    f64: f64;
    complex_i16: Complex<i16>;
    complex_f16: Complex<f16>;
    complex_f32: Complex<f32>;
    complex_f64: Complex<f64>;
}

/// The same bits, whatever the order in which lanes and warps advance.
#[test]
fn results_do_not_depend_on_the_order_of_lanes() {
    let mut rng = rng();
    let case = Case {
        grid: vec![200],
        ..Case::default()
    };
    let (geometry, _) = case.geometry(&mut rng, Complex::<f32>::PRECISION);
    let data = case.data::<Complex<f32>>(&mut rng);
    let bits = |seed| -> Vec<[u64; 2]> {
        run(&geometry, &case.options, &data, Tile::Many, seed)
            .iter()
            .map(|&sum| Complex::<f32>::sum_value(sum))
            .map(|Complex64 { re, im }| [re.to_bits(), im.to_bits()])
            .collect()
    };
    let first = bits(1);
    for seed in 2..6 {
        assert_eq!(bits(seed), first, "seed {seed}");
    }
}
