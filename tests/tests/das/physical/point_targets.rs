//! Point scatterers come back where they are.

use super::{acquisition, linear_array, peak, reconstruct, straight_down};
use integration_tests::compare::assert_within;
use integration_tests::sample::TestSample;
use integration_tests::simulate::{Mixing, Recording, Way, distance};
use ndarray::{Array2, Axis};
use num_complex::{Complex, Complex32};
use warpbeam::physical::axis;
use warpbeam::{Acquisition, Backend, DasPlan, Grid, NearFocus, Probe, Reception, Transmit, Wave};

/// A point at 20 mm is found at 20.00 mm, whenever the recording starts and wherever the pulse has its centre.
fn start_time_and_pulse_centre(backend: &Backend) {
    // The last one was decimated by 4 from sample 100 at 65 MHz on.
    for (start_time_s, pulse_centre_s, sampling_frequency_hz) in [
        (0.0, 0.0, 40e6),
        (2e-6, 0.0, 40e6),
        (2e-6, 250e-9, 40e6),
        (-1e-6, 250e-9, 40e6),
        (100.0 / 65e6, 250e-9, 16.25e6),
    ] {
        let (mut acquisition, mut recording) = linear_array();
        recording.pulse_centre_s = pulse_centre_s;
        recording.sampling_frequency_hz = sampling_frequency_hz;
        acquisition.pulse_centre_s = pulse_centre_s;
        acquisition.sampling_frequency_hz = sampling_frequency_hz;
        acquisition.transmits = vec![Transmit {
            start_time_s,
            ..Transmit::new(straight_down())
        }];
        let data = recording.echoes(
            &[[0.0, 0.0, 20e-3]],
            &[(&|point| point[2], start_time_s)],
            Mixing::Demodulated,
        );
        let (x, z) = (axis(-1e-3, 1e-3, 21).unwrap(), axis(15e-3, 25e-3, 1001).unwrap());
        let grid = Grid::plane(&x, &z).unwrap();
        let found = peak(&reconstruct(backend, &acquisition, &grid, &Reception::default(), &data));
        println!(
            "start {start_time_s:e} s, centre {pulse_centre_s:e} s: {:.2} mm",
            z[found[0]] * 1e3
        );
        assert!(
            (z[found[0]] - 20e-3).abs() < 5e-6 && found[1] == 10,
            "found at z {} x {}",
            z[found[0]],
            x[found[1]]
        );
    }
}

/// The same echoes as analytic RF and as IQ: envelopes agree to 1 % of the peak above −40 dB; the other sign of the
/// phase loses at least 20 dB.
fn rf_against_iq(backend: &Backend) {
    let (mut acquisition, mut recording) = linear_array();
    acquisition.transmits = vec![Transmit {
        start_time_s: 15e-6,
        ..Transmit::new(straight_down())
    }];
    recording.samples = 1024;
    let ways: [Way; 1] = [(&|point| point[2], 15e-6)];
    let scatterers = [[0.0, 0.0, 20e-3], [3e-3, 0.0, 22e-3], [-4e-3, 0.0, 25e-3]];
    let grid = Grid::plane(&axis(-6e-3, 6e-3, 81).unwrap(), &axis(18e-3, 27e-3, 181).unwrap()).unwrap();
    let reception = Reception {
        f_number: 1.0,
        ..Reception::default()
    };
    let iq_data = recording.echoes(&scatterers, &ways, Mixing::Demodulated);
    let iq = reconstruct(backend, &acquisition, &grid, &reception, &iq_data);

    // Linear interpolation needs many samples a period of the carrier.
    let fine = Recording {
        sampling_frequency_hz: 320e6,
        samples: 8192,
        ..recording
    };
    let rf_data = fine.echoes(&scatterers, &ways, Mixing::Analytic);
    let rf_acquisition = Acquisition {
        sampling_frequency_hz: 320e6,
        demodulation_frequency_hz: None,
        ..acquisition.clone()
    };
    let rf = reconstruct(backend, &rf_acquisition, &grid, &reception, &rf_data);

    let highest = rf.iter().fold(0.0_f32, |highest, value| highest.max(value.norm()));
    let worst = rf
        .iter()
        .zip(&iq)
        .filter(|(rf, _)| rf.norm() > 0.01 * highest)
        .fold(0.0_f32, |worst, (rf, iq)| worst.max((rf.norm() - iq.norm()).abs()));
    assert_within("RF against IQ, of the peak", f64::from(worst / highest), 0.01);

    let (geometry, mut options) = acquisition.geometry(&grid, &reception).unwrap();
    options.phase_per_sample *= -1.0;
    options.phase_offsets.iter_mut().for_each(|phase| *phase *= -1.0);
    let wrong = DasPlan::<Complex32>::new(backend, &geometry, &options).unwrap();
    let wrong = wrong
        .run(iq_data.mapv(<Complex32 as TestSample>::nearest).index_axis(Axis(0), 0))
        .unwrap();
    let loss = 20.0 * (highest / wrong[peak(&rf).as_slice()].norm()).log10();
    println!("the other sign loses {loss:.1} dB at the peak");
    assert!(loss > 20.0);
}

/// A scatterer and the waves that find it, in three dimensions; the ways are written out here once more.
fn waves(backend: &Backend) {
    let probe = Probe::matrix(16, 16, 0.3e-3, 0.4e-3).unwrap();
    let elements_m: Vec<[f64; 3]> = (0..256)
        .map(|m| {
            [
                (f64::from(m % 16) - 7.5) * 0.3e-3,
                (f64::from(m / 16) - 7.5) * 0.4e-3,
                0.0,
            ]
        })
        .collect();
    let recording = Recording {
        elements_m,
        samples: 1400,
        ..linear_array().1
    };
    let (source, focus) = ([1e-3, -2e-3, -8e-3], [-1e-3, 0.5e-3, 30e-3]);
    let beside = [1e-3, 2e-3, 0.0];
    let element = 37;
    let (azimuth, elevation) = (0.15_f64, -0.1_f64);
    let direction = [
        azimuth.sin() * elevation.cos(),
        elevation.sin(),
        azimuth.cos() * elevation.cos(),
    ];
    let at = |wave, origin_m| Transmit {
        origin_m,
        start_time_s: 3e-6,
        ..Transmit::new(wave)
    };
    let transmits = [
        at(
            Wave::Plane {
                azimuth_rad: azimuth,
                elevation_rad: elevation,
            },
            beside,
        ),
        at(Wave::Diverging { source_m: source }, [0.0; 3]),
        at(
            Wave::Focused {
                focus_m: focus,
                near_focus: NearFocus::Spherical,
            },
            beside,
        ),
        at(Wave::SyntheticAperture { element }, [0.0; 3]),
    ];
    let plane = move |p: [f64; 3]| {
        (0..3)
            .map(|axis| (p[axis] - beside[axis]) * direction[axis])
            .sum::<f64>()
    };
    let diverging = move |p| distance(p, source) - distance([0.0; 3], source);
    // The scatterer lies before the focus.
    let focused = move |p| distance(beside, focus) - distance(p, focus);
    let fired = recording.elements_m[element];
    let single = move |p| distance(p, fired);
    let ways: [&dyn Fn([f64; 3]) -> f64; 4] = [&plane, &diverging, &focused, &single];

    let point = [-0.8e-3, 0.6e-3, 18e-3];
    let near = |middle: f64| axis(middle - 1e-3, middle + 1e-3, 21).unwrap();
    let grid = Grid::cartesian(&near(point[0]), &near(point[1]), &near(point[2])).unwrap();
    let check = |transmits: Vec<Transmit>, ways: &[&dyn Fn([f64; 3]) -> f64]| {
        let ways: Vec<_> = ways.iter().map(|way| (*way, 3e-6)).collect();
        let data = recording.echoes(&[point], &ways, Mixing::Demodulated);
        let sizes = data.shape()[1] * data.shape()[2];
        let acquisition = acquisition(probe.clone(), &recording, transmits, Mixing::Demodulated);
        let image = reconstruct(backend, &acquisition, &grid, &Reception::default(), &data);
        assert_eq!(peak(&image), [10, 10, 10]);
        // All echoes in phase: the amplitude is their number, the phase that of none.
        let value = image[[10, 10, 10]];
        assert!(
            (value / sizes as f32 - Complex::ONE).norm() < 0.02,
            "{value} of {sizes}"
        );
    };
    for (transmit, way) in transmits.iter().zip(ways) {
        check(vec![transmit.clone()], &[way]);
    }
    check(transmits.to_vec(), &ways);
}

/// Uneven spacing is not in the way.
fn irregular_pitch(backend: &Backend) {
    let (mut acquisition, mut recording) = linear_array();
    let mut x = -14e-3;
    for (m, element) in recording.elements_m.iter_mut().enumerate() {
        element[0] = x;
        x += if m % 3 == 0 { 0.2e-3 } else { 0.3e-3 } * (1.0 + 0.1 * (m as f64).sin());
    }
    let positions = Array2::from_shape_fn((128, 3), |(m, axis)| recording.elements_m[m][axis]);
    let normals = Array2::from_shape_fn((128, 3), |(_, axis)| if axis == 2 { 1.0 } else { 0.0 });
    acquisition.probe = Probe::free(positions, normals).unwrap();
    acquisition.transmits = vec![Transmit::new(straight_down())];
    let data = recording.echoes(&[[2e-3, 0.0, 15e-3]], &[(&|p| p[2], 0.0)], Mixing::Demodulated);
    let grid = Grid::plane(&axis(0.0, 4e-3, 41).unwrap(), &axis(13e-3, 17e-3, 41).unwrap()).unwrap();
    assert_eq!(
        peak(&reconstruct(backend, &acquisition, &grid, &Reception::default(), &data)),
        [20, 20]
    );
}

integration_tests::on_every_backend! {
    start_time_and_pulse_centre: super::start_time_and_pulse_centre;
    rf_against_iq: super::rf_against_iq;
    waves: super::waves;
    irregular_pitch: super::irregular_pitch;
}
