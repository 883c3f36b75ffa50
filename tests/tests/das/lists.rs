//! Voxels with lists of transmits of their own.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::compare::{Tally, assert_within, relative_error};
use integration_tests::random::rng;
use integration_tests::run::{algorithms, run};
use integration_tests::sample::TestSample;
use ndarray::{ArrayD, Axis, IxDyn};
use warpbeam::{Algorithm, Backend, DasOptions, Interpolation, TransmitLists};

/// Random lists, some empty, some with a transmit twice, against the oracle.
fn random_lists<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for (longest_list, batch) in [(1, 1), (3, 9), (9, 3), (5, 40)] {
        for algorithm in algorithms::<T>(backend, Interpolation::Linear) {
            let case = Case {
                batch,
                transmits: 6,
                longest_list: Some(longest_list),
                options: DasOptions {
                    algorithm,
                    phase_per_sample: 1.1,
                    phase_offsets: (0..6).map(f64::from).collect(),
                    f_number: 0.7,
                    ..DasOptions::default()
                },
                ..Case::default()
            };
            let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
            let data = case.data::<T>(&mut rng);
            let image = run(backend, &geometry, &case.options, &data);
            let mut tally = Tally::default();
            tally.add::<T>(&image, &terms, &terms.expected(&data));
            tally.assert_within_bound::<T>(&case.describe(), &case.options);
        }
    }
}

/// Lists that name every transmit in order are the plain sum; what stands behind a list's end does not matter. Windows may
/// begin elsewhere with lists, and round otherwise.
fn lists_of_all<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for algorithm in algorithms::<T>(backend, Interpolation::Linear) {
        let mut case = Case {
            transmits: 4,
            ..Case::default()
        };
        case.options.algorithm = algorithm;
        let (mut geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let plain = run(backend, &geometry, &case.options, &data);
        let shape = [&[6], case.grid.as_slice()].concat();
        let indices = ArrayD::from_shape_fn(IxDyn(&shape), |index| match index[0] {
            4 => -1,
            5 => 2,
            entry => entry as i32,
        });
        let rest = ArrayD::from_elem(IxDyn(&[&[2], case.grid.as_slice()].concat()), 5e6);
        let longer = |array: &ArrayD<f64>| ndarray::concatenate(Axis(0), &[array.view(), rest.view()]).unwrap();
        geometry.transmit_offsets = longer(&geometry.transmit_offsets);
        geometry.transmit_weights = longer(&geometry.transmit_weights);
        geometry.transmit_lists = Some(TransmitLists {
            n_transmits: 4,
            indices,
        });
        let listed = run(backend, &geometry, &case.options, &data);
        if algorithm == Algorithm::Window {
            let value = |sum: &T::Sum| T::sum_value(*sum);
            let error = relative_error(listed.iter().map(value).zip(plain.iter().map(value)));
            assert_within("lists of all, windows", error, 1e-6);
        } else {
            assert_same_bits(&format!("{algorithm:?}"), &listed, &plain);
        }
    }
}

integration_tests::on_every_backend_and_type! {
    random_lists;
    lists_of_all;
}
