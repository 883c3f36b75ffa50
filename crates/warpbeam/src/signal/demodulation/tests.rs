//! Demodulation against `SciPy`'s and `PyMUST`'s numbers, tones and pulses of known envelope, and what must not happen.

use std::path::Path;

use half::f16;
use ndarray::{Array1, Array2, Array3, ArrayD, ArrayView2, Axis, IxDyn, arr0, s};
use ndarray_npy::NpzReader;

use super::*;

const RECORDING: Demodulation = Demodulation {
    sampling_frequency_hz: 20e6,
    center_frequency_hz: 5.5e6,
    start_time_s: 1.3e-6,
    bandwidth_hz: 4e6,
};

/// Relative L2 distance.
fn distance(got: &ArrayView2<Complex<f32>>, expected: &ArrayView2<Complex<f32>>) -> f64 {
    assert_eq!(got.dim(), expected.dim());
    let (mut difference, mut norm) = (0.0, 0.0);
    for (got, expected) in got.iter().zip(expected) {
        difference += f64::from((got - expected).norm_sqr());
        norm += f64::from(expected.norm_sqr());
    }
    (difference / norm).sqrt()
}

#[test]
fn scipy_s_numbers() {
    // 2 * filtfilt(*butter(5, bandwidth / fs), rf * exp(-2j * pi * fc * t), padlen=min(18, n - 1))
    type Expected = (usize, f64, f64);
    let cases: [(usize, &[Expected]); 2] = [
        (
            30,
            &[
                (0, -23.447_122_116_646, 32.397_613_019_909),
                (1, -15.090_411_166_811, 21.660_668_576_699),
                (15, 0.667_873_564_053, 17.364_309_353_412),
                (28, 14.622_242_264_298, -10.570_409_221_842),
                (29, 16.782_745_983_991, -17.073_889_361_644),
            ],
        ),
        (
            7,
            &[
                (0, -23.813_567_511_790, 34.985_835_303_951),
                (3, -5.860_649_679_700, 2.055_358_027_187),
                (6, -6.207_376_107_646, -32.068_756_613_108),
            ],
        ),
    ];
    for (n, expected) in cases {
        let rf = Array1::from_shape_fn(n, |k| ((k * k * 7 + k * 13) % 41) as f64 - 20.0);
        let iq = demodulate(&rf, &RECORDING).unwrap();
        for &(k, re, im) in expected {
            let error = (iq[k] - Complex::new(re, im)).norm();
            println!("sample {k} of {n}: off by {error:.2e} of 1e-11 allowed");
            assert!(error < 1e-11);
        }
    }
}

#[test]
fn pymust_s_iq_of_the_rotating_disk() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let (rf, iq) = (data.join("PWI_disk.mat"), data.join("pwi_disk_pymust.npz"));
    if !rf.exists() || !iq.exists() {
        println!("skipped: {} or {} is not there", rf.display(), iq.display());
        return;
    }
    let disk = crate::io::must::read_plane_wave(rf).unwrap();
    let expected: Array2<Complex<f32>> = NpzReader::new(std::fs::File::open(iq).unwrap())
        .unwrap()
        .by_name("iq_frame0")
        .unwrap();
    let iq = demodulate(
        &disk.channel_data,
        &Demodulation {
            sampling_frequency_hz: disk.sampling_frequency_hz,
            center_frequency_hz: disk.center_frequency_hz,
            start_time_s: disk.start_time_s,
            bandwidth_hz: disk.bandwidth_hz.unwrap(),
        },
    )
    .unwrap();
    assert_eq!(iq.dim(), (32, 128, 1, 334));
    // PyMUST's array is (sample, channel).
    let error = distance(&iq.slice(s![0, .., 0, ..]), &expected.t());
    println!("frame 0 of the disk: relative error {error:.2e} of 1e-6 allowed");
    assert!(error < 1e-6);
}

/// A tone of known amplitude and phase, in every sample type; the last case is undersampled.
#[test]
fn a_tone_becomes_its_amplitude_and_phase() {
    let phase = 0.7_f64;
    let expected = Complex::from_polar(1000.0, phase);
    for (fs, fc) in [(20e6, 5.5e6), (40e6, 8e6), (6.67e6, 5e6)] {
        let recording = Demodulation {
            sampling_frequency_hz: fs,
            center_frequency_hz: fc,
            start_time_s: 123.4e-6,
            bandwidth_hz: 0.1 * fs,
        };
        let tone = Array1::from_shape_fn(4000, |k| {
            1000.0 * (TAU * fc * (recording.start_time_s + k as f64 / fs) + phase).cos()
        });
        let check = |iq: &Array1<Complex<f32>>, allowed: f64| {
            let middle = iq.slice(s![1000..3000]);
            let worst = middle
                .iter()
                .map(|iq| (Complex::new(f64::from(iq.re), f64::from(iq.im)) - expected).norm());
            let worst = worst.fold(0.0, f64::max) / 1000.0;
            println!("tone of {fc} Hz at {fs} Hz: off by {worst:.2e} of {allowed:.0e} allowed");
            assert!(worst < allowed);
        };
        let narrow = |iq: Array1<Complex<f64>>| iq.mapv(|iq| Complex::new(iq.re as f32, iq.im as f32));
        check(&narrow(demodulate(&tone, &recording).unwrap()), 1e-6);
        check(&demodulate(&tone.mapv(|v| v as f32), &recording).unwrap(), 1e-6);
        // A rounding error of r in 1000, doubled: r is 1/2 for i16 and 1/4 for the eleven bits of f16.
        check(&demodulate(&tone.mapv(|v| v.round() as i16), &recording).unwrap(), 1e-3);
        check(&demodulate(&tone.mapv(f16::from_f64), &recording).unwrap(), 5e-4);
    }
}

#[test]
fn a_pulse_keeps_its_place_envelope_and_carrier() {
    let recording = Demodulation {
        sampling_frequency_hz: 40e6,
        center_frequency_hz: 5e6,
        start_time_s: 20e-6,
        bandwidth_hz: 8e6,
    };
    let time = |k: usize| recording.start_time_s + k as f64 / recording.sampling_frequency_hz;
    let (centre, width, phase) = (time(411) + 3e-9, 0.4e-6, -1.1);
    let shape = |t: f64| (-((t - centre) / width).powi(2) / 2.0).exp();
    let carrier = |t: f64| TAU * recording.center_frequency_hz * (t - centre) + phase;
    let rf = Array1::from_shape_fn(1000, |k| shape(time(k)) * carrier(time(k)).cos());
    let iq = demodulate(&rf, &recording).unwrap();
    let (mut envelope, mut back) = (0.0_f64, 0.0_f64);
    for (k, iq) in iq.iter().enumerate() {
        envelope = envelope.max((iq.norm() - shape(time(k))).abs());
        let remodulated = iq * Complex::from_polar(1.0, TAU * recording.center_frequency_hz * time(k));
        back = back.max((remodulated.re - rf[k]).abs());
    }
    println!("envelope off by {envelope:.2e}, carrier by {back:.2e} of 1e-3 allowed");
    assert!(envelope < 1e-3 && back < 1e-3);
}

#[test]
fn an_impulse_at_the_start_does_not_reach_the_end() {
    for n in [1000, 1024] {
        for bandwidth_hz in [0.75e6, 4e6, 15e6] {
            let mut rf = Array1::<f64>::zeros(n);
            rf[2] = 1.0;
            let iq = demodulate(
                &rf,
                &Demodulation {
                    bandwidth_hz,
                    ..RECORDING
                },
            )
            .unwrap();
            let tail = iq
                .slice(s![n - n / 10..])
                .iter()
                .map(|iq| iq.norm())
                .fold(0.0, f64::max);
            let peak = iq.iter().map(|iq| iq.norm()).fold(0.0, f64::max);
            println!("{n} samples: {tail:.2e} in the last tenth, peak {peak:.3}; 1e-3 allowed");
            assert!(tail < 1e-3 && peak > 0.01);
        }
    }
}

#[test]
fn layout_and_number_of_signals_change_no_bit() {
    let value = |i: usize, j: usize, k: usize| ((i * 31 + j * 17 + k * k * 7) % 101) as f32 - 50.0;
    let data = Array3::from_shape_fn((3, 5, 40), |(i, j, k)| value(i, j, k));
    let expected = demodulate(&data, &RECORDING).unwrap();
    for (signal, iq) in data.rows().into_iter().zip(expected.rows()) {
        assert_eq!(demodulate(&signal, &RECORDING).unwrap(), iq);
    }
    let fortran = Array3::from_shape_fn((40, 5, 3), |(k, j, i)| value(i, j, k)).reversed_axes();
    assert_eq!(demodulate(&fortran, &RECORDING).unwrap(), expected);
    let swapped = Array3::from_shape_fn((5, 3, 40), |(j, i, k)| value(i, j, k));
    assert_eq!(
        demodulate(&swapped.permuted_axes([1, 0, 2]), &RECORDING).unwrap(),
        expected
    );
    let strided = Array3::from_shape_fn(
        (3, 5, 80),
        |(i, j, k)| {
            if k % 2 == 0 { value(i, j, k / 2) } else { f32::NAN }
        },
    );
    assert_eq!(
        demodulate(&strided.slice(s![.., .., ..;2]), &RECORDING).unwrap(),
        expected
    );
    let mut backwards = data.clone();
    backwards.invert_axis(Axis(0));
    let mut iq = demodulate(&backwards, &RECORDING).unwrap();
    iq.invert_axis(Axis(0));
    assert_eq!(iq, expected);
    let dynamic: ArrayD<f32> = data.into_dyn();
    assert_eq!(demodulate(&dynamic, &RECORDING).unwrap(), expected.into_dyn());
}

#[test]
fn a_bad_sample_spoils_its_own_signal_only() {
    let mut data = Array2::from_shape_fn((9, 50), |(i, k)| (i + k) as f32);
    let expected = demodulate(&data, &RECORDING).unwrap();
    data[[4, 20]] = f32::NAN;
    let iq = demodulate(&data, &RECORDING).unwrap();
    for (index, (got, expected)) in iq.rows().into_iter().zip(expected.rows()).enumerate() {
        assert_eq!(got == expected, index != 4);
    }
}

#[test]
fn little_and_nothing() {
    assert_eq!(
        demodulate(&Array2::<i16>::zeros((0, 10)), &RECORDING).unwrap().dim(),
        (0, 10)
    );
    assert_eq!(
        demodulate(&Array2::<i16>::zeros((10, 0)), &RECORDING).unwrap().dim(),
        (10, 0)
    );
    assert_eq!(
        demodulate(&ArrayD::<f64>::zeros(IxDyn(&[2, 0, 3])), &RECORDING)
            .unwrap()
            .shape(),
        [2, 0, 3]
    );
    let one = demodulate(&Array1::from_elem(1, 3.0_f64), &RECORDING).unwrap();
    let expected = Complex::from_polar(6.0, -TAU * 5.5 * 1.3);
    assert!((one[0] - expected).norm() < 1e-12, "{one}");
    assert_eq!(
        demodulate(&arr0(1.0_f32), &RECORDING).unwrap_err(),
        SignalError::NoSampleAxis
    );
}

#[test]
fn parameters_are_refused_by_name() {
    let rf = Array1::<f32>::zeros(10);
    let message = |recording| demodulate(&rf, &recording).unwrap_err().to_string();
    for bad in [0.0, -1e6, f64::NAN, f64::INFINITY] {
        let end = format!("in Hz is {bad}; it must be positive and finite");
        assert_eq!(
            message(Demodulation {
                sampling_frequency_hz: bad,
                ..RECORDING
            }),
            format!("the sampling frequency {end}")
        );
        assert_eq!(
            message(Demodulation {
                center_frequency_hz: bad,
                ..RECORDING
            }),
            format!("the centre frequency {end}")
        );
        assert_eq!(
            message(Demodulation {
                bandwidth_hz: bad,
                ..RECORDING
            }),
            format!("the bandwidth {end}")
        );
    }
    assert_eq!(
        message(Demodulation {
            bandwidth_hz: 20e6,
            ..RECORDING
        }),
        "the bandwidth in Hz is 20000000; it must be below the sampling frequency"
    );
    assert_eq!(
        message(Demodulation {
            start_time_s: f64::NEG_INFINITY,
            ..RECORDING
        }),
        "the start time in s is -inf; it must be finite"
    );
}
