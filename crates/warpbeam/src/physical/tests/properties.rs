//! Delays, units, origins, phases.

use super::*;
use ndarray::{Array, Array2};
use std::f64::consts::TAU;

fn waves(random: &mut Random) -> Vec<Transmit> {
    let focused = |near_focus| Wave::Focused {
        focus_m: [2e-3, 1e-3, 30e-3],
        near_focus,
    };
    let mut wave = |wave| Transmit {
        start_time_s: 1e-6 * random.next(),
        ..Transmit::new(wave)
    };
    vec![
        wave(Wave::Plane {
            azimuth_rad: 0.2,
            elevation_rad: -0.1,
        }),
        wave(Wave::Diverging {
            source_m: [1e-3, -2e-3, -8e-3],
        }),
        wave(focused(NearFocus::Spherical)),
        wave(Wave::SyntheticAperture { element: 17 }),
        wave(focused(NearFocus::Hybrid { margin_m: 4e-3 })),
        wave(focused(NearFocus::Unified { f_number: 2.0 })),
    ]
}

/// All lengths of an acquisition and its sound speed times `factor`.
fn rescale(acquisition: &Acquisition, factor: f64) -> Acquisition {
    let scale = |point: [f64; 3]| point.map(|part| part * factor);
    let mut scaled = acquisition.clone();
    scaled.probe = Probe::free(
        &acquisition.probe.positions_m() * factor,
        acquisition.probe.normals().to_owned(),
    )
    .unwrap();
    scaled.medium.sound_speed_m_s *= factor;
    for transmit in &mut scaled.transmits {
        transmit.origin_m = scale(transmit.origin_m);
        match &mut transmit.wave {
            Wave::Diverging { source_m: point } => *point = scale(*point),
            Wave::Focused {
                focus_m: point,
                near_focus,
            } => {
                *point = scale(*point);
                if let NearFocus::Hybrid { margin_m } = near_focus {
                    *margin_m *= factor;
                }
            }
            Wave::Plane { .. } | Wave::SyntheticAperture { .. } => {}
        }
    }
    scaled
}

/// An acquisition and a grid, moved through space by `shift`.
fn shifted(acquisition: &Acquisition, points_m: &Array<f64, ndarray::Ix3>, shift: [f64; 3]) -> (Acquisition, Grid) {
    let shift_row = ndarray::arr1(&shift);
    let move_point = |point: [f64; 3]| [point[0] + shift[0], point[1] + shift[1], point[2] + shift[2]];
    let mut moved = acquisition.clone();
    moved.probe = Probe::free(
        &acquisition.probe.positions_m() + &shift_row,
        acquisition.probe.normals().to_owned(),
    )
    .unwrap();
    for transmit in &mut moved.transmits {
        transmit.origin_m = move_point(transmit.origin_m);
        match &mut transmit.wave {
            Wave::Diverging { source_m: point } | Wave::Focused { focus_m: point, .. } => *point = move_point(*point),
            Wave::Plane { .. } | Wave::SyntheticAperture { .. } => {}
        }
    }
    (moved, Grid::free((points_m + &shift_row).into_dyn()).unwrap())
}

fn cloud(random: &mut Random) -> Array<f64, ndarray::Ix3> {
    Array::from_shape_fn((3, 5, 3), |(_, _, axis)| {
        10e-3 * random.next() + if axis == 2 { 25e-3 } else { 0.0 }
    })
}

#[test]
fn lengths_and_sound_speed_in_millimetres() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut acquisition = acquisition(waves(&mut random));
        acquisition.transmits[0].origin_m = random.point(1e-3);
        let points = cloud(&mut random);
        let original = acquisition
            .geometry(&Grid::free(points.clone().into_dyn()).unwrap(), &Reception::default())
            .unwrap();
        let grid = Grid::free((points * 1e-3).into_dyn()).unwrap();
        let scaled = rescale(&acquisition, 1e-3)
            .geometry(&grid, &Reception::default())
            .unwrap();
        let worst = difference(&original.0, &scaled.0);
        println!("seed {seed}: {worst:.1e} of 1e-13");
        assert!(worst < 1e-13);
        assert_eq!(original.1, scaled.1);
    }
}

#[test]
fn the_whole_scene_moved() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut acquisition = acquisition(waves(&mut random));
        acquisition.transmits[1].origin_m = random.point(1e-3);
        let points = cloud(&mut random);
        let (original, _) = acquisition
            .geometry(&Grid::free(points.clone().into_dyn()).unwrap(), &Reception::default())
            .unwrap();
        let (moved, grid) = shifted(&acquisition, &points, random.point(50e-3));
        let (moved, _) = moved.geometry(&grid, &Reception::default()).unwrap();
        let mut worst = 0.0_f64;
        for transmit in 0..4 {
            for voxel in 0..15 {
                for channel in [0, 17, 127] {
                    let samples = [&original, &moved].map(|geometry| sample(geometry, transmit, voxel, channel));
                    worst = worst.max((samples[0] - samples[1]).abs());
                }
            }
        }
        println!("seed {seed}: {worst:.1e} of 1e-9 samples");
        assert!(worst < 1e-9);
    }
}

#[test]
fn t_0_may_be_told_for_any_origin() {
    // t = 0 when the wave crosses the first element instead of the centre: the recording starts at another time.
    let tilted = Wave::Plane {
        azimuth_rad: 0.3,
        elevation_rad: 0.0,
    };
    let first = [-63.5 * 0.3e-3, 0.0, 0.0];
    let at_centre = Transmit {
        start_time_s: 2e-6,
        ..Transmit::new(tilted)
    };
    let earlier_s = first[0] * 0.3_f64.sin() / 1540.0;
    let at_first = Transmit {
        start_time_s: 2e-6 - earlier_s,
        origin_m: first,
        ..Transmit::new(tilted)
    };
    let grid = Grid::plane(&[-5e-3, 4e-3], &[10e-3, 30e-3]).unwrap();
    let geometry = acquisition(vec![at_centre, at_first])
        .geometry(&grid, &Reception::default())
        .unwrap()
        .0;
    for voxel in 0..4 {
        assert!((sample(&geometry, 0, voxel, 5) - sample(&geometry, 1, voxel, 5)).abs() < 1e-9);
    }
}

#[test]
fn start_time_and_pulse_centre() {
    // A point at 20 mm on the axis of element 64, recorded from 2 µs on; the pulse peaks 250 ns after its start.
    let point = [0.15e-3, 0.0, 20e-3];
    let mut acquisition = acquisition(vec![Transmit {
        start_time_s: 2e-6,
        ..plane_wave()
    }]);
    acquisition.pulse_centre_s = 250e-9;
    let (geometry, _) = acquisition.geometry(&one_voxel(point), &Reception::default()).unwrap();
    let expected = (2.0 * 20e-3 / 1540.0 - 2e-6 + 250e-9) * 40e6;
    assert!((sample(&geometry, 0, 0, 64) - expected).abs() < 1e-9);
    // A start sample of 100 at 65 MHz, decimated by 4.
    acquisition.transmits[0].start_time_s = 100.0 / 65e6;
    acquisition.sampling_frequency_hz = 65e6 / 4.0;
    let (geometry, _) = acquisition.geometry(&one_voxel(point), &Reception::default()).unwrap();
    let expected = (2.0 * 20e-3 / 1540.0 + 250e-9) * 65e6 / 4.0 - 25.0;
    assert!((sample(&geometry, 0, 0, 64) - expected).abs() < 1e-9);
}

#[test]
fn every_wave_and_an_uneven_probe_written_out() {
    let uneven = |element: usize| {
        [
            0.2e-3 * element as f64 + 0.1e-3 * (element % 3) as f64,
            0.05e-3 * element as f64,
            0.0,
        ]
    };
    let positions = Array2::from_shape_fn((40, 3), |(element, axis)| uneven(element)[axis]);
    let normals = Array2::from_shape_fn((40, 3), |(_, axis)| if axis == 2 { 1.0 } else { 0.0 });
    let mut random = Random(7);
    let mut acquisition = acquisition(waves(&mut random));
    acquisition.probe = Probe::free(positions, normals).unwrap();
    for transmit in &mut acquisition.transmits {
        transmit.origin_m = [0.5e-3, -0.25e-3, 0.1e-3];
    }
    let origin = acquisition.transmits[0].origin_m;
    let between =
        |a: [f64; 3], b: [f64; 3]| ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2)).sqrt();
    let (source, focus) = ([1e-3, -2e-3, -8e-3], [2e-3, 1e-3, 30e-3]);
    let mut insides = [false; 2];
    for point in [[3e-3, 1e-3, 12e-3], [-4e-3, 2e-3, 45e-3], [5e-3, 0.0, 28e-3]] {
        let focal_length = between(origin, focus);
        let beyond: f64 = (0..3)
            .map(|axis| (point[axis] - focus[axis]) * (focus[axis] - origin[axis]) / focal_length)
            .sum();
        let spherical = focal_length + beyond.signum() * between(point, focus);
        let beside = (between(point, focus).powi(2) - beyond.powi(2)).sqrt();
        let is_within_cone = beyond.abs() > 4.0 * beside;
        insides[usize::from(is_within_cone)] = true;
        let ways = [
            (point[0] - origin[0]) * 0.2_f64.sin() * 0.1_f64.cos() - (point[1] - origin[1]) * 0.1_f64.sin()
                + (point[2] - origin[2]) * 0.2_f64.cos() * 0.1_f64.cos(),
            between(point, source) - between(origin, source),
            spherical,
            between(point, uneven(17)),
            if beyond.abs() < 4e-3 {
                focal_length + beyond
            } else {
                spherical
            },
            if is_within_cone {
                spherical
            } else {
                focal_length + beyond * 17.0_f64.sqrt() / 4.0
            },
        ];
        let (geometry, _) = acquisition.geometry(&one_voxel(point), &Reception::default()).unwrap();
        for (index, way) in ways.iter().enumerate() {
            let start_time_s = acquisition.transmits[index].start_time_s;
            for channel in 0..40 {
                let expected = ((way + between(point, uneven(channel))) / 1540.0 - start_time_s) * 40e6;
                assert!(
                    (sample(&geometry, index, 0, channel) - expected).abs() < 1e-9,
                    "wave {index}, channel {channel}"
                );
            }
        }
    }
    assert_eq!(insides, [true; 2], "points inside and outside the cone");
}

#[test]
fn the_phase_counts_from_the_transmit() {
    let frequency_hz = 5e6;
    let mut acquisition = acquisition(waves(&mut Random(3)));
    acquisition.demodulation_frequency_hz = Some(frequency_hz);
    acquisition.pulse_centre_s = 130e-9;
    let (geometry, options) = acquisition
        .geometry(&one_voxel([1e-3, 0.0, 22e-3]), &Reception::default())
        .unwrap();
    for (index, transmit) in acquisition.transmits.iter().enumerate() {
        let index_in_data = sample(&geometry, index, 0, 40);
        let phase = options.phase_per_sample * index_in_data + options.phase_offsets[index];
        let since_transmit_s = index_in_data / 40e6 + transmit.start_time_s;
        assert!((phase - TAU * frequency_hz * since_transmit_s).abs() < 1e-9);
    }
    acquisition.demodulation_frequency_hz = None;
    let (_, options) = acquisition
        .geometry(&one_voxel([1e-3, 0.0, 22e-3]), &Reception::default())
        .unwrap();
    assert_eq!((options.phase_per_sample, options.phase_offsets), (0.0, vec![0.0; 6]));
}

#[test]
fn weights_are_one_unless_given() {
    let grid = Grid::plane(&[0.0, 1e-3, 2e-3], &[10e-3, 20e-3]).unwrap();
    let own = Array::from_shape_fn((2, 3), |(z, x)| (z * 3 + x) as f64);
    let weighted = Transmit {
        weights: Some(own.clone().into_dyn()),
        ..plane_wave()
    };
    let (geometry, _) = acquisition(vec![plane_wave(), weighted])
        .geometry(&grid, &Reception::default())
        .unwrap();
    assert_eq!(geometry.transmit_weights.shape(), [2, 2, 3]);
    assert!(
        geometry
            .transmit_weights
            .index_axis(ndarray::Axis(0), 0)
            .iter()
            .all(|weight| *weight == 1.0)
    );
    assert_eq!(
        geometry.transmit_weights.index_axis(ndarray::Axis(0), 1),
        own.into_dyn()
    );
    geometry.validate().unwrap();
}
