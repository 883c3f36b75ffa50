//! What the image does not depend on: the origin of the coordinates, the units, the order of the axes.

use super::{CARRIER, SOUND_SPEED, acquisition, linear_array, reconstruct, straight_down};
use integration_tests::case::AMBIGUOUS_LIMIT;
use integration_tests::compare::{Tally, assert_within, relative_error};
use integration_tests::das::terms;
use integration_tests::random::rng;
use integration_tests::sample::{Precision, TestSample};
use integration_tests::simulate::{Mixing, Recording, distance};
use ndarray::{Array4, ArrayD, arr1};
use num_complex::{Complex, Complex32, Complex64};
use std::f64::consts::TAU;
use warpbeam::physical::axis;
use warpbeam::{Acquisition, Backend, DasPlan, Grid, NearFocus, Probe, Reception, Transmit, Wave};

/// The f32 bound at 1200 samples.
fn bound() -> f64 {
    1e-5 + 2.0_f64.powi(-24) * 1200.0 * (TAU * CARRIER / 40e6 + 2.0)
}

/// The relative L2 error of two images.
fn difference(a: &ArrayD<Complex32>, b: &ArrayD<Complex32>) -> f64 {
    let wide = |value: &Complex32| Complex64::new(value.re.into(), value.im.into());
    relative_error(a.iter().map(wide).zip(b.iter().map(wide)))
}

/// Probe, origin and grid moved together see the same; so does a plane wave referred to another point of the probe.
fn translated_origin(backend: &Backend) {
    let (mut acquisition, recording) = linear_array();
    let wave = Wave::Plane {
        azimuth_rad: 0.2,
        elevation_rad: 0.0,
    };
    acquisition.transmits = vec![Transmit::new(wave)];
    let way = |p: [f64; 3]| p[0] * 0.2_f64.sin() + p[2] * 0.2_f64.cos();
    let data = recording.echoes(&[[2e-3, 0.0, 15e-3]], &[(&way, 0.0)], Mixing::Demodulated);
    let (x, z) = (axis(0.0, 4e-3, 41).unwrap(), axis(13e-3, 17e-3, 41).unwrap());
    let grid = Grid::plane(&x, &z).unwrap();
    let reception = Reception::default();
    let image = reconstruct(backend, &acquisition, &grid, &reception, &data);
    let same = |what: &str, other: &ArrayD<Complex32>| {
        assert_within(what, difference(other, &image), bound());
    };

    // Referred to the first element: the wave crosses it earlier than the centre, t = 0 comes earlier, the recording
    // starts later.
    let first = recording.elements_m[0];
    let referred = Transmit {
        origin_m: first,
        start_time_s: -way(first) / SOUND_SPEED,
        ..Transmit::new(wave)
    };
    let phase = TAU * CARRIER * way(first) / SOUND_SPEED;
    let from_first = Acquisition {
        transmits: vec![referred],
        ..acquisition.clone()
    };
    // The mixer counts from the transmit's t = 0 as well.
    let turned = data.mapv(|sample| sample * Complex64::from_polar(1.0, phase));
    same(
        "referred to the first element",
        &reconstruct(backend, &from_first, &grid, &reception, &turned),
    );

    let shift = [30e-3, -4e-3, 7e-3];
    let positions = &acquisition.probe.positions_m() + &arr1(&shift);
    let probe = Probe::free(positions, acquisition.probe.normals().to_owned()).unwrap();
    let moved = Acquisition {
        probe,
        transmits: vec![Transmit {
            origin_m: shift,
            ..Transmit::new(wave)
        }],
        ..acquisition.clone()
    };
    let points = &grid.positions_m().unwrap() + &arr1(&shift);
    same(
        "moved",
        &reconstruct(
            backend,
            &moved,
            &Grid::free(points.into_dyn()).unwrap(),
            &reception,
            &data,
        ),
    );
}

/// Lengths and sound speed both in other units.
fn units(backend: &Backend) {
    let (mut acquisition, recording) = linear_array();
    acquisition.transmits = vec![Transmit::new(straight_down())];
    let data = recording.echoes(&[[2e-3, 0.0, 15e-3]], &[(&|p| p[2], 0.0)], Mixing::Demodulated);
    let grid = |unit: f64| {
        Grid::plane(
            &axis(-unit, 4.0 * unit, 31).unwrap(),
            &axis(13.0 * unit, 17.0 * unit, 31).unwrap(),
        )
        .unwrap()
    };
    let reception = Reception {
        f_number: 1.1,
        window: warpbeam::Window::Hann,
        ..Reception::default()
    };
    let image = reconstruct(backend, &acquisition, &grid(1e-3), &reception, &data);
    acquisition.probe = Probe::linear(128, 0.3e-6).unwrap();
    acquisition.medium.sound_speed_m_s *= 1e-3;
    let scaled = reconstruct(backend, &acquisition, &grid(1e-6), &reception, &data);
    assert_within("lengths and c × 1e-3", difference(&scaled, &image), bound());
}

/// A 4×3 matrix with one live element: every voxel comes back at its own index, with its own delay.
fn axis_order(backend: &Backend) {
    let probe = Probe::matrix(4, 3, 0.3e-3, 0.5e-3).unwrap();
    let recording = Recording {
        samples: 4096,
        ..linear_array().1
    };
    let acquisition = acquisition(
        probe,
        &recording,
        vec![Transmit::new(straight_down())],
        Mixing::Analytic,
    );
    let (x, y, z) = (
        axis(-3e-3, 5e-3, 9).unwrap(),
        axis(-2e-3, 4e-3, 7).unwrap(),
        axis(10e-3, 14e-3, 5).unwrap(),
    );
    let grid = Grid::cartesian(&x, &y, &z).unwrap();
    // Column 3, row 1.
    let live = [1.5 * 0.3e-3, 0.0, 0.0];
    let data = Array4::from_shape_fn((1, 12, 1, 4096), |(_, m, _, k)| if m == 4 + 3 { k as f32 } else { 0.0 });
    let plan = DasPlan::<f32>::for_acquisition(backend, &acquisition, &grid, &Reception::default()).unwrap();
    let image = plan.run(data.view()).unwrap();
    assert_eq!(image.shape(), [1, 5, 7, 9]);
    for (index, value) in image.indexed_iter() {
        let point = [x[index[3]], y[index[2]], z[index[1]]];
        let expected = (point[2] + distance(point, live)) / SOUND_SPEED * 40e6;
        assert!(
            (f64::from(*value) - expected).abs() < 1e-3,
            "{value} for {expected} at {index:?}"
        );
    }
}

/// The unitless numbers of a whole acquisition, random data, against the oracle.
fn against_the_oracle(backend: &Backend) {
    let mut rng = rng();
    let (mut acquisition, _) = linear_array();
    acquisition.probe = Probe::convex(64, 0.4e-3, 50e-3).unwrap();
    acquisition.transmits = vec![
        Transmit {
            start_time_s: 4e-6,
            ..Transmit::new(Wave::Diverging {
                source_m: [0.0, 0.0, -40e-3],
            })
        },
        Transmit {
            start_time_s: 4e-6,
            ..Transmit::new(Wave::Focused {
                focus_m: [1e-3, 0.0, 20e-3],
                near_focus: NearFocus::Spherical,
            })
        },
    ];
    let grid = Grid::plane(&axis(-12e-3, 12e-3, 17).unwrap(), &axis(1.03e-3, 31e-3, 23).unwrap()).unwrap();
    let reception = Reception {
        f_number: 1.3,
        max_angle_rad: Some(0.7),
        ..Reception::default()
    };
    let (geometry, options) = acquisition.geometry(&grid, &reception).unwrap();
    let terms = terms(&geometry, &options, Precision::Single, 1500);
    assert!(terms.ambiguous_share() < AMBIGUOUS_LIMIT);
    let data = Array4::from_shape_simple_fn((2, 64, 2, 1500), || <Complex<i16> as TestSample>::random(&mut rng));
    let plan = DasPlan::<Complex<i16>>::for_acquisition(backend, &acquisition, &grid, &reception).unwrap();
    let image = plan.run(data.view()).unwrap();
    let mut tally = Tally::default();
    tally.add::<Complex<i16>>(&image, &terms, &terms.expected(&data));
    tally.assert_within_bound::<Complex<i16>>("convex probe, diverging and focused waves", &options);
}

integration_tests::on_every_backend! {
    translated_origin: super::translated_origin;
    units: super::units;
    axis_order: super::axis_order;
    against_the_oracle: super::against_the_oracle;
}
