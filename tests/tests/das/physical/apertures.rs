//! Which elements a voxel hears, and that every voxel hears some.

#![expect(clippy::float_cmp, reason = "sums of ones are exact")]

use super::{CARRIER, SOUND_SPEED, acquisition, linear_array, straight_down};
use integration_tests::simulate::{Mixing, Recording};
use ndarray::{Array4, array};
use warpbeam::physical::axis;
use warpbeam::{Backend, DasPlan, Grid, Probe, Reception, Transmit};

/// Which elements a voxel hears: traces of ones, one live element a frame.
fn active_elements(backend: &Backend, probe: Probe, point: [f64; 3], reception: &Reception) -> Vec<usize> {
    let n = probe.n_elements();
    let recording = Recording {
        samples: 4000,
        ..linear_array().1
    };
    let acquisition = acquisition(
        probe,
        &recording,
        vec![Transmit::new(straight_down())],
        Mixing::Analytic,
    );
    let grid = Grid::free(array![point].into_dyn()).unwrap();
    let data = Array4::from_shape_fn((n, n, 1, 4000), |(b, m, _, _)| i16::from(b == m));
    let plan = DasPlan::<i16>::for_acquisition(backend, &acquisition, &grid, reception).unwrap();
    let image = plan.run(data.view()).unwrap();
    (0..n).filter(|b| image[[*b, 0]] == 1.0).collect()
}

/// Depth over the aperture's width: 30 mm at F 1.5 is 10 mm to either side; a convex probe counts along its normals.
fn apertures(backend: &Backend) {
    let reception = Reception {
        f_number: 1.5,
        ..Reception::default()
    };
    let probe = Probe::linear(128, 0.3e-3).unwrap();
    let active = active_elements(backend, probe, [0.0, 0.0, 30e-3], &reception);
    assert_eq!((active.len(), active[0], active[65]), (66, 31, 96));

    let pitch = 2.0 * 60e-3 * (0.25_f64.to_radians()).sin();
    let probe = Probe::convex(121, pitch, 60e-3).unwrap();
    // Element 110 looks 25° to the side.
    let (sine, cosine) = 25.0_f64.to_radians().sin_cos();
    let point = [80e-3 * sine, 0.0, 80e-3 * cosine - 60e-3];
    for reception in [
        Reception {
            f_number: 3.0,
            ..Reception::default()
        },
        Reception {
            max_angle_rad: Some(0.1),
            ..Reception::default()
        },
    ] {
        let active = active_elements(backend, probe.clone(), point, &reception);
        println!("convex: elements {active:?}");
        assert!(active.len() > 3 && active.len() < 21);
        assert_eq!(active[0] + active[active.len() - 1], 220, "symmetric about element 110");
    }
}

/// Voxels λ/20 to 5λ apart, in the probe's plane too: none is left out.
fn no_voxel_left_out(backend: &Backend) {
    let recording = Recording {
        samples: 6000,
        ..linear_array().1
    };
    let wavelength = SOUND_SPEED / CARRIER;
    for pitch in [wavelength / 20.0, wavelength / 2.0, 5.0 * wavelength] {
        let transmits = vec![Transmit::new(straight_down())];
        let acquisition = acquisition(
            Probe::linear(32, 0.3e-3).unwrap(),
            &recording,
            transmits,
            Mixing::Analytic,
        );
        let grid = Grid::plane(
            &axis(-16.0 * pitch, 16.0 * pitch, 33).unwrap(),
            &axis(0.0, 48.0 * pitch, 49).unwrap(),
        )
        .unwrap();
        let plan = DasPlan::<i16>::for_acquisition(backend, &acquisition, &grid, &Reception::default()).unwrap();
        let image = plan.run(Array4::from_elem((1, 32, 1, 6000), 1_i16).view()).unwrap();
        assert!(image.iter().all(|sum| *sum == 32.0));
    }
}

integration_tests::on_every_backend! {
    apertures: super::apertures;
    no_voxel_left_out: super::no_voxel_left_out;
}
