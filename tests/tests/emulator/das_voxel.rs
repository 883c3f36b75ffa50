//! The kernels that take a thread a voxel, launched as the library does, against the f64 oracle.

use crate::das_inputs::{Inputs, PrecisionOf, Stored, taps};
use cuda_std::Launch;
use cuda_std::emulator::{Buffer, Options, launch_with};
use half::f16;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::Tally;
use integration_tests::random::rng;
use integration_tests::sample::TestSample;
use kernels::das::voxel::{DasVoxel, ITEMS, Instances, THREADS, Tile};
use ndarray::{Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use warpbeam::{DasGeometry, DasOptions, Interpolation, Window};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

/// Runs a kernel over all voxels and batch items, its output full of NaN before.
pub(crate) fn run<T: Stored>(
    geometry: &DasGeometry,
    options: &DasOptions,
    data: &Array4<T>,
    tile: Tile,
    seed: u64,
) -> ArrayD<T::Sum> {
    let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
    let inputs = Inputs::<PrecisionOf<T>>::new(geometry, options);
    let n_voxels = inputs.n_voxels;
    let samples = Buffer::new(&data.iter().map(|sample| sample.stored()).collect::<Vec<_>>());
    let output = Buffer::filled(<T as Stored>::nan(), n_batch * n_voxels);
    let items = match tile {
        Tile::One => 1,
        Tile::Many => ITEMS,
    };
    let parameters = DasVoxel::<T::Stored> {
        samples: samples.global(),
        elements: inputs.elements.global(),
        normals: inputs.normals.global(),
        voxels: inputs.voxels.global(),
        offsets: inputs.offsets.global(),
        weights: inputs.weights.global(),
        phases: inputs.phases.global(),
        output: output.global_mut(),
        batch_stride: (n_channels * n_transmits * n_samples) as u64,
        transmit_stride: n_samples as u64,
        channel_stride: (n_transmits * n_samples) as u64,
        voxel_pitch: n_voxels as u64,
        first_voxel: 0,
        n_voxels: n_voxels as u64,
        aperture: Aperture::new(options.f_number, options.window, 0.0),
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
    launch_with(
        &T::Stored::kernel(taps(options.interpolation), tile),
        shape,
        parameters,
        launch_options,
    )
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
