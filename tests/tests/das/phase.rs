//! The carrier's phase: its sign, its origin, and its accuracy at thousands of turns.

use integration_tests::compare::assert_within;
use integration_tests::run::run;
use integration_tests::sample::{Precision, TestSample};
use ndarray::{Array2, Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use std::f64::consts::TAU;
use warpbeam::{Backend, DasGeometry, DasOptions};

/// What a constant trace of ones becomes at a delay.
fn phasor<T: TestSample>(
    backend: &Backend,
    samples: usize,
    delay: f64,
    phase_per_sample: f64,
    phase: f64,
) -> Complex64 {
    let geometry = DasGeometry {
        element_positions: Array2::zeros((1, 3)),
        voxel_positions: ArrayD::zeros(IxDyn(&[3])),
        transmit_offsets: ArrayD::from_elem(IxDyn(&[1]), delay),
        transmit_weights: ArrayD::ones(IxDyn(&[1])),
        element_normals: None,
        element_cosine_bounds: None,
        ..DasGeometry::default()
    };
    let options = DasOptions {
        phase_per_sample,
        phase_offsets: vec![phase],
        ..DasOptions::default()
    };
    let data = Array4::from_elem((1, 1, 1, samples), T::nearest(Complex64::ONE));
    T::sum_value(run(backend, &geometry, &options, &data)[[0]])
}

/// 1, 8 and 20 MHz after 1 to 400 µs: 1e-3 rad would be allowed beyond the delay's own rounding; turns are reduced first.
fn carriers<T: TestSample>(backend: &Backend) {
    let sampling_frequency_hz = 40e6;
    let mut worst = 0.0_f64;
    for frequency_hz in [1e6, 8e6, 20e6] {
        for delay_s in [1e-6, 10e-6, 100e-6, 400e-6] {
            let delay = T::PRECISION.round(delay_s * sampling_frequency_hz + 0.3);
            let kappa = TAU * frequency_hz / sampling_frequency_hz;
            let got = phasor::<T>(backend, 16_100, delay, kappa, 0.0);
            worst = worst.max((got - Complex64::from_polar(1.0, kappa * delay)).norm());
        }
    }
    let bound = match T::PRECISION {
        Precision::Single => 1e-5,
        Precision::Double => 1e-11,
    };
    assert_within(&format!("{} carrier phase in radians", T::NAME), worst, bound);
}

/// Standard IQ carries e^{−iωτ}; κ = +ω / `f_s` takes it out, and a transmit's offset adds to it.
fn signs(backend: &Backend) {
    let quarter = std::f64::consts::FRAC_PI_2;
    let close = |got: Complex64, expected: Complex64| assert!((got - expected).norm() < 1e-6, "{got} for {expected}");
    close(phasor::<Complex<f32>>(backend, 16, 1.0, quarter, 0.0), Complex64::I);
    close(phasor::<Complex<f32>>(backend, 16, 1.0, -quarter, 0.0), -Complex64::I);
    close(phasor::<Complex<f32>>(backend, 16, 3.0, 0.0, quarter), Complex64::I);
    close(
        phasor::<Complex<f32>>(backend, 16, 1.0, quarter, quarter),
        -Complex64::ONE,
    );
    // A phase offset of many turns is known as exactly as one of few.
    close(
        phasor::<Complex<f32>>(backend, 16, 2.0, 0.0, quarter + 1e6 * TAU),
        Complex64::I,
    );
}

integration_tests::on_every_backend! {
    carriers_f32: super::carriers::<Complex<f32>>;
    carriers_i16: super::carriers::<Complex<i16>>;
    carriers_f16: super::carriers::<Complex<half::f16>>;
    carriers_f64: super::carriers::<Complex<f64>>;
    signs: super::signs;
}
