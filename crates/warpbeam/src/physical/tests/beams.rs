//! Which voxels a transmit reaches.

use super::*;
use crate::Window;

const APERTURE_M: f64 = 12e-3;
const LEAST_WIDTH_M: f64 = 0.8e-3;

/// The weights of a wave in points, for a boxcar and for a Hann window.
fn weights(wave: Wave, points_m: &[[f64; 3]]) -> [Vec<f64>; 2] {
    let flat = points_m.concat();
    let grid = Grid::free(
        ndarray::Array2::from_shape_vec((points_m.len(), 3), flat)
            .unwrap()
            .into_dyn(),
    )
    .unwrap();
    let probe = Probe::linear(64, 0.3e-3).unwrap();
    [Window::Boxcar, Window::Hann].map(|window| {
        let beam = Beam {
            aperture_m: APERTURE_M,
            least_width_m: LEAST_WIDTH_M,
            window,
        };
        beam.weights(&Transmit::new(wave), &probe, &grid)
            .unwrap()
            .iter()
            .copied()
            .collect()
    })
}

/// Points `ratio` of a half-width beside an axis, on alternating sides, and what is expected there.
fn check(wave: Wave, on_axis: &[([f64; 3], f64)], across: [f64; 3]) {
    for ratio in [0.0, 0.3, 0.99, 1.01, 3.0] {
        let points: Vec<_> = on_axis
            .iter()
            .enumerate()
            .map(|(index, (point, half_width))| {
                let side = if index % 2 == 0 { ratio } else { -ratio };
                [0, 1, 2].map(|axis| point[axis] + side * half_width * across[axis])
            })
            .collect();
        let [boxcar, hann] = weights(wave, &points);
        let expected = if ratio < 1.0 {
            (std::f64::consts::FRAC_PI_2 * ratio).cos().powi(2)
        } else {
            0.0
        };
        for (index, (boxcar, hann)) in boxcar.iter().zip(&hann).enumerate() {
            let where_ = points[index];
            assert!(
                (boxcar - f64::from(ratio < 1.0)).abs() < 1e-12,
                "{wave:?} {where_:?}: {boxcar}"
            );
            assert!(
                (hann - expected).abs() < 1e-9,
                "{wave:?} {where_:?}: {hann}, expected {expected}"
            );
        }
    }
}

#[test]
fn half_widths_along_every_beam() {
    let half = APERTURE_M / 2.0;
    let (sine, cosine) = 0.2_f64.sin_cos();
    let along = |t: f64| [t * sine, 0.0, t * cosine];
    let across = [cosine, 0.0, -sine];
    let plane = Wave::Plane {
        azimuth_rad: 0.2,
        elevation_rad: 0.0,
    };
    check(plane, &[(along(5e-3), half), (along(40e-3), half)], across);
    let focused = Wave::Focused {
        focus_m: along(30e-3),
        near_focus: NearFocus::Spherical,
    };
    let widths = [
        (along(0.0), half),
        (along(15e-3), half / 2.0),
        (along(30e-3), LEAST_WIDTH_M / 2.0),
        (along(29.5e-3), LEAST_WIDTH_M / 2.0),
        (along(90e-3), 2.0 * half),
    ];
    check(focused, &widths, across);
    check(focused, &widths, [0.0, 1.0, 0.0]);
    let diverging = Wave::Diverging {
        source_m: along(-10e-3),
    };
    check(diverging, &[(along(0.0), half), (along(20e-3), 3.0 * half)], across);
}

#[test]
fn nothing_behind_a_source_and_no_beam_of_an_element() {
    let source_m = [0.0, 0.0, -10e-3];
    let [boxcar, hann] = weights(Wave::Diverging { source_m }, &[[0.0, 0.0, -12e-3], [0.0, 0.0, -9e-3]]);
    assert_eq!((boxcar, hann), (vec![0.0, 1.0], vec![0.0, 1.0]));
    let [boxcar, hann] = weights(
        Wave::SyntheticAperture { element: 3 },
        &[[0.0, 0.0, 12e-3], [1.0, 2.0, -9e-3]],
    );
    assert_eq!((boxcar, hann), (vec![1.0; 2], vec![1.0; 2]));
}

#[test]
fn widths_are_checked() {
    let grid = Grid::plane(&[0.0], &[1e-3]).unwrap();
    let probe = Probe::linear(4, 0.3e-3).unwrap();
    let plane = Transmit::new(Wave::Plane {
        azimuth_rad: 0.0,
        elevation_rad: 0.0,
    });
    let beam = Beam {
        aperture_m: 1e-3,
        least_width_m: 1e-3,
        window: Window::Boxcar,
    };
    let message = |beam: Beam| beam.weights(&plane, &probe, &grid).unwrap_err().to_string();
    assert_eq!(
        message(Beam {
            aperture_m: 0.0,
            ..beam
        }),
        "a beam's aperture_m is 0; it must be positive and finite"
    );
    assert!(
        message(Beam {
            least_width_m: f64::NAN,
            ..beam
        })
        .contains("a beam's least_width_m is NaN")
    );
    let window = Window::Tukey { taper: 1.5 };
    assert!(message(Beam { window, ..beam }).contains("from 0 (boxcar) to 1 (Hann)"));
}
