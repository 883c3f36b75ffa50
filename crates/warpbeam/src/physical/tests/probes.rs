//! Where elements and voxels are.

use super::*;
use crate::{Error, Window};
use ndarray::array;
use wavefield::aperture::{Aperture, receive_weight};
use wavefield::geometry::length;

#[test]
fn linear_is_centred_and_runs_along_x() {
    let probe = Probe::linear(128, 0.3e-3).unwrap();
    let positions = probe.positions_m();
    assert!((positions[[0, 0]] + 63.5 * 0.3e-3).abs() < 1e-17 && (positions[[127, 0]] - 63.5 * 0.3e-3).abs() < 1e-17);
    assert!((positions[[64, 0]] - 0.15e-3).abs() < 1e-17);
    assert!(
        positions
            .columns()
            .into_iter()
            .skip(1)
            .all(|column| column.iter().all(|value| *value == 0.0))
    );
    assert!(
        probe
            .normals()
            .rows()
            .into_iter()
            .all(|normal| normal == array![0.0, 0.0, 1.0])
    );
}

#[test]
fn matrix_counts_along_x_first() {
    let probe = Probe::matrix(4, 3, 1e-3, 2e-3).unwrap();
    assert_eq!(probe.n_elements(), 12);
    for y in 0..3 {
        for x in 0..4 {
            let expected = array![(x as f64 - 1.5) * 1e-3, (y as f64 - 1.0) * 2e-3, 0.0];
            assert_eq!(probe.positions_m().row(y * 4 + x), expected);
        }
    }
}

#[test]
fn convex_of_60_mm_over_60_degrees() {
    let (n_elements, radius_m) = (128, 60e-3);
    let step_rad = 60_f64.to_radians() / 127.0;
    let pitch_m = 2.0 * radius_m * (step_rad / 2.0).sin();
    let probe = Probe::convex(n_elements, pitch_m, radius_m).unwrap();
    let (positions, normals) = (probe.positions_m(), probe.normals());
    let (sine, cosine) = 30_f64.to_radians().sin_cos();
    for (element, side) in [(0, -1.0), (127, 1.0)] {
        let expected = [side * radius_m * sine, 0.0, radius_m * (cosine - 1.0)];
        for axis in 0..3 {
            assert!(
                (positions[[element, axis]] - expected[axis]).abs() < 1e-15,
                "element {element}"
            );
            assert!(
                (normals[[element, axis]] - [side * sine, 0.0, cosine][axis]).abs() < 1e-13,
                "element {element}"
            );
        }
    }
    for element in 1..n_elements {
        let step = &positions.row(element) - &positions.row(element - 1);
        assert!((step.dot(&step).sqrt() - pitch_m).abs() < 1e-15);
        let normal = normals.row(element);
        let from_centre = &positions.row(element) + &array![0.0, 0.0, radius_m];
        assert!((from_centre.dot(&normal) - radius_m).abs() < 1e-15 && (normal.dot(&normal) - 1.0).abs() < 1e-15);
    }
}

#[test]
fn a_convex_probe_of_one_element_looks_ahead() {
    let probe = Probe::convex(1, 0.3e-3, 60e-3).unwrap();
    assert_eq!(
        (probe.positions_m(), probe.normals()),
        (array![[0.0, 0.0, 0.0]].view(), array![[0.0, 0.0, 1.0]].view())
    );
}

#[test]
fn convex_aperture_is_symmetric_about_the_element_that_faces_the_voxel() {
    // 241 elements, a quarter of a degree apart: element 220 is at +25°.
    let radius_m = 60e-3;
    let pitch_m = 2.0 * radius_m * (0.125_f64.to_radians()).sin();
    let probe = Probe::convex(241, pitch_m, radius_m).unwrap();
    let (faces, ahead_m) = (220, 20e-3);
    let voxel = &probe.positions_m().row(faces) + &(&probe.normals().row(faces) * ahead_m);
    let acquisition = Acquisition {
        probe,
        ..acquisition(vec![plane_wave()])
    };
    let reception = Reception {
        f_number: 1.5,
        ..Reception::default()
    };
    let (geometry, options) = acquisition
        .geometry(&one_voxel([voxel[0], 0.0, voxel[2]]), &reception)
        .unwrap();
    let normals = geometry.element_normals.as_ref().unwrap();
    let aperture = Aperture::new(options.f_number, options.window, 0.0);
    let voxels = geometry.voxel_positions.to_shape((1, 3)).unwrap();
    let active: Vec<usize> = (0..241)
        .filter(|element| {
            let offset = &voxels.row(0) - &geometry.element_positions.row(*element);
            let (offset, normal) = ([offset[0], offset[1], offset[2]], normals.row(*element));
            receive_weight(
                offset,
                length(offset),
                [normal[0], normal[1], normal[2]],
                -1.0,
                &aperture,
            ) > 0.0
        })
        .collect();
    assert!(active.len() > 10 && active.len() < 41, "{} elements", active.len());
    assert_eq!(faces - active[0], active[active.len() - 1] - faces);
}

#[test]
fn flat_probes_need_no_normals_and_a_largest_angle_becomes_a_cosine() {
    let acquisition = acquisition(vec![plane_wave()]);
    let grid = one_voxel([0.0, 0.0, 20e-3]);
    let (geometry, _) = acquisition.geometry(&grid, &Reception::default()).unwrap();
    assert_eq!((geometry.element_normals, geometry.element_cosine_bounds), (None, None));
    let reception = Reception {
        max_angle_rad: Some(60_f64.to_radians()),
        window: Window::Hann,
        ..Reception::default()
    };
    let (geometry, options) = acquisition.geometry(&grid, &reception).unwrap();
    assert!(
        geometry
            .element_cosine_bounds
            .unwrap()
            .iter()
            .all(|bound| (bound - 0.5).abs() < 1e-15)
    );
    assert_eq!(options.window, Window::Hann);
}

#[test]
fn free_normals_are_made_unit_vectors() {
    let probe = Probe::free(
        array![[0.0, 0.0, 0.0], [1e-3, 0.0, 0.0]],
        array![[0.0, 0.0, 7.0], [3e-9, 0.0, 4e-9]],
    )
    .unwrap();
    assert_eq!(probe.normals().row(0), array![0.0, 0.0, 1.0]);
    assert!((probe.normals()[[1, 0]] - 0.6).abs() < 1e-15 && (probe.normals()[[1, 2]] - 0.8).abs() < 1e-15);
}

#[test]
fn grid_is_z_y_x() {
    let (x, y, z) = (
        axis(-4e-3, 4e-3, 9).unwrap(),
        axis(1e-3, 7e-3, 7).unwrap(),
        axis(10e-3, 14e-3, 5).unwrap(),
    );
    let grid = Grid::cartesian(&x, &y, &z).unwrap();
    assert_eq!(grid.shape(), [5, 7, 9]);
    let positions = grid.positions_m().unwrap();
    assert_eq!(positions.shape(), [5, 7, 9, 3]);
    for ([iz, iy, ix], expected) in [([4, 0, 8], [4e-3, 1e-3, 14e-3]), ([1, 2, 3], [-1e-3, 3e-3, 11e-3])] {
        for axis in 0..3 {
            assert!((positions[[iz, iy, ix, axis]] - expected[axis]).abs() < 1e-17);
        }
    }
    let plane = Grid::plane(&x, &z).unwrap();
    assert_eq!(plane.shape(), [5, 9]);
    let positions = plane.positions_m().unwrap();
    assert_eq!(
        [positions[[4, 8, 0]], positions[[4, 8, 1]], positions[[4, 8, 2]]],
        [x[8], 0.0, z[4]]
    );
}

#[test]
fn free_points_keep_their_shape_whatever_their_layout() {
    let points = ndarray::Array::from_shape_fn((2, 3, 4, 3), |(a, b, c, d)| {
        (a * 100 + b * 10 + c) as f64 + 0.25 * d as f64
    });
    let strided = points
        .clone()
        .reversed_axes()
        .as_standard_layout()
        .to_owned()
        .reversed_axes();
    assert!(!strided.is_standard_layout());
    let grid = Grid::free(strided.into_dyn()).unwrap();
    assert_eq!(grid.shape(), [2, 3, 4]);
    assert_eq!(grid.positions_m().unwrap(), points.into_dyn());
}

#[test]
fn axis_ends_where_it_says() {
    assert_eq!(axis(-1.0, 1.0, 5).unwrap(), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    assert_eq!(
        (axis(0.1, 0.7, 11).unwrap()[10], axis(3.0, 9.0, 1).unwrap()),
        (0.7, vec![3.0])
    );
    assert!(axis(3.0, 9.0, 0).unwrap().is_empty());
}

#[test]
fn more_than_memory_is_an_error() {
    let huge = usize::MAX / 16;
    let out_of_memory = |error: Error| assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    out_of_memory(axis(0.0, 1.0, huge).unwrap_err());
    out_of_memory(Probe::linear(huge, 1e-3).unwrap_err());
    out_of_memory(Probe::matrix(huge, huge, 1e-3, 1e-3).unwrap_err());
    out_of_memory(Probe::convex(huge, 1e-30, 1.0).unwrap_err());
    // 2³⁶ voxels are 1.6 TB of positions, 2⁶⁶ more than can be counted.
    for n in [1 << 12, 1 << 22] {
        let line = axis(0.0, 1.0, n).unwrap();
        let grid = Grid::cartesian(&line, &line, &line).unwrap();
        out_of_memory(grid.positions_m().unwrap_err());
        out_of_memory(
            acquisition(vec![plane_wave()])
                .geometry(&grid, &Reception::default())
                .unwrap_err(),
        );
    }
    // The positions alone would fit, ten thousand transmits over them do not.
    let line = axis(0.0, 1.0, 100).unwrap();
    let grid = Grid::cartesian(&line, &line, &line).unwrap();
    let many = acquisition(vec![plane_wave(); 100_000]);
    let error = many.geometry(&grid, &Reception::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the geometry of all voxels and transmits needs 1600024000000 bytes"),
        "{error}"
    );
}
