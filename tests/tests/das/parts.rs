//! Channels or transmits kept apart: against the oracle, and their sums against the whole.

use crate::options::{INTERPOLATIONS, SUMS};
use integration_tests::case::{Case, Elements};
use integration_tests::compare::{Tally, assert_within, das_bound, relative_error};
use integration_tests::random::rng;
use integration_tests::run::{algorithms, run};
use integration_tests::sample::TestSample;
use ndarray::Axis;
use num_complex::Complex64;
use warpbeam::{Backend, DasOptions, SumOver};

fn every_part<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for (index, sum_over) in SUMS.into_iter().enumerate() {
        for batch in [1, 10, 11] {
            let interpolation = INTERPOLATIONS[(index + batch) % 5];
            for algorithm in algorithms::<T>(backend, interpolation) {
                let case = Case {
                    batch,
                    channels: 7,
                    transmits: 5,
                    grid: vec![4, 6, 9],
                    elements: Elements::Convex,
                    longest_list: (batch != 1).then_some(4),
                    has_channel_weights: true,
                    options: DasOptions {
                        algorithm,
                        sum_over,
                        interpolation,
                        phase_per_sample: 0.8,
                        ..DasOptions::default()
                    },
                    ..Case::default()
                };
                let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
                let data = case.data::<T>(&mut rng);
                let image = run(backend, &geometry, &case.options, &data);
                assert_eq!(image.shape(), case.output_shape());
                let mut tally = Tally::default();
                tally.add::<T>(&image, &terms, &terms.expected(&data));
                tally.assert_within_bound::<T>(&case.describe(), &case.options);

                let options = DasOptions {
                    sum_over: SumOver::ChannelsAndTransmits,
                    ..case.options.clone()
                };
                let whole = run(backend, &geometry, &options, &data).mapv(T::sum_value);
                let mut summed = image.mapv(T::sum_value);
                while summed.ndim() > whole.ndim() {
                    summed = summed.sum_axis(Axis(1));
                }
                let pairs = summed
                    .iter()
                    .zip(&whole)
                    .map(|(a, b): (&Complex64, &Complex64)| (*a, *b));
                let bound = das_bound::<T>(&options, terms.largest_delay);
                assert_within(
                    &format!("{} parts of {sum_over:?} summed", T::NAME),
                    relative_error(pairs),
                    bound,
                );
            }
        }
    }
}

integration_tests::on_every_backend_and_type! {
    every_part;
}
