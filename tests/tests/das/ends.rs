//! Single delays with known answers: interpolation weights, the ends of a recording, voxels on elements, exact sums.

#![expect(clippy::float_cmp, reason = "these sums are exact")]

use half::f16;
use integration_tests::run::run;
use integration_tests::sample::TestSample;
use ndarray::{Array1, Array2, Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use warpbeam::{Backend, DasGeometry, DasOptions, Interpolation};

/// One element with a voxel on it for each delay, so that a delay is what is said here and nothing else.
fn at_delays(delays: &[f64]) -> DasGeometry {
    DasGeometry {
        element_positions: Array2::zeros((1, 3)),
        voxel_positions: ArrayD::zeros(IxDyn(&[delays.len(), 3])),
        transmit_offsets: ArrayD::from_shape_vec(IxDyn(&[1, delays.len()]), delays.to_vec()).unwrap(),
        transmit_weights: ArrayD::ones(IxDyn(&[1, delays.len()])),
        element_normals: None,
        element_cosine_bounds: None,
        ..DasGeometry::default()
    }
}

/// What one trace gives at each delay.
fn read<T: TestSample>(backend: &Backend, trace: &[f64], delays: &[f64], interpolation: Interpolation) -> Vec<f64> {
    let data = Array4::from_shape_fn((1, 1, 1, trace.len()), |(.., k)| {
        T::nearest(Complex64::new(trace[k], 0.0))
    });
    let options = DasOptions {
        interpolation,
        ..DasOptions::default()
    };
    run(backend, &at_delays(delays), &options, &data)
        .iter()
        .map(|sum| T::sum_value(*sum).re)
        .collect()
}

fn ramp(samples: usize) -> Vec<f64> {
    (0..samples).map(|k| k as f64).collect()
}

/// x[k] = k returns the fractional index itself.
fn ramp_returns_the_index<T: TestSample>(backend: &Backend) {
    let delays = [10.25, 10.0, 0.5, 31.75, 62.9375];
    assert_eq!(read::<T>(backend, &ramp(64), &delays, Interpolation::Linear), delays);
}

/// The first sample counts, sample K − 1 only as a neighbour, whatever the interpolation.
fn first_and_last_sample<T: TestSample>(backend: &Backend) {
    let one_more: Vec<f64> = (1..=64).map(f64::from).collect();
    let delays = [-1e-4, 0.0, 62.999, 63.0, 63.0001, -1.0, 64.0];
    let linear = read::<T>(backend, &one_more, &delays, Interpolation::Linear);
    assert!((linear[2] - 63.999).abs() < 1e-5, "{linear:?}");
    assert_eq!([&linear[..2], &linear[3..]].concat(), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let delays = [-0.5, -0.25, 0.0, 0.49, 0.5, 62.49, 62.5, 62.99, 63.0, 63.5];
    let nearest = read::<T>(backend, &one_more, &delays, Interpolation::Nearest);
    assert_eq!(nearest, [0.0, 0.0, 1.0, 1.0, 2.0, 63.0, 64.0, 64.0, 0.0, 0.0]);
}

/// Two samples are the fewest that have something between them.
fn two_samples<T: TestSample>(backend: &Backend) {
    assert_eq!(
        read::<T>(backend, &[2.0, 6.0], &[0.0, 0.75, 1.0], Interpolation::Linear),
        [2.0, 5.0, 0.0]
    );
}

/// Out of range adds exactly 0 and reads nothing: the neighbouring channels and frames hold NaN.
fn out_of_range_reads_nothing<T: TestSample>(backend: &Backend) {
    let delays = [-1e30, -1e6, -1.0, -1e-4, 511.0, 511.0001, 512.0, 1e6, 1e30, 7.0];
    let mut geometry = at_delays(&delays);
    // Channels 0 and 2 are so far away that all their delays are out of range as well.
    geometry.element_positions = Array2::zeros((3, 3));
    geometry.element_positions[[0, 0]] = 1e8;
    geometry.element_positions[[2, 1]] = -3e30;
    let poison = T::nan().unwrap_or(T::nearest(Complex64::new(3e4, 3e4)));
    let good = T::nearest(Complex64::new(5.0, 0.0));
    let data = Array4::from_shape_fn(
        (3, 3, 1, 512),
        |(b, m, _, _)| if (b, m) == (1, 1) { good } else { poison },
    );
    for (interpolation, f_number, bound) in [
        (Interpolation::Linear, 0.0, None),
        (Interpolation::Nearest, 0.0, None),
        (Interpolation::Linear, 1.0, None),
        (Interpolation::Linear, 0.0, Some(0.5)),
    ] {
        geometry.element_cosine_bounds = bound.map(|bound| Array1::from_elem(3, bound));
        let options = DasOptions {
            interpolation,
            f_number,
            ..DasOptions::default()
        };
        let image = run(backend, &geometry, &options, &data);
        for (n, delay) in delays.iter().enumerate() {
            let expected = if n == 9 { 5.0 } else { 0.0 };
            assert_eq!(
                T::sum_value(image[[1, n]]),
                Complex64::new(expected, 0.0),
                "delay {delay} {interpolation:?}"
            );
            if n != 9 {
                assert_eq!(
                    T::sum_value(image[[0, n]]),
                    Complex64::ZERO,
                    "delay {delay}, a frame of NaN"
                );
                assert_eq!(
                    T::sum_value(image[[2, n]]),
                    Complex64::ZERO,
                    "delay {delay}, a frame of NaN"
                );
            }
        }
    }
}

/// r = 0 is 0 and stays finite under every aperture; short distances are themselves.
fn voxel_on_an_element<T: TestSample>(backend: &Backend) {
    let mut trace = vec![0.0; 64];
    trace[32] = 1.0;
    assert_eq!(read::<T>(backend, &trace, &[32.0], Interpolation::Linear), [1.0]);
    let data = Array4::from_shape_fn((1, 1, 1, 64), |(.., k)| T::nearest(Complex64::new(trace[k], 0.0)));
    for f_number in [0.0, 1.0] {
        let mut geometry = at_delays(&[32.0]);
        geometry.element_cosine_bounds = Some(Array1::from_elem(1, 0.9));
        let options = DasOptions {
            f_number,
            window: warpbeam::Window::Hann,
            phase_per_sample: 0.0,
            ..DasOptions::default()
        };
        let image = run(backend, &geometry, &options, &data);
        assert_eq!(T::sum_value(image[[0, 0]]), Complex64::ONE, "F {f_number}");
    }
    // 0.1 mm at 1540 m/s and 40 MHz: 64.94 ns.
    let samples = 1e-4 / 1540.0 * 40e6;
    let mut geometry = at_delays(&[0.0]);
    geometry.voxel_positions[[0, 2]] = samples;
    let ramp = Array4::from_shape_fn((1, 1, 1, 64), |(.., k)| T::nearest(Complex64::new(k as f64, 0.0)));
    let got = T::sum_value(run(backend, &geometry, &DasOptions::default(), &ramp)[[0, 0]]).re;
    assert!((got / 40e6 - 64.935e-9).abs() < 1e-12, "{got} samples");
}

/// An element without a bound hears what lies exactly behind it, also beside elements with one.
fn straight_behind<T: TestSample>(backend: &Backend) {
    let voxels = 200;
    let normal = [0.6, 0.48, 0.64];
    let mut geometry = at_delays(&vec![0.0; voxels]);
    geometry.voxel_positions = ArrayD::from_shape_fn(IxDyn(&[voxels, 3]), |index| {
        -0.13 * (1 + index[0]) as f64 * normal[index[1]]
    });
    geometry.element_positions = Array2::zeros((2, 3));
    geometry.element_normals = Some(Array2::from_shape_fn((2, 3), |(_, axis)| normal[axis]));
    geometry.element_cosine_bounds = Some(Array1::from_vec(vec![-1.0, 0.5]));
    let data = Array4::from_elem((1, 2, 1, 64), T::nearest(Complex64::ONE));
    let image = run(backend, &geometry, &DasOptions::default(), &data);
    let heard = image.iter().filter(|sum| T::sum_value(**sum) == Complex64::ONE).count();
    assert_eq!(heard, voxels);
}

/// Many equal traces: exact sums, also beyond what the storage type could hold.
fn sum_of<T: TestSample>(backend: &Backend, channels: usize, value: f64) -> f64 {
    let mut geometry = at_delays(&[3.0]);
    geometry.element_positions = Array2::zeros((channels, 3));
    let data = Array4::from_elem((1, channels, 1, 8), T::nearest(Complex64::new(value, value)));
    T::sum_value(run(backend, &geometry, &DasOptions::default(), &data)[[0, 0]]).re
}

fn sums_beyond_the_storage_type(backend: &Backend) {
    assert_eq!(sum_of::<i16>(backend, 128, 32_767.0), 4_194_176.0);
    assert_eq!(sum_of::<Complex<i16>>(backend, 128, 32_767.0), 4_194_176.0);
    assert_eq!(sum_of::<f16>(backend, 128, 65_504.0), 8_384_512.0);
    assert_eq!(sum_of::<Complex<f16>>(backend, 128, -65_504.0), -8_384_512.0);
}

/// No table of channels of a fixed size decides.
fn many_channels(backend: &Backend) {
    for channels in [4096, 4097, 5462, 8192] {
        assert_eq!(sum_of::<f32>(backend, channels, 1.0), channels as f64);
        assert_eq!(sum_of::<Complex<i16>>(backend, channels, 1.0), channels as f64);
    }
}

/// Indices and delays are not kept in the samples' half precision, which ends at 65 504 and skips from 2048 on.
fn long_half_precision_recordings(backend: &Backend) {
    let mut trace = vec![0.0; 100_000];
    trace[4001] = 1.0;
    trace[70_001] = 1.0;
    let delays = [4000.25, 4000.0, 4001.5, 70_000.75, 70_001.0];
    assert_eq!(
        read::<f16>(backend, &trace, &delays, Interpolation::Linear),
        [0.25, 0.0, 0.5, 0.75, 1.0]
    );
    assert_eq!(
        read::<Complex<i16>>(backend, &trace, &delays, Interpolation::Linear),
        [0.25, 0.0, 0.5, 0.75, 1.0]
    );
}

integration_tests::on_every_backend! {
    sums_beyond_the_storage_type: super::sums_beyond_the_storage_type;
    many_channels: super::many_channels;
    long_half_precision_recordings: super::long_half_precision_recordings;
}

integration_tests::on_every_backend_and_type! {
    ramp_returns_the_index;
    first_and_last_sample;
    two_samples;
    out_of_range_reads_nothing;
    voxel_on_an_element;
    straight_behind;
}
