//! What grids, points and values are refused, by name and value.

use integration_tests::on_every_backend;
use ndarray::{Array2, Array4, ArrayD, IxDyn, arr2};
use warpbeam::ops::{InterpolationGrid, InterpolationMethod, Interpolator, PreparedPoints};
use warpbeam::{Backend, Error, Tensor};

const METHOD: InterpolationMethod = InterpolationMethod::Tetrahedral;

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.to_string(),
    }
}

fn cube() -> Array4<f64> {
    Array4::from_shape_fn((2, 3, 4, 3), |(k, j, i, axis)| [i, j, k][axis] as f64)
}

/// By both ways to make one.
fn of_nodes(backend: &Backend, nodes: &Array4<f64>) -> [Result<Interpolator, Error>; 2] {
    let stream = backend.stream().unwrap();
    let tensor = Tensor::from_array(backend, nodes).unwrap();
    [
        InterpolationGrid::curvilinear(nodes).and_then(|grid| Interpolator::new(backend, &grid, METHOD)),
        Interpolator::from_tensor(tensor, METHOD, &stream),
    ]
}

fn grids(backend: &Backend) {
    for (place, value, expected) in [
        (
            [1, 2, 0, 1],
            f64::NAN,
            "the grid's nodes at [1, 2, 0, 1] is NaN; it must be finite",
        ),
        (
            [0, 1, 3, 2],
            f64::NEG_INFINITY,
            "the grid's nodes at [0, 1, 3, 2] is -inf; it must be finite",
        ),
        (
            [0, 0, 0, 0],
            2e30,
            "a coordinate is 2000000000000000000000000000000; it must be between -1e30 and 1e30",
        ),
    ] {
        let mut nodes = cube();
        nodes[place] = value;
        nodes[[1, 2, 3, 2]] = value;
        for refused in of_nodes(backend, &nodes) {
            assert_eq!(message(refused), expected);
        }
    }
    // All in one plane, all in one place.
    let mut nodes = cube();
    nodes.index_axis_mut(ndarray::Axis(3), 2).fill(5.0);
    let flat = "all cells of the grid of [2, 3, 4] nodes are flat; \
                neighbours along its axes must lie apart and in different directions";
    for nodes in [nodes, Array4::ones((2, 3, 4, 3))] {
        for refused in of_nodes(backend, &nodes) {
            assert_eq!(message(refused), flat);
        }
    }
    for refused in of_nodes(backend, &Array4::zeros((2, 2, 2, 2))) {
        assert_eq!(
            message(refused),
            "the grid's nodes has shape [2, 2, 2, 2]; expected (z, y, x, 3)"
        );
    }
    for refused in of_nodes(backend, &Array4::zeros((2, 0, 2, 3))) {
        assert!(message(refused).starts_with("the grid's nodes is empty (shape [2, 0, 2]"));
    }
    let grid = InterpolationGrid::curvilinear(&cube()).unwrap();
    let trilinear = Interpolator::new(backend, &grid, InterpolationMethod::Trilinear);
    assert_eq!(
        message(trilinear),
        "trilinear interpolation among nodes with positions of their own is not supported; \
         Tetrahedral and Nearest take them, Trilinear takes InterpolationGrid::cartesian, lattice and sector"
    );
    assert!(
        message(InterpolationGrid::cartesian(&[0.0, 0.0], &[0.0], &[0.0]))
            .contains("is 0; it must be of the same sign")
    );
    assert!(message(InterpolationGrid::cartesian(&[0.0, 1.0], &[], &[0.0])).contains("y is empty"));
    assert!(message(InterpolationGrid::cartesian(&[0.0], &[0.0], &[0.0, f64::NAN])).contains("z at [1] is NaN"));
    let steps = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(message(InterpolationGrid::lattice([2; 3], [0.0; 3], steps)).contains("[2, 2, 2] nodes are flat"));
    assert!(InterpolationGrid::lattice([2, 1, 2], [0.0; 3], steps).is_ok());
    assert!(message(InterpolationGrid::lattice([2, 0, 2], [0.0; 3], steps)).contains("[2, 0, 2]"));
    assert!(
        message(InterpolationGrid::lattice([1 << 15; 3], [0.0; 3], steps))
            .contains("the number of nodes is 35184372088832")
    );
    assert!(
        message(InterpolationGrid::lattice([2; 3], [f64::NAN; 3], steps))
            .contains("the lattice's origin at [0] is NaN")
    );
}

fn points(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let [first, second] = of_nodes(backend, &cube());
    for interpolator in [first.unwrap(), second.unwrap()] {
        let both = |points: &Array2<f64>| -> [Result<PreparedPoints, Error>; 2] {
            let tensor = Tensor::from_array(backend, points).unwrap();
            [
                interpolator.prepare(points),
                interpolator.prepare_tensor(&tensor, &stream),
            ]
        };
        let mut points = Array2::ones((700, 3));
        points[[611, 2]] = f64::INFINITY;
        points[[690, 0]] = f64::NAN;
        for refused in both(&points) {
            assert_eq!(message(refused), "the points at [611, 2] is inf; it must be finite");
        }
        for refused in both(&arr2(&[[0.0, 0.0, -1e31]])) {
            assert!(message(refused).ends_with("it must be between -1e30 and 1e30"));
        }
        for refused in both(&arr2(&[[0.0, 0.0]])) {
            assert_eq!(message(refused), "the points has shape [1, 2]; expected (.., 3)");
        }
    }
}

fn values(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let [interpolator, _] = of_nodes(backend, &cube());
    let points = interpolator.unwrap().prepare(&Array2::<f64>::ones((5, 3))).unwrap();
    let of = |shape: &[usize]| ArrayD::<f32>::zeros(IxDyn(shape));
    for (shape, expected) in [
        (&[2, 3, 3][..], "[2, 3, 4]"),
        (&[7, 2, 2, 4], "[7, 2, 3, 4]"),
        (&[24], "[2, 3, 4]"),
        (&[1, 1, 2, 3, 4], "[2, 3, 4]"),
    ] {
        let expected = format!("the values at the grid's nodes has shape {shape:?}; expected {expected}");
        assert_eq!(message(points.run(of(shape).view(), 0.0)), expected);
        let input = Tensor::from_array(backend, &of(shape)).unwrap();
        let mut output = Tensor::zeros(backend, &[5]).unwrap();
        assert_eq!(message(points.run_into(&input, 0.0, &mut output, &stream)), expected);
    }
    let input = Tensor::from_array(backend, &of(&[1, 2, 3, 4])).unwrap();
    let mut output = Tensor::zeros(backend, &[5]).unwrap();
    let refused = points.run_into(&input, 0.0, &mut output, &stream);
    assert_eq!(message(refused), "the output has shape [5]; expected [1, 5]");
    // What was prepared is still good.
    assert_eq!(points.run(of(&[2, 3, 4]).view(), 1.0).unwrap(), of(&[5]));
}

on_every_backend! {
    grids: super::grids;
    points: super::points;
    values: super::values;
}
