//! Sectors to Cartesian images: functions of range and angles that linear interpolation gives exactly, at the voxels'
//! own coordinates.

use integration_tests::on_every_backend;
use integration_tests::random::{between, rng};
use ndarray::{ArrayD, Dimension, IxDyn};
use num_complex::Complex;
use warpbeam::ops::{InterpolationMethod, SectorGrid, scan_convert};
use warpbeam::physical::axis;
use warpbeam::{Backend, Grid};

/// Range, azimuth and elevation of a place.
fn polar(place: [f64; 3], apex: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = [0, 1, 2].map(|axis| place[axis] - apex[axis]);
    let range = (x * x + y * y + z * z).sqrt();
    [range, x.atan2(z), y.atan2(x.hypot(z))]
}

/// Even coordinates, or uneven ones.
fn coordinates(rng: &mut fastrand::Rng, low: f64, high: f64, count: usize) -> Vec<f64> {
    let mut coordinates = axis(low, high, count).unwrap();
    let step = (high - low) / count.max(2) as f64;
    if rng.bool() {
        for coordinate in coordinates.iter_mut().skip(1).rev().skip(1) {
            *coordinate += step * between(rng, -0.3, 0.3);
        }
    }
    if rng.bool() {
        coordinates.reverse();
    }
    coordinates
}

fn positions(grid: &Grid) -> Vec<[f64; 3]> {
    let positions = grid.positions_m().unwrap();
    let (points, _) = positions.as_slice().unwrap().as_chunks::<3>();
    points.to_vec()
}

/// Images of functions that are linear in range and angles; `fill` where there is no sector.
fn images(backend: &Backend) {
    let mut rng = rng();
    for run in 0..12 {
        let scale = [0.1, 1e-4, 3.0][run % 3];
        let range = coordinates(&mut rng, scale * [0.0, 0.4][run % 2], scale, 40);
        let azimuth = coordinates(&mut rng, -0.6, 0.9, 31);
        let is_volume = run % 4 > 1;
        let elevation = coordinates(&mut rng, -0.5, 0.4, 9);
        let apex = [0.0, 0.3].map(|most| between(&mut rng, -most, most));
        let apex = [apex[0], apex[1], -0.2 * scale];
        let sector = if is_volume {
            SectorGrid::volume(&range, &azimuth, &elevation)
        } else {
            SectorGrid::plane(&range, &azimuth)
        };
        let sector = sector.unwrap().with_apex(apex).unwrap();
        let [n_azimuths, n_ranges] = [azimuth.len(), range.len()];
        let shape = if is_volume {
            vec![2, elevation.len(), n_azimuths, n_ranges]
        } else {
            vec![2, n_azimuths, n_ranges]
        };
        assert_eq!(sector.shape(), shape[1..]);
        let slopes = [
            between(&mut rng, -1.0, 1.0) / scale,
            between(&mut rng, -1.0, 1.0),
            between(&mut rng, -1.0, 1.0),
        ];
        let function = |item: usize, [range, azimuth, elevation]: [f64; 3]| {
            let value = slopes[0] * range + slopes[1] * azimuth + slopes[2] * elevation;
            Complex::new(value as f32, (item + 1) as f32)
        };
        let values = ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let n = at.ndim();
            let angle = if is_volume { elevation[at[1]] } else { 0.0 };
            function(at[0], [range[at[n - 1]], azimuth[at[n - 2]], angle])
        });
        let (x, z) = (
            axis(-scale, scale, 23).unwrap(),
            axis(-0.3 * scale, 1.2 * scale, 29).unwrap(),
        );
        let grid = if is_volume {
            Grid::cartesian(&x, &axis(apex[1] - 0.6 * scale, apex[1] + 0.6 * scale, 11).unwrap(), &z)
        } else {
            let points: Vec<[f64; 3]> = z.iter().flat_map(|z| x.iter().map(|x| [*x, apex[1], *z])).collect();
            let points = ndarray::Array2::from(points)
                .into_shape_with_order(IxDyn(&[29, 23, 3]))
                .unwrap();
            Grid::free(points)
        };
        let grid = grid.unwrap();
        let fill = Complex::new(-9.0, -9.0);
        let image = scan_convert(backend, &sector, values.view(), &grid, fill).unwrap();
        assert_eq!(image.shape(), [&[2], &grid.shape()[..]].concat());
        let ends = |nodes: &[f64]| {
            (
                nodes[0].min(nodes[nodes.len() - 1]),
                nodes[0].max(nodes[nodes.len() - 1]),
            )
        };
        let (mut inside, mut outside, mut worst) = (0, 0, 0.0_f32);
        let voxels = positions(&grid);
        for (number, got) in image.iter().enumerate() {
            let at = polar(voxels[number % voxels.len()], apex);
            let margins = [scale, 1.0, 1.0].map(|unit| 1e-4 * unit);
            let bounds = [
                ends(&range),
                ends(&azimuth),
                if is_volume { ends(&elevation) } else { (-1.0, 1.0) },
            ];
            let beyond = (0..3)
                .map(|i| ((bounds[i].0 - at[i]).max(at[i] - bounds[i].1)) / margins[i])
                .fold(f64::MIN, f64::max);
            if beyond > 1.0 {
                outside += 1;
                assert_eq!(*got, fill, "{at:?}");
            } else if beyond < -1.0 {
                inside += 1;
                let expected = function(number / voxels.len(), at);
                worst = worst
                    .max((got.re - expected.re).abs())
                    .max((got.im - expected.im).abs());
            }
        }
        println!("{worst:9.2e} of 2e-6 allowed: {inside} voxels in a sector of {scale} m, {outside} outside");
        assert!(
            worst <= 2e-6 && inside > 100 && outside > 100,
            "{worst:e}, {inside}, {outside}"
        );
    }
}

/// Samples of a sector at their own places are exactly themselves, by every method and from convex probes too.
fn samples_are_exact(backend: &Backend) {
    let mut rng = rng();
    let azimuth = axis(-0.5, 0.5, 17).unwrap();
    let depth = axis(1e-3, 60e-3, 25).unwrap();
    let sector = SectorGrid::convex(40e-3, &depth, &azimuth).unwrap();
    let positions = sector.positions_m().unwrap();
    assert_eq!(positions.shape(), [17, 25, 3]);
    // The middle beam is straight ahead of the probe's middle.
    assert!((positions[[8, 3, 2]] - depth[3]).abs() < 1e-15 && positions[[8, 3, 0]].abs() < 1e-15);
    let values = ArrayD::from_shape_simple_fn(IxDyn(&[17, 25]), || between(&mut rng, -1.0, 1.0));
    let grid = Grid::free(positions).unwrap();
    for method in [
        InterpolationMethod::Nearest,
        InterpolationMethod::Trilinear,
        InterpolationMethod::Tetrahedral,
    ] {
        let points = sector.prepare(backend, &grid, method).unwrap();
        assert_eq!(points.run(values.view(), f64::NAN).unwrap(), values, "{method:?}");
    }
    // Half-way along a beam.
    let half = Grid::free(ndarray::arr2(&[[0.0, 0.0, 0.5 * (depth[3] + depth[4])]]).into_dyn()).unwrap();
    let image = scan_convert(backend, &sector, values.view(), &half, f64::NAN).unwrap();
    assert!((image[0] - 0.5 * (values[[8, 3]] + values[[8, 4]])).abs() < 1e-12);
}

fn refused(backend: &Backend) {
    let message = |result: Result<SectorGrid, warpbeam::Error>| match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(SectorGrid::plane(&[-1.0, 1.0], &[0.0])),
        "the range is -1; it must be not negative"
    );
    assert_eq!(
        message(SectorGrid::plane(&[1.0], &[0.0, 4.0])),
        "the azimuth is 4; it must be between -π and π radians"
    );
    assert_eq!(
        message(SectorGrid::volume(&[1.0], &[0.0], &[0.0, 1.6])),
        "the elevation is 1.6; it must be between -π/2 and π/2 radians"
    );
    assert_eq!(
        message(SectorGrid::plane(&[1.0, 2.0, 1.5], &[0.0])),
        "a step from one coordinate of an axis to the next is -0.5; it must be of the same sign as all others, and not 0"
    );
    assert_eq!(
        message(SectorGrid::plane(&[], &[0.0])),
        "the range is empty (shape [0]); at least 1 needed along every axis"
    );
    assert_eq!(
        message(SectorGrid::plane(&[1.0], &[0.0, f64::NAN])),
        "the azimuth at [1] is NaN; it must be finite"
    );
    assert_eq!(
        message(SectorGrid::convex(-1.0, &[1.0], &[0.0])),
        "radius_m is -1; it must be finite and not negative"
    );
    let sector = SectorGrid::plane(&[1.0, 2.0], &[0.0, 0.1]).unwrap();
    let error = sector.clone().with_apex([0.0, f64::INFINITY, 0.0]).unwrap_err();
    assert_eq!(error.to_string(), "the apex at [1] is inf; it must be finite");
    let grid = Grid::plane(&[0.0], &[1.5]).unwrap();
    let values = ArrayD::<f32>::zeros(IxDyn(&[2, 3]));
    let error = scan_convert(backend, &sector, values.view(), &grid, 0.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the values at the grid's nodes has shape [2, 3]; expected [2, 2]"
    );
}

on_every_backend! {
    images: super::images;
    samples_are_exact: super::samples_are_exact;
    refused: super::refused;
}
