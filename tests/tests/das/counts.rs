//! Counts of frames, channels, voxels and transmits around every tile size, one of each, and none of each.

use crate::options::check;
use integration_tests::case::Case;
use integration_tests::random::rng;
use integration_tests::run::run;
use integration_tests::sample::TestSample;
use ndarray::{Array4, ArrayD};
use num_complex::Complex64;
use warpbeam::{Backend, ChannelLayout, DasOptions, DasPlan};

const COUNTS: [usize; 15] = [1, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65, 127, 129, 130];

fn small() -> Case {
    let options = DasOptions {
        phase_per_sample: 0.8,
        ..DasOptions::default()
    };
    Case {
        channels: 5,
        transmits: 2,
        batch: 2,
        grid: vec![3, 5],
        samples: 64,
        options,
        ..Case::default()
    }
}

fn frames<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for batch in COUNTS {
        check::<T>(backend, &Case { batch, ..small() }, &mut rng);
    }
}

fn channels<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for channels in COUNTS {
        check::<T>(backend, &Case { channels, ..small() }, &mut rng);
    }
}

fn voxels<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for voxels in COUNTS {
        check::<T>(
            backend,
            &Case {
                grid: vec![voxels],
                ..small()
            },
            &mut rng,
        );
        check::<T>(
            backend,
            &Case {
                grid: vec![1, voxels, 3],
                ..small()
            },
            &mut rng,
        );
    }
}

fn transmits<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for transmits in COUNTS {
        check::<T>(backend, &Case { transmits, ..small() }, &mut rng);
    }
}

/// Batch, channels, transmits and the voxel axes each 1 or not, in all combinations: rank and order are kept.
fn ones<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for bits in 0..32_u32 {
        let pick = |bit: u32, other: usize| if bits >> bit & 1 == 1 { 1 } else { other };
        let mut case = Case {
            batch: pick(0, 3),
            channels: pick(1, 4),
            transmits: pick(2, 2),
            grid: vec![pick(3, 5), pick(4, 3)],
            ..small()
        };
        for layout in [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel] {
            case.options.layout = layout;
            check::<T>(backend, &case, &mut rng);
        }
    }
}

/// A grid without axes is one voxel; one with four keeps them.
fn grid_ranks<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for grid in [vec![], vec![7], vec![2, 3, 2, 3]] {
        check::<T>(backend, &Case { grid, ..small() }, &mut rng);
    }
}

/// Data without the batch axis and with several transmits: the image of batch 1, without the axis.
fn without_batch<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for layout in [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel] {
        let mut case = Case {
            transmits: 4,
            batch: 1,
            ..small()
        };
        case.options.layout = layout;
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data: Array4<T> = case.data(&mut rng);
        let batched = run(backend, &geometry, &case.options, &data);
        let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
        let single: ArrayD<T::Sum> = plan.run(data.index_axis(ndarray::Axis(0), 0)).unwrap();
        assert_eq!(single.shape(), case.grid);
        let same = single
            .iter()
            .zip(&batched)
            .all(|(a, b)| T::sum_value(*a) == T::sum_value(*b));
        assert!(same, "{single:?} is not {batched:?}");
    }
}

/// A sum over nothing is 0, an image of nothing is empty.
fn none<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let no_channels = Case { channels: 0, ..small() };
    let no_transmits = Case {
        transmits: 0,
        ..small()
    };
    for case in [no_channels, no_transmits] {
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let image = run(backend, &geometry, &case.options, &case.data::<T>(&mut rng));
        assert_eq!(image.shape(), case.output_shape());
        assert!(
            image.iter().all(|sum| T::sum_value(*sum) == Complex64::ZERO),
            "{}: {image:?}",
            case.describe()
        );
    }
    let no_frames = Case { batch: 0, ..small() };
    let no_voxels = Case {
        grid: vec![3, 0],
        ..small()
    };
    for case in [no_frames, no_voxels] {
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let image = run(backend, &geometry, &case.options, &case.data::<T>(&mut rng));
        assert_eq!(image.shape(), case.output_shape());
    }
}

/// N · M · Q · B.
#[test]
fn points_are_voxels_times_channels_times_transmits_times_frames() {
    let case = small();
    let (geometry, _) = case.geometry(&mut rng(), integration_tests::sample::Precision::Single);
    let plan = DasPlan::<f32>::new(&Backend::cpu(), &geometry, &DasOptions::default()).unwrap();
    assert_eq!(plan.points(11), 15 * 5 * 2 * 11);
}

integration_tests::on_every_backend_and_type! {
    frames;
    channels;
    voxels;
    transmits;
    ones;
    grid_ranks;
    without_batch;
    none;
}
