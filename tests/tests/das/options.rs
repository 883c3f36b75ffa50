//! Every sample type with every combination of options, random geometry, against the oracle.

use integration_tests::case::{Case, Elements};
use integration_tests::compare::Tally;
use integration_tests::random::{between, rng};
use integration_tests::run::run;
use integration_tests::sample::TestSample;
use warpbeam::{Backend, ChannelLayout, DasOptions, Interpolation, SumOver, Window};

/// Sums that are compared at least, in as many draws as that takes.
const COMPARED: usize = 100;

/// Runs a case with random geometry and data and compares it with the oracle.
pub(crate) fn check<T: TestSample>(backend: &Backend, case: &Case, rng: &mut fastrand::Rng) {
    let mut tally = Tally::default();
    while tally.compared < COMPARED {
        let (geometry, terms) = case.geometry(rng, T::PRECISION);
        let data = case.data::<T>(rng);
        let image = run(backend, &geometry, &case.options, &data);
        assert_eq!(image.shape(), case.output_shape());
        tally.add::<T>(&image, &terms, &terms.expected(&data));
    }
    tally.assert_within_bound::<T>(&case.describe(), &case.options);
}

fn apertures() -> [(f64, Window); 8] {
    [
        (0.0, Window::Hann),
        (1.0, Window::Boxcar),
        (0.7, Window::Hann),
        (1.5, Window::Hamming),
        (0.5, Window::Tukey { taper: 0.25 }),
        (1.0, Window::Tukey { taper: 0.0 }),
        (0.9, Window::Tukey { taper: 1.0 }),
        // Most voxels hear no element, some hear one.
        (20.0, Window::Hamming),
    ]
}

/// Every interpolation.
pub(crate) const INTERPOLATIONS: [Interpolation; 5] = [
    Interpolation::Nearest,
    Interpolation::Linear,
    Interpolation::Quadratic,
    Interpolation::Cubic,
    Interpolation::Lanczos3,
];

/// Short and long batches, every interpolation, and the layouts in turn.
fn readings() -> impl Iterator<Item = (usize, Interpolation, ChannelLayout)> {
    let layouts = [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel];
    [2, 9].into_iter().flat_map(move |batch| {
        let ways = INTERPOLATIONS.into_iter().enumerate();
        ways.map(move |(index, way)| (batch, way, layouts[(index + batch) % 2]))
    })
}

/// Every way to keep parts apart.
pub(crate) const SUMS: [SumOver; 4] = [
    SumOver::ChannelsAndTransmits,
    SumOver::Channels,
    SumOver::Transmits,
    SumOver::Neither,
];

/// Elements and their cosine bounds.
const RECEIVERS: [(Elements, Option<f64>); 6] = [
    (Elements::Planar, None),
    (Elements::Planar, Some(0.6)),
    (Elements::Convex, None),
    (Elements::Convex, Some(0.4)),
    (Elements::Free, None),
    (Elements::Free, Some(0.0)),
];

fn every_combination<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let phases = [(0.0, 0), (0.9, 0), (-2.9, 3)];
    let mut count = 0_u32;
    for (batch, interpolation, layout) in readings() {
        for (f_number, window) in apertures() {
            for (elements, cosine_bound) in RECEIVERS {
                for (phase_per_sample, n_offsets) in &phases[..if T::IS_COMPLEX { 3 } else { 1 }] {
                    let options = DasOptions {
                        layout,
                        interpolation,
                        phase_per_sample: *phase_per_sample,
                        phase_offsets: (0..*n_offsets).map(|_| between(&mut rng, -1e3, 1e3)).collect(),
                        f_number,
                        window,
                        directivity_exponent: [0.0, 1.0, 0.0, 2.7][count as usize % 4],
                        ..DasOptions::default()
                    };
                    count += 1;
                    let case = Case {
                        batch,
                        elements,
                        cosine_bound,
                        has_channel_weights: count.is_multiple_of(3),
                        options,
                        ..Case::default()
                    };
                    check::<T>(backend, &case, &mut rng);
                }
            }
        }
    }
}

/// Two thousand samples deep, where f32's rounding of the delay is what bounds the error.
fn deep<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for phase_per_sample in [0.0, 1.5] {
        let options = DasOptions {
            phase_per_sample,
            ..DasOptions::default()
        };
        let case = Case {
            samples: 2048,
            depth: 1800.0,
            options,
            ..Case::default()
        };
        check::<T>(backend, &case, &mut rng);
    }
}

/// A hundred small cases, sizes and options drawn too.
fn anything<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for _ in 0..100 {
        let (f_number, window) = apertures()[rng.usize(..apertures().len())];
        let options = DasOptions {
            layout: [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel][rng.usize(..2)],
            interpolation: INTERPOLATIONS[rng.usize(..INTERPOLATIONS.len())],
            sum_over: SUMS[rng.usize(..SUMS.len())],
            directivity_exponent: if rng.bool() { 0.0 } else { between(&mut rng, 0.0, 3.0) },
            phase_per_sample: between(&mut rng, -3.0, 3.0),
            f_number,
            window,
            ..DasOptions::default()
        };
        let case = Case {
            channels: rng.usize(1..20),
            transmits: rng.usize(1..4),
            batch: rng.usize(1..20),
            samples: rng.usize(40..128),
            grid: vec![rng.usize(1..9), rng.usize(1..9)],
            elements: [Elements::Planar, Elements::Convex, Elements::Free][rng.usize(..3)],
            cosine_bound: if rng.bool() {
                None
            } else {
                Some(between(&mut rng, -0.9, 0.8))
            },
            longest_list: if rng.bool() { None } else { Some(rng.usize(1..6)) },
            has_channel_weights: rng.bool(),
            options,
            ..Case::default()
        };
        check::<T>(backend, &case, &mut rng);
    }
}

integration_tests::on_every_backend_and_type! {
    every_combination;
    deep;
    anything;
}
