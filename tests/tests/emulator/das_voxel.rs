//! The kernels that take a thread a voxel, launched as the library does, against the f64 oracle.

use crate::das_inputs::{INTERPOLATIONS, Inputs, PrecisionOf, SUMS, Stored, options_with_everything, taps};
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
use warpbeam::{DasGeometry, DasOptions};

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
    let output = Buffer::filled(<T as Stored>::nan(), n_batch * inputs.n_parts() * n_voxels);
    let parameters = DasVoxel::<T::Stored> {
        samples: samples.global(),
        geometry: inputs.block(n_samples),
        output: inputs.output(&output),
        batch_stride: (n_channels * n_transmits * n_samples) as u64,
        transmit_stride: n_samples as u64,
        channel_stride: (n_transmits * n_samples) as u64,
        n_batch: n_batch as u32,
        first_item: 0,
    };
    let shape = Launch {
        grid: [
            (n_voxels as u32).div_ceil(THREADS),
            (n_batch as u32).div_ceil(tile.items()),
            inputs.n_parts() as u32,
        ],
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
    ArrayD::from_shape_vec(IxDyn(&[n_batch, inputs.n_parts(), n_voxels]), sums).expect("a sum a batch item and voxel")
}

/// Every interpolation, tile and way to keep parts apart, with every option that the kernel has.
fn check<T: Stored>() {
    let mut rng = rng();
    for (index, interpolation) in INTERPOLATIONS.into_iter().enumerate() {
        for (tile, longest_list) in [
            (Tile::Items, None),
            (Tile::Item, Some(3)),
            (Tile::Transmits, None),
            (Tile::Transmits, Some(7)),
        ] {
            let case = Case {
                channels: 3,
                transmits: 2,
                // A tile of many and three items of the next one.
                batch: if tile == Tile::Items { ITEMS as usize + 3 } else { 2 },
                // A block, and threads of the next one without a voxel.
                grid: vec![THREADS as usize + 5],
                elements: Elements::Convex,
                cosine_bound: Some(0.4),
                longest_list,
                has_channel_weights: true,
                options: DasOptions {
                    sum_over: SUMS[index % SUMS.len()],
                    ..options_with_everything(interpolation, T::IS_COMPLEX)
                },
                ..Case::default()
            };
            let mut tally = Tally::default();
            let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
            let data = case.data::<T>(&mut rng);
            let image = run(&geometry, &case.options, &data, tile, rng.u64(..));
            tally.add::<T>(&image, &terms, &terms.expected(&data));
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
        run(&geometry, &case.options, &data, Tile::Items, seed)
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
