//! Geometry and options that no plan is made from.

use crate::good;
use ndarray::{Array1, Array2, ArrayD, IxDyn};
use warpbeam::{Algorithm, Backend, DasGeometry, DasOptions, DasPlan, Interpolation, TransmitLists, Window};

/// Asserts that a plan is refused with the message.
fn refused(backend: &Backend, spoil: impl Fn(&mut DasGeometry, &mut DasOptions), expected: &str) {
    let (mut geometry, mut options) = good();
    spoil(&mut geometry, &mut options);
    let error = DasPlan::<f32>::new(backend, &geometry, &options)
        .map(|_| ())
        .expect_err(expected);
    assert_eq!(error.to_string(), expected);
}

fn shapes(backend: &Backend) {
    let check = |spoil: fn(&mut DasGeometry), expected| refused(backend, |geometry, _| spoil(geometry), expected);
    check(
        |g| g.element_positions = Array2::zeros((2, 2)),
        "element_positions has shape [2, 2]; expected a last axis of 3 (x, y, z)",
    );
    check(
        |g| g.voxel_positions = ArrayD::zeros(IxDyn(&[3, 4])),
        "voxel_positions has shape [3, 4]; expected a last axis of 3 (x, y, z)",
    );
    check(
        |g| g.voxel_positions = ArrayD::zeros(IxDyn(&[])),
        "voxel_positions has shape []; expected a last axis of 3 (x, y, z)",
    );
    check(
        |g| g.voxel_positions = ArrayD::zeros(IxDyn(&[4, 3])),
        "transmit_offsets has shape [2, 3]; expected [2, 4]",
    );
    check(
        |g| g.transmit_offsets = ArrayD::zeros(IxDyn(&[])),
        "transmit_offsets has shape []; expected (transmit, ..) with the voxel grid's axes",
    );
    check(
        |g| g.transmit_offsets = ArrayD::zeros(IxDyn(&[2])),
        "transmit_offsets has shape [2]; expected [2, 3]",
    );
    check(
        |g| g.transmit_offsets = ArrayD::zeros(IxDyn(&[3, 3])),
        "transmit_weights has shape [2, 3]; expected [3, 3]",
    );
    check(
        |g| g.transmit_weights = ArrayD::zeros(IxDyn(&[2, 3, 1])),
        "transmit_weights has shape [2, 3, 1]; expected [2, 3]",
    );
    check(
        |g| g.element_normals = Some(Array2::zeros((3, 3))),
        "element_normals has shape [3, 3]; expected [2, 3]",
    );
    check(
        |g| g.element_cosine_bounds = Some(Array1::zeros(1)),
        "element_cosine_bounds has shape [1]; expected [2]",
    );
    refused(
        backend,
        |_, o| o.phase_offsets = vec![0.0; 3],
        "phase_offsets has shape [3]; expected [2]",
    );
}

fn values(backend: &Backend) {
    let check = |spoil: fn(&mut DasGeometry, f64), value, expected: &str| {
        refused(backend, |geometry, _| spoil(geometry, value), expected);
    };
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let message = |what: &str, index: &str| format!("{what} at {index} is {text}; it must be finite");
        check(
            |g, value| g.element_positions[[1, 2]] = value,
            value,
            &message("element_positions", "[1, 2]"),
        );
        check(
            |g, value| g.voxel_positions[[2, 0]] = value,
            value,
            &message("voxel_positions", "[2, 0]"),
        );
        check(
            |g, value| g.transmit_offsets[[1, 2]] = value,
            value,
            &message("transmit_offsets", "[1, 2]"),
        );
        check(
            |g, value| g.transmit_weights[[0, 1]] = value,
            value,
            &message("transmit_weights", "[0, 1]"),
        );
        let normal = |g: &mut DasGeometry, value| g.element_normals.as_mut().unwrap()[[0, 1]] = value;
        check(normal, value, &message("element_normals", "[0, 1]"));
        let bound = |g: &mut DasGeometry, value| g.element_cosine_bounds.as_mut().unwrap()[1] = value;
        check(bound, value, &message("element_cosine_bounds", "[1]"));
        refused(
            backend,
            |_, o| o.phase_offsets = vec![0.0, value],
            &message("phase_offsets", "[1]"),
        );
        refused(
            backend,
            |_, o| o.phase_per_sample = value,
            &format!("phase_per_sample is {text}; it must be a finite number of radians"),
        );
    }
    let long = |g: &mut DasGeometry, value: f64| {
        g.element_normals
            .as_mut()
            .unwrap()
            .row_mut(1)
            .assign(&ndarray::arr1(&[0.0, 0.0, value]));
    };
    check(
        long,
        2.0,
        "the length of an element normal is 2; it must be 1 (a unit vector)",
    );
    check(
        long,
        0.0,
        "the length of an element normal is 0; it must be 1 (a unit vector)",
    );
    let bound = |g: &mut DasGeometry, value| g.element_cosine_bounds.as_mut().unwrap()[0] = value;
    for value in [-1.5, 1.0001] {
        let text = format!("an element cosine bound is {value}; it must be a cosine, from -1 (hears everything) to 1");
        check(bound, value, &text);
    }
    for (value, text) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(
            backend,
            |_, o| o.f_number = value,
            &format!("f_number is {text}; it must be a positive number, or 0 for all elements"),
        );
    }
    for (taper, text) in [(-0.1, "-0.1"), (1.1, "1.1"), (f64::NAN, "NaN")] {
        refused(
            backend,
            |_, o| o.window = Window::Tukey { taper },
            &format!("the Tukey window's taper is {text}; it must be from 0 (boxcar) to 1 (Hann)"),
        );
    }
}

/// Lists, channel weights and smooth directivity.
fn lists_and_weights(backend: &Backend) {
    let lists = |n_transmits, shape: &[usize], values: &[i32]| {
        let indices = ArrayD::from_shape_vec(IxDyn(shape), values.to_vec()).unwrap();
        Some(TransmitLists { n_transmits, indices })
    };
    for value in [2, -2, i32::MAX] {
        refused(
            backend,
            |g, _| g.transmit_lists = lists(2, &[2, 3], &[0, 1, -1, 1, value, 0]),
            &format!(
                "transmit_lists at [1, 1] is {value}; it must be a transmit, from 0 to below 2, or -1 to end the list"
            ),
        );
    }
    refused(
        backend,
        |g, _| g.transmit_lists = lists(2, &[3, 2], &[0; 6]),
        "transmit_lists has shape [3, 2]; expected [2, 3]",
    );
    refused(
        backend,
        |g, _| g.channel_weights = Some(Array1::ones(3)),
        "channel_weights has shape [3]; expected [2]",
    );
    refused(
        backend,
        |g, _| g.channel_weights = Some(ndarray::arr1(&[1.0, f64::NAN])),
        "channel_weights at [1] is NaN; it must be finite",
    );
    for (value, text) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(
            backend,
            |_, o| o.directivity_exponent = value,
            &format!("directivity_exponent is {text}; it must be a positive number, or 0 for no directivity"),
        );
    }
}

/// What is refused names what would do.
fn algorithms(backend: &Backend) {
    for interpolation in [Interpolation::Quadratic, Interpolation::Cubic, Interpolation::Lanczos3] {
        refused(
            backend,
            |_, o| {
                o.algorithm = Algorithm::Distinct;
                o.interpolation = interpolation;
            },
            "Algorithm::Distinct for an interpolation of more than two samples is not supported; it takes Nearest and \
             Linear; Algorithm::Auto, Voxel, Frame and Batch take every interpolation",
        );
        refused(
            backend,
            |_, o| {
                o.algorithm = Algorithm::Window;
                o.interpolation = interpolation;
            },
            "Algorithm::Window for an interpolation of more than two samples and samples that are not f16 is not supported; it \
             takes Nearest and Linear, or Precision::F16; Algorithm::Auto, Voxel, Frame and Batch take every interpolation",
        );
    }
}

integration_tests::on_every_backend! {
    lists_and_weights: super::lists_and_weights;
    algorithms: super::algorithms;
    shapes: super::shapes;
    values: super::values;
}
