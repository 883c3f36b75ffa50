//! The kernels that share a voxel among a group of lanes, launched as the library does, against the f64 oracle and,
//! bit by bit, against a thread a voxel.

use crate::das_inputs::{INTERPOLATIONS, Inputs, PrecisionOf, SUMS, Stored, options_with_everything, taps};
use crate::das_voxel;
use crate::permute::batch_inner;
use cuda_std::Launch;
use cuda_std::emulator::{Buffer, Instruction, Options, Report, Traffic, launch_with};
use half::f16;
use integration_tests::bits::assert_same_bits;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::Tally;
use integration_tests::random::rng;
use integration_tests::sample::TestSample;
use kernels::das::batch::{DasBatch, Instances, Rows, SLACK_VECTORS, THREADS, Tile, per_vector};
use kernels::das::sample::Sample;
use kernels::das::scale::Scaling;
use kernels::das::{permute, voxel};
use ndarray::{Array1, Array2, Array4, ArrayD, IxDyn};
use num_complex::Complex;
use warpbeam::{DasGeometry, DasOptions, Interpolation, SumOver};

/// A sample type with kernels of this family.
trait Batched: Stored<Stored: Instances + permute::Instances<<Self as Stored>::Stored>> {}

impl<T: Stored<Stored: Instances + permute::Instances<T::Stored>>> Batched for T {}

/// Permutes and runs a kernel over all voxels and batch items, its output full of NaN before.
fn run<T: Batched>(
    geometry: &DasGeometry,
    options: &DasOptions,
    data: &Array4<T>,
    tile: Tile,
    seed: u64,
) -> (ArrayD<T::Sum>, Report) {
    let (n_batch, _, _, n_samples) = data.dim();
    let inputs = Inputs::<PrecisionOf<T>>::new(geometry, options);
    let n_voxels = inputs.n_voxels;
    let stored = data.map(|sample| sample.stored());
    let rows = rows(options.interpolation);
    let mut samples = batch_inner(&stored.view().into_dyn(), T::Stored::ZERO, rows, Scaling::none())
        .0
        .to_vec();
    samples.resize(
        samples.len() + SLACK_VECTORS * per_vector::<T::Stored>(),
        T::Stored::ZERO,
    );
    let samples = Buffer::new(&samples);
    let output = Buffer::filled(<T as Stored>::nan(), n_batch * inputs.n_parts() * n_voxels);
    let parameters = DasBatch::<T::Stored> {
        samples: samples.global(),
        geometry: inputs.block(n_samples),
        output: inputs.output(&output),
        rows,
        n_batch: n_batch as u32,
        n_vectors: n_batch.div_ceil(per_vector::<T::Stored>()) as u32,
    };
    let shape = Launch {
        grid: [
            (n_voxels as u32).div_ceil(<T::Stored as Instances>::voxels_per_block(tile)),
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
    let kernel = <T::Stored as Instances>::kernel(taps(options.interpolation), tile).expect("a kernel for this type");
    let report = launch_with(&kernel, shape, parameters, launch_options).unwrap_or_else(|fault| panic!("{fault}"));
    let sums = output.to_vec().into_iter().map(T::image).collect();
    let image = ArrayD::from_shape_vec(IxDyn(&[n_batch, inputs.n_parts(), n_voxels]), sums)
        .expect("a sum a batch item and voxel");
    (image, report)
}

/// The rows of zeros for an interpolation.
fn rows(interpolation: Interpolation) -> Rows {
    match interpolation {
        Interpolation::Nearest | Interpolation::Linear => Rows::INSIDE,
        _ => Rows::ANY,
    }
}

/// Every interpolation and tile, with every option that the kernel has.
fn check<T: Batched>() {
    let mut rng = rng();
    for (index, interpolation) in INTERPOLATIONS.into_iter().enumerate() {
        for tile in [Tile::Broad, Tile::Wide, Tile::Narrow] {
            if <T::Stored as Instances>::kernel(taps(interpolation), tile).is_none() {
                continue;
            }
            let case = Case {
                // More than the lanes of any group, and not a multiple of them.
                channels: 18,
                transmits: 2,
                // A tile, three items of the next one, and padding.
                batch: tile.items() as usize + 3,
                // A block, and groups of the next one without a voxel.
                grid: vec![<T::Stored as Instances>::voxels_per_block(tile) as usize + 5],
                elements: Elements::Convex,
                cosine_bound: Some(0.4),
                has_channel_weights: true,
                longest_list: (index % 2 == 1).then_some(3),
                options: options_with_everything(interpolation, T::IS_COMPLEX),
                ..Case::default()
            };
            let mut tally = Tally::default();
            let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
            let data = case.data::<T>(&mut rng);
            let (image, _) = run(&geometry, &case.options, &data, tile, rng.u64(..));
            tally.add::<T>(&image, &terms, &terms.expected(&data));
            let what = format!("{tile:?}, {}", case.describe());
            tally.assert_within_bound::<T>(&what, &case.options);
            let one_each = das_voxel::run(&geometry, &case.options, &data, voxel::Tile::Items, rng.u64(..));
            assert_same_bits(&what, &image, &one_each);
        }
    }
}

/// Channels and transmits kept apart: the same bits as a thread a voxel.
#[test]
fn parts_of_the_sum() {
    let mut rng = rng();
    for sum_over in SUMS {
        let case = Case {
            batch: 5,
            channels: 4,
            transmits: 3,
            grid: vec![9],
            longest_list: (sum_over == SumOver::Channels).then_some(2),
            options: DasOptions {
                sum_over,
                phase_per_sample: 1.3,
                ..DasOptions::default()
            },
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, Complex::<f16>::PRECISION);
        let data = case.data::<Complex<f16>>(&mut rng);
        let (image, _) = run(&geometry, &case.options, &data, Tile::Narrow, rng.u64(..));
        let one_each = das_voxel::run(&geometry, &case.options, &data, voxel::Tile::Items, rng.u64(..));
        assert_same_bits(&case.describe(), &image, &one_each);
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
    complex_i16: Complex<i16>;
    complex_f16: Complex<f16>;
    complex_f32: Complex<f32>;
}

/// Any batch from one item on, all elements heard: the same bits as a thread a voxel.
#[test]
fn any_batch() {
    let mut rng = rng();
    for (batch, tile) in [(1, Tile::Narrow), (3, Tile::Wide), (16, Tile::Narrow), (33, Tile::Wide)] {
        let case = Case {
            batch,
            channels: 5,
            transmits: 2,
            grid: vec![11],
            options: DasOptions {
                phase_per_sample: 1.3,
                ..DasOptions::default()
            },
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, Complex::<f16>::PRECISION);
        let data = case.data::<Complex<f16>>(&mut rng);
        let (image, _) = run(&geometry, &case.options, &data, tile, rng.u64(..));
        let one_each = das_voxel::run(&geometry, &case.options, &data, voxel::Tile::Items, rng.u64(..));
        assert_same_bits(&case.describe(), &image, &one_each);
    }
}

/// A sample that is not a number reaches the voxels that use it, in its own batch item.
#[test]
fn nan_stays_where_it_is_used() {
    let mut rng = rng();
    for interpolation in INTERPOLATIONS {
        let case = Case {
            batch: 20,
            channels: 7,
            grid: vec![30],
            options: DasOptions {
                interpolation,
                ..DasOptions::default()
            },
            ..Case::default()
        };
        let (geometry, terms) = case.geometry(&mut rng, Complex::<f16>::PRECISION);
        let mut data = case.data::<Complex<f16>>(&mut rng);
        let is_bad = |k: usize| (20..50).contains(&k) || !(3..=93).contains(&k);
        for k in (0..case.samples).filter(|k| is_bad(*k)) {
            data[[13, 4, 1, k]] = Complex::new(f16::NAN, f16::INFINITY);
        }
        let mut uses = [false; 30];
        for term in terms.list.iter().filter(|term| (term.channel, term.transmit) == (4, 1)) {
            uses[term.voxel] |= term.taps.iter().any(|(k, _)| is_bad(*k));
        }
        let (image, _) = run(&geometry, &case.options, &data, Tile::Narrow, rng.u64(..));
        for (index, sum) in image
            .iter()
            .enumerate()
            .filter(|(index, _)| !terms.ambiguous[index % 30])
        {
            let is_reached = index / 30 == 13 && uses[index % 30];
            assert_eq!(
                !sum.is_finite(),
                is_reached,
                "{interpolation:?}, item {}, voxel {}",
                index / 30,
                index % 30
            );
        }
        assert!(uses.contains(&true) && uses.contains(&false));
    }
}

/// The vector loads of samples.
fn samples_traffic(report: &Report) -> Traffic {
    let mut sum = Traffic::default();
    for site in &report.sites {
        if site.instruction == Instruction::GlobalLoad && site.bytes_per_lane == 16 {
            sum += site.traffic;
        }
    }
    sum
}

/// Case `ex64`, a few warps all over the volume and a few channels all over the probe: 32×32 channels at 0.5 mm, sampled
/// at 3.08 MHz, 64³ voxels at 0.25 mm from 10 mm on.
#[test]
fn every_byte_that_is_fetched_is_used() {
    let wavelength_m = 1540.0 / 3.08e6;
    let units = |metres: f64| metres / wavelength_m;
    let lateral = |index: usize| (index as f64 - 31.5) * 0.25e-3;
    let voxels: Vec<[f64; 3]> = (0..64 * 64)
        .step_by(331)
        .flat_map(|row| {
            (0..16).map(move |n| {
                let x = (row / 16 * 16) % 64 + n;
                [lateral(x), lateral(row % 64), 10e-3 + (row / 64) as f64 * 0.25e-3]
            })
        })
        .collect();
    let along = |index: usize| (index as f64 - 15.5) * 0.5e-3;
    // Whole groups, as 1024 are.
    let elements: Vec<usize> = (0..1024).step_by(31).take(32).collect();
    let n = voxels.len();
    let geometry = DasGeometry {
        element_positions: Array2::from_shape_fn((elements.len(), 3), |(m, axis)| match axis {
            0 => units(along(elements[m] % 32)),
            1 => units(along(elements[m] / 32)),
            _ => 0.0,
        }),
        voxel_positions: Array2::from_shape_fn((n, 3), |(n, axis)| units(voxels[n][axis])).into_dyn(),
        transmit_offsets: Array2::from_shape_fn((1, n), |(_, n)| units(voxels[n][2])).into_dyn(),
        transmit_weights: Array2::ones((1, n)).into_dyn(),
        element_normals: None,
        element_cosine_bounds: None::<Array1<f64>>,
        ..DasGeometry::default()
    };
    let options = DasOptions {
        phase_per_sample: std::f64::consts::TAU,
        ..DasOptions::default()
    };
    let one = Complex::new(f16::ONE, f16::NEG_ONE);
    let data = Array4::from_elem((64, elements.len(), 1, 512), one);
    let (image, report) = run(&geometry, &options, &data, Tile::Wide, 1);
    assert!(image.iter().all(|sum| sum.is_finite()));
    let traffic = samples_traffic(&report);
    println!(
        "ALG2 on ex64: {:.1} bytes used of a sector of 32, {:.1} sectors a request (9 at least), {:.2} s",
        traffic.bytes_per_sector(),
        traffic.sectors_per_request(),
        report.seconds
    );
    assert!(traffic.bytes_per_sector() >= 32.0);
    assert!(traffic.sectors_per_request() >= 9.0);
}
