//! What the physical level refuses, and in which words.

use super::*;
use crate::{Result, Window};
use ndarray::{Array2, ArrayD, IxDyn, array};

fn check<T>(result: Result<T>, message: &str) {
    match result {
        Ok(_) => panic!("accepted; expected: {message}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

fn geometry(change: impl FnOnce(&mut Acquisition)) -> Result<DasGeometry> {
    let mut acquisition = acquisition(vec![plane_wave(), plane_wave()]);
    change(&mut acquisition);
    Ok(acquisition
        .geometry(&one_voxel([0.0, 0.0, 20e-3]), &Reception::default())?
        .0)
}

#[test]
fn acquisition_numbers() {
    for (value, shown) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let must = format!("is {shown}; it must be positive and finite");
        check(
            geometry(|a| a.sampling_frequency_hz = value),
            &format!("sampling_frequency_hz {must}"),
        );
        check(
            geometry(|a| a.medium.sound_speed_m_s = value),
            &format!("sound_speed_m_s {must}"),
        );
        check(
            geometry(|a| a.demodulation_frequency_hz = Some(value)),
            &format!("demodulation_frequency_hz {must}"),
        );
    }
    check(
        geometry(|a| a.pulse_centre_s = f64::NAN),
        "pulse_centre_s is NaN; it must be finite",
    );
    check(
        geometry(|a| a.transmits.clear()),
        "transmits is empty (shape [0]); at least 1 needed along every axis",
    );
}

#[test]
fn transmits() {
    let second = |wave| geometry(|a| a.transmits[1].wave = wave);
    check(
        geometry(|a| a.transmits[1].start_time_s = f64::INFINITY),
        "start_time_s of the transmits at [1] is inf; it must be finite",
    );
    check(
        geometry(|a| a.transmits[1].origin_m[2] = f64::NAN),
        "a transmit's origin_m at [2] is NaN; it must be finite",
    );
    for degrees in [90.0, f64::NAN, f64::NEG_INFINITY] {
        let message = |angle| format!("a plane wave's {angle} is {degrees}; it must be between -π/2 and π/2 radians");
        check(
            second(Wave::Plane {
                azimuth_rad: degrees,
                elevation_rad: 0.0,
            }),
            &message("azimuth_rad"),
        );
        check(
            second(Wave::Plane {
                azimuth_rad: 0.0,
                elevation_rad: degrees,
            }),
            &message("elevation_rad"),
        );
    }
    check(
        second(Wave::Diverging {
            source_m: [0.0, f64::NAN, 0.0],
        }),
        "a diverging wave's source_m at [1] is NaN; it must be finite",
    );
    check(
        second(Wave::Focused {
            focus_m: [f64::INFINITY, 0.0, 0.0],
            near_focus: NearFocus::Spherical,
        }),
        "a focused wave's focus_m at [0] is inf; it must be finite",
    );
    check(
        second(Wave::Focused {
            focus_m: [0.0; 3],
            near_focus: NearFocus::Spherical,
        }),
        "the distance of a focus from its transmit's origin is 0; it must be positive and finite",
    );
    let near_focus = |near_focus| {
        second(Wave::Focused {
            focus_m: [0.0, 0.0, 30e-3],
            near_focus,
        })
    };
    check(
        near_focus(NearFocus::Hybrid { margin_m: -1e-3 }),
        "a hybrid focus's margin_m is -0.001; it must be positive and finite",
    );
    check(
        near_focus(NearFocus::Unified { f_number: 0.0 }),
        "a unified focus's f_number is 0; it must be positive and finite",
    );
    check(
        second(Wave::SyntheticAperture { element: 128 }),
        "a transmit fires element 128; the probe has 128 elements, counted from 0",
    );
    check(
        geometry(|a| a.transmits[0].weights = Some(ArrayD::zeros(IxDyn(&[1, 1])))),
        "a transmit's weights has shape [1, 1]; expected [1, 1, 1]",
    );
}

#[test]
fn receptions() {
    let with = |reception: Reception| {
        acquisition(vec![plane_wave()])
            .geometry(&one_voxel([0.0, 0.0, 20e-3]), &reception)
            .map(|_| ())
    };
    for (f_number, shown) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let message = format!("f_number is {shown}; it must be a positive number, or 0 for all elements");
        check(
            with(Reception {
                f_number,
                ..Reception::default()
            }),
            &message,
        );
    }
    for (taper, shown) in [(-0.1, "-0.1"), (1.1, "1.1"), (f64::NAN, "NaN")] {
        let message = format!("the Tukey window's taper is {shown}; it must be from 0 (boxcar) to 1 (Hann)");
        check(
            with(Reception {
                window: Window::Tukey { taper },
                ..Reception::default()
            }),
            &message,
        );
    }
    for (angle_rad, shown) in [(-0.5, "-0.5"), (60.0, "60"), (f64::NAN, "NaN")] {
        let message = format!("max_angle_rad is {shown}; it must be from 0 to π radians, or None to hear everything");
        check(
            with(Reception {
                max_angle_rad: Some(angle_rad),
                ..Reception::default()
            }),
            &message,
        );
    }
    for taper in [0.0, 1.0] {
        with(Reception {
            window: Window::Tukey { taper },
            ..Reception::default()
        })
        .unwrap();
    }
}

#[test]
fn probes() {
    check(
        Probe::linear(0, 1e-3),
        "the probe is empty (shape [1, 0]); at least 1 needed along every axis",
    );
    check(
        Probe::matrix(4, 0, 1e-3, 1e-3),
        "the probe is empty (shape [0, 4]); at least 1 needed along every axis",
    );
    check(
        Probe::convex(0, 1e-3, 1e-2),
        "the probe is empty (shape [0]); at least 1 needed along every axis",
    );
    check(
        Probe::linear(4, f64::NAN),
        "pitch_m is NaN; it must be positive and finite",
    );
    check(
        Probe::matrix(4, 4, 1e-3, 0.0),
        "pitch_m is 0; it must be positive and finite",
    );
    check(
        Probe::convex(4, 1e-3, -1.0),
        "radius_m is -1; it must be positive and finite",
    );
    let overlapping = "it must be at most 2π radians: fewer elements, a smaller pitch or a larger radius";
    let error = Probe::convex(400, 1e-3, 60e-3).unwrap_err().to_string();
    assert!(
        error.starts_with("the angle that a convex probe's elements cover is 6.66") && error.ends_with(overlapping)
    );
    check(
        Probe::convex(4, 3.0, 1.0),
        &format!("the angle that a convex probe's elements cover is NaN; {overlapping}"),
    );

    let ahead = |n| Array2::from_shape_fn((n, 3), |(_, axis)| if axis == 2 { 1.0 } else { 0.0 });
    let free = Probe::free;
    check(
        free(Array2::zeros((4, 2)), ahead(4)),
        "positions_m has shape [4, 2]; expected a last axis of 3 (x, y, z)",
    );
    check(
        free(Array2::zeros((4, 3)), ahead(5)),
        "normals has shape [5, 3]; expected [4, 3]",
    );
    check(
        free(Array2::zeros((0, 3)), ahead(0)),
        "positions_m is empty (shape [0, 3]); at least 1 needed along every axis",
    );
    check(
        free(array![[0.0, f64::NAN, 0.0]], ahead(1)),
        "positions_m at [0, 1] is NaN; it must be finite",
    );
    check(
        free(array![[0.0; 3]], array![[0.0, 0.0, f64::INFINITY]]),
        "normals at [0, 2] is inf; it must be finite",
    );
    let message = "the length of an element normal is 0; it must be positive and finite";
    check(free(array![[0.0; 3]], array![[0.0; 3]]), message);
}

#[test]
fn grids() {
    check(
        Grid::cartesian(&[0.0], &[], &[1.0]),
        "y_m is empty (shape [0]); at least 1 needed along every axis",
    );
    check(
        Grid::plane(&[0.0], &[1.0, f64::NAN]),
        "z_m at [1] is NaN; it must be finite",
    );
    check(
        axis(0.0, f64::INFINITY, 3),
        "the ends of an axis at [1] is inf; it must be finite",
    );
    let zeros = |shape: &[usize]| ArrayD::<f64>::zeros(IxDyn(shape));
    check(
        Grid::free(zeros(&[])),
        "points_m has shape []; expected a last axis of 3 (x, y, z)",
    );
    check(
        Grid::free(zeros(&[5, 2])),
        "points_m has shape [5, 2]; expected a last axis of 3 (x, y, z)",
    );
    check(
        Grid::free(zeros(&[5, 0, 3])),
        "points_m is empty (shape [5, 0, 3]); at least 1 needed along every axis",
    );
    let mut points = zeros(&[2, 3]);
    points[[1, 0]] = f64::NEG_INFINITY;
    check(Grid::free(points), "points_m at [1, 0] is -inf; it must be finite");
}
