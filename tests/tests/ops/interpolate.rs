//! Interpolation on every backend: linear functions, nodes, edges, the nearest node, curved grids against the oracle that
//! tries every tetrahedron, values that are not numbers.

#![expect(clippy::float_cmp, reason = "what fills, and places that are one, are exact")]

use integration_tests::bits::assert_same_bits;
use integration_tests::interpolate::{Lattice, NodeGrid};
use integration_tests::on_every_backend;
use integration_tests::random::{between, rng};
use ndarray::{Array1, Array2, Array4, ArrayD, Axis, IxDyn, s};
use num_complex::Complex;
use warpbeam::ops::{
    InterpolationGrid, InterpolationMethod, InterpolationValue, Interpolator, PreparedPoints, SectorGrid,
};
use warpbeam::physical::axis;
use warpbeam::{Backend, Tensor};

const METHODS: [InterpolationMethod; 2] = [InterpolationMethod::Trilinear, InterpolationMethod::Tetrahedral];

/// A type of values, from and to complex numbers in double precision.
pub(crate) trait Values: InterpolationValue + PartialEq + std::fmt::Debug {
    /// Half a unit in the last place of 1.
    const ROUNDING: f64;
    const IS_COMPLEX: bool;
    fn of(re: f64, im: f64) -> Self;
    fn parts(self) -> [f64; 2];
}

macro_rules! values {
    ($($real:ty),*) => { $(
        impl Values for $real {
            const ROUNDING: f64 = <$real>::EPSILON as f64 / 2.0;
            const IS_COMPLEX: bool = false;
            fn of(re: f64, _: f64) -> Self {
                re as $real
            }
            fn parts(self) -> [f64; 2] {
                [f64::from(self), 0.0]
            }
        }

        impl Values for Complex<$real> {
            const ROUNDING: f64 = <$real>::EPSILON as f64 / 2.0;
            const IS_COMPLEX: bool = true;
            fn of(re: f64, im: f64) -> Self {
                Complex::new(re as $real, im as $real)
            }
            fn parts(self) -> [f64; 2] {
                [f64::from(self.re), f64::from(self.im)]
            }
        }
    )* };
}

values!(f32, f64);

fn shape(rng: &mut fastrand::Rng) -> [usize; 3] {
    [0, 1, 2].map(|_| [1, 2, 2, 3, 4, 5, 7][rng.usize(..7)])
}

fn row(points: &Array2<f64>, number: usize) -> [f64; 3] {
    [points[[number, 0]], points[[number, 1]], points[[number, 2]]]
}

/// By tensors, over NaN, points where they are; the same bits as from the host.
fn run<T: Values>(points: &PreparedPoints, values: &ArrayD<T>, fill: T) -> ArrayD<T> {
    let backend = points.backend();
    let stream = backend.stream().unwrap();
    let expected = points.run(values.view(), fill).unwrap();
    let input = Tensor::from_array(backend, values).unwrap();
    let stale = ArrayD::from_elem(expected.raw_dim(), T::of(f64::NAN, f64::NAN));
    let mut output = Tensor::from_array(backend, &stale).unwrap();
    points.run_into(&input, fill, &mut output, &stream).unwrap();
    let got = output.to_array().unwrap();
    assert_same_bits("run_into, NaN in the output", &got, &expected);
    got
}

/// As `interpolator.prepare`, from a tensor every other time.
fn prepare(rng: &mut fastrand::Rng, interpolator: &Interpolator, points: &Array2<f64>) -> PreparedPoints {
    if rng.bool() {
        return interpolator.prepare(points).unwrap();
    }
    let backend = interpolator.backend();
    let tensor = Tensor::from_array(backend, points).unwrap();
    interpolator
        .prepare_tensor(&tensor, &backend.stream().unwrap())
        .unwrap()
}

fn curvilinear(
    rng: &mut fastrand::Rng,
    backend: &Backend,
    nodes: &NodeGrid,
    method: InterpolationMethod,
) -> Interpolator {
    if rng.bool() {
        let tensor = Tensor::from_array(backend, &nodes.positions).unwrap();
        return Interpolator::from_tensor(tensor, method, &backend.stream().unwrap()).unwrap();
    }
    Interpolator::new(
        backend,
        &InterpolationGrid::curvilinear(&nodes.positions).unwrap(),
        method,
    )
    .unwrap()
}

/// Every interpolator of a lattice, and of the same nodes one by one and moved.
fn every_interpolator(
    rng: &mut fastrand::Rng,
    backend: &Backend,
    lattice: &Lattice,
) -> Vec<(String, NodeGrid, Interpolator)> {
    let mut all = Vec::new();
    let still = lattice.nodes(rng, 0.0);
    let grid = InterpolationGrid::lattice(lattice.shape, lattice.origin, lattice.steps).unwrap();
    for method in METHODS {
        let interpolator = Interpolator::new(backend, &grid, method).unwrap();
        all.push((format!("lattice, {method:?}"), still.clone(), interpolator));
    }
    for shift in [0.0, 0.2] {
        let nodes = lattice.nodes(rng, shift);
        let interpolator = curvilinear(rng, backend, &nodes, InterpolationMethod::Tetrahedral);
        all.push((format!("nodes moved by {shift}"), nodes, interpolator));
    }
    all
}

/// A function that is linear in the coordinates, of size 1, at the nodes and at points inside: within rounding.
///
/// The bound: 16 roundings of values in their type, and 64 units in the last place of the coordinates, times the slope.
/// Differences of coordinates are exact, so that with nodes one by one and no surface, whose points lie a rounding beside
/// it, the units are those of the grid's extent and not of its place.
fn linear_functions<T: Values>(backend: &Backend) {
    let mut rng = rng();
    for run_number in 0..24 {
        let cell = [1e-6, 1e-4, 3e-2, 1.0][run_number % 4];
        let offset = [0.0, 1.0, 1e3][run_number / 4 % 3];
        let shape = shape(&mut rng);
        let lattice = Lattice::random(&mut rng, shape, cell, offset);
        for (what, nodes, interpolator) in every_interpolator(&mut rng, backend, &lattice) {
            let extent = cell * 10.0;
            let slopes = [0, 1].map(|_| [0, 1, 2].map(|_| between(&mut rng, -1.0, 1.0) / extent));
            let function = |p: [f64; 3]| {
                let part = |slope: [f64; 3]| (0..3).map(|a| slope[a] * (p[a] - lattice.origin[a])).sum::<f64>();
                [part(slopes[0]), part(slopes[1])]
            };
            let values: Vec<T> = (0..nodes.len())
                .map(|n| function(nodes.node(n)))
                .map(|[re, im]| T::of(re, im))
                .collect();
            let values = ArrayD::from_shape_vec(IxDyn(&shape), values).unwrap();
            let points = nodes.points(&mut rng, 200);
            let prepared = prepare(&mut rng, &interpolator, &points);
            let results = run(&prepared, &values, T::of(1e9, 0.0));
            let is_exact = what.starts_with("nodes") && !shape.contains(&1);
            let far = if is_exact { extent } else { offset + extent };
            let coordinates = 64.0 * f64::EPSILON * far / extent;
            let bound = 16.0 * T::ROUNDING + 3.0 * coordinates;
            let mut worst = 0.0_f64;
            for (number, result) in results.iter().enumerate() {
                let [re, im] = function(row(&points, number));
                let im = if T::IS_COMPLEX { im } else { 0.0 };
                let got = result.parts();
                worst = worst.max((got[0] - re).abs()).max((got[1] - im).abs());
            }
            println!("{worst:9.2e} of {bound:.2e} allowed: {what}, {shape:?} of {cell:e} at {offset:e}");
            assert!(
                worst <= bound,
                "{what}, {shape:?} of {cell:e} at {offset:e}: {worst:e}, allowed {bound:e}"
            );
        }
    }
}

/// Enough points in and around a grid that a device reads them by rows of items where they come in no order and the batch is
/// of 16 or more: the same bits as row by row, and as in a smaller batch.
fn the_order_of_points_is_not_in_the_bits(backend: &Backend) {
    let mut rng = rng();
    let (shape, side) = ([24, 20, 22], 26_usize);
    let lattice = Lattice::random(&mut rng, shape, 1e-3, 0.0);
    let mut points = Array2::zeros((side * side * side, 3));
    for (number, mut point) in points.rows_mut().into_iter().enumerate() {
        // The outermost ones are outside.
        let along = [number % side, number / side % side, number / side / side];
        let last = [shape[2], shape[1], shape[0]].map(|count| (count - 1) as f64);
        let at = [0, 1, 2].map(|axis| last[axis] * (1.02 * along[axis] as f64 / (side - 1) as f64 - 0.01));
        point.assign(&Array1::from(lattice.at(at).to_vec()));
    }
    let mut order: Vec<usize> = (0..points.nrows()).collect();
    rng.shuffle(&mut order);
    let shuffled = points.select(Axis(0), &order);
    let values = ArrayD::from_shape_simple_fn(IxDyn(&[35, shape[0], shape[1], shape[2]]), || {
        Complex::new(between(&mut rng, -1.0, 1.0) as f32, between(&mut rng, -1.0, 1.0) as f32)
    });
    for (what, _, interpolator) in every_interpolator(&mut rng, backend, &lattice) {
        let fill = Complex::new(9.0, 9.0);
        let in_rows = run(&prepare(&mut rng, &interpolator, &points), &values, fill);
        let prepared = prepare(&mut rng, &interpolator, &shuffled);
        let in_any_order = run(&prepared, &values, fill);
        let outside = in_rows.iter().filter(|value| **value == fill).count();
        assert!(
            outside > 0 && outside < in_rows.len() / 2,
            "{what}: {outside} values outside"
        );
        let expected = in_rows.select(Axis(1), &order);
        assert_same_bits(&format!("{what}, points in any order"), &in_any_order, &expected);
        let few = run(&prepared, &values.slice_axis(Axis(0), (20..35).into()).to_owned(), fill);
        let of_many = in_any_order.slice_axis(Axis(0), (20..35).into()).to_owned();
        assert_same_bits(&format!("{what}, few items and many"), &few, &of_many);
    }
}

/// Points and nodes in single precision: the bits of the same numbers in double precision.
fn positions_in_single_precision(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let shape = [4, 5, 6];
    let lattice = Lattice::random(&mut rng, shape, 1e-2, 0.1);
    let nodes = lattice.nodes(&mut rng, 0.2);
    let single = nodes.positions.mapv(|number| number as f32);
    let double = single.mapv(f64::from);
    let points = nodes.points(&mut rng, 300).mapv(|number| number as f32);
    let wide = points.mapv(f64::from);
    let values = ArrayD::from_shape_simple_fn(IxDyn(&shape), || between(&mut rng, -1.0, 1.0));
    for method in [InterpolationMethod::Tetrahedral, InterpolationMethod::Nearest] {
        let tensor = Tensor::from_array(backend, &single).unwrap();
        let of_single = Interpolator::from_tensor(tensor, method, &stream).unwrap();
        let tensor = Tensor::from_array(backend, &double).unwrap();
        let of_double = Interpolator::from_tensor(tensor, method, &stream).unwrap();
        let expected = run(&of_double.prepare(&wide).unwrap(), &values, 9.0);
        let tensor = Tensor::from_array(backend, &points).unwrap();
        for (what, prepared) in [
            ("nodes and points", of_single.prepare(&points)),
            ("points", of_double.prepare(&points)),
            ("a tensor of points", of_double.prepare_tensor(&tensor, &stream)),
        ] {
            assert_same_bits(what, &run(&prepared.unwrap(), &values, 9.0), &expected);
        }
    }
}

/// At nodes exactly the values, by every method.
fn nodes_are_exact(backend: &Backend) {
    let mut rng = rng();
    for run_number in 0..12 {
        let cell = [1e-6, 1e-3, 1.0][run_number % 3];
        let shape = shape(&mut rng);
        let lattice = Lattice::random(&mut rng, shape, cell, [0.0, 1.0, 30.0][run_number / 3 % 3]);
        let mut all = every_interpolator(&mut rng, backend, &lattice);
        let nodes = lattice.nodes(&mut rng, 0.2);
        let nearest = curvilinear(&mut rng, backend, &nodes, InterpolationMethod::Nearest);
        all.push(("the nearest".to_owned(), nodes, nearest));
        for (what, nodes, interpolator) in all {
            let values = ArrayD::from_shape_simple_fn(IxDyn(&shape), || between(&mut rng, -1.0, 1.0) as f32);
            let points = Array2::from_shape_fn((nodes.len(), 3), |(node, axis)| nodes.node(node)[axis]);
            let prepared = prepare(&mut rng, &interpolator, &points);
            let results = run(&prepared, &values, f32::NAN);
            for (node, (got, expected)) in results.iter().zip(&values).enumerate() {
                assert!(
                    got.to_bits() == expected.to_bits(),
                    "{what}, node {node} of {shape:?}, {cell:e}: {got} {expected}"
                );
            }
        }
    }
}

/// Faces, edges and corners of a grid belong to it, and 10⁻⁷ of a cell more; 10⁻⁵ do not.
fn edges_belong_to_the_grid(backend: &Backend) {
    let mut rng = rng();
    for run_number in 0..24 {
        let cell = [1e-6, 1e-4, 1e-2, 1.0][run_number % 4];
        let shape = shape(&mut rng);
        let lattice = Lattice::random(&mut rng, shape, cell, [0.0, 1.0][run_number / 4 % 2]);
        let counts = [shape[2], shape[1], shape[0]];
        let last = counts.map(|count| (count - 1) as f64);
        for (what, _, interpolator) in every_interpolator(&mut rng, backend, &lattice).into_iter().take(3) {
            for beyond in [0.0, 1e-7, 1e-5] {
                let mut points = Array2::zeros((300, 3));
                for mut point in points.rows_mut() {
                    let mut along = last.map(|last| between(&mut rng, 0.0, last));
                    for axis in 0..=rng.usize(..3) {
                        along[axis] = if rng.bool() { 0.0 } else { last[axis] };
                    }
                    // Outwards along an axis with an end there.
                    along[0] = if rng.bool() { -beyond } else { last[0] + beyond };
                    point.assign(&Array1::from(lattice.at(along).to_vec()));
                }
                let values = ArrayD::<f32>::zeros(IxDyn(&shape));
                let results = run(&prepare(&mut rng, &interpolator, &points), &values, 1.0);
                let outside = results.iter().filter(|value| **value == 1.0).count();
                // A point has no cells.
                let most = if shape == [1; 3] { 0.0 } else { 1e-6 };
                let expected = if beyond > most { 300 } else { 0 };
                assert_eq!(outside, expected, "{what}, {shape:?} of {cell:e}, {beyond:e} beyond");
            }
        }
    }
}

/// The nearest of all nodes, on lattices, axes and nodes one by one; a value says which node it belongs to.
fn the_nearest_node(backend: &Backend) {
    let mut rng = rng();
    for run_number in 0..12 {
        let cell = [1e-6, 1e-2, 1.0][run_number % 3];
        let shape = shape(&mut rng);
        let mut lattice = Lattice::random(&mut rng, shape, cell, 1.0);
        if run_number % 2 == 0 {
            // Steep: the nearest node is often none of the cell's.
            lattice.steps[0] = [0, 1, 2].map(|axis| lattice.steps[0][axis] + 1.5 * lattice.steps[1][axis]);
        }
        let still = lattice.nodes(&mut rng, 0.0);
        let moved = lattice.nodes(&mut rng, 0.3);
        let grid = InterpolationGrid::lattice(shape, lattice.origin, lattice.steps).unwrap();
        let of_lattice = Interpolator::new(backend, &grid, InterpolationMethod::Nearest).unwrap();
        let of_nodes = curvilinear(&mut rng, backend, &moved, InterpolationMethod::Nearest);
        let axes = [0, 1, 2].map(|axis| {
            let count = shape[2 - axis];
            let mut at = between(&mut rng, -1.0, 1.0);
            let uneven = |_| {
                at += cell * between(&mut rng, 0.3, 2.0);
                at
            };
            (0..count).map(uneven).collect::<Vec<_>>()
        });
        let positions = Array4::from_shape_fn((shape[0], shape[1], shape[2], 3), |(k, j, i, axis)| {
            axes[axis][[i, j, k][axis]]
        });
        let grid = InterpolationGrid::cartesian(&axes[0], &axes[1], &axes[2]).unwrap();
        let of_axes = Interpolator::new(backend, &grid, InterpolationMethod::Nearest).unwrap();
        for (what, nodes, interpolator) in [
            ("lattice", still, of_lattice),
            ("nodes", moved, of_nodes),
            ("axes", NodeGrid { positions }, of_axes),
        ] {
            let values = Array1::from_iter((0..nodes.len()).map(|n| n as f32))
                .into_shape_with_order(IxDyn(&shape))
                .unwrap();
            let points = nodes.points(&mut rng, 200);
            let results = run(&prepare(&mut rng, &interpolator, &points), &values, -1.0);
            let distance = |node: usize, point: [f64; 3]| {
                let node = nodes.node(node);
                (node[0] - point[0]).hypot(node[1] - point[1]).hypot(node[2] - point[2])
            };
            for (number, got) in results.iter().enumerate() {
                let point = row(&points, number);
                assert!(*got >= 0.0, "{what} {shape:?}: a point inside is outside");
                let least = (0..nodes.len())
                    .map(|node| distance(node, point))
                    .fold(f64::INFINITY, f64::min);
                let excess = distance(*got as usize, point) - least;
                assert!(
                    excess <= 1e-14 * (1.0 + cell),
                    "{what} {shape:?} of {cell:e}: node {got}, farther by {excess:e}"
                );
            }
        }
    }
}

/// A sector's samples one by one, from the apex on: cells that are wedges there.
fn curved(rng: &mut fastrand::Rng, counts: [usize; 3], scale: f64, offset: f64) -> NodeGrid {
    let [elevations, azimuths, ranges] = counts;
    let angles = |count: usize, most: f64| match count {
        1 => vec![0.0],
        _ => axis(-most, most, count).unwrap(),
    };
    let first = [0.0, 0.3][rng.usize(..2)];
    let sector = SectorGrid::volume(
        &axis(first * scale, scale, ranges).unwrap(),
        &angles(azimuths, 0.8),
        &angles(elevations, 0.6),
    );
    let positions = sector
        .unwrap()
        .with_apex([offset, -offset, 0.5 * offset])
        .unwrap()
        .positions_m()
        .unwrap();
    NodeGrid {
        positions: positions.into_dimensionality().unwrap(),
    }
}

/// Random values on curved and on moved grids, in and around them, against the oracle.
fn against_every_tetrahedron<T: Values>(backend: &Backend) {
    let mut rng = rng();
    let (mut compared, mut outside, mut worst, mut allowed) = (0, 0, 0.0_f64, 0.0_f64);
    for run_number in 0..12 {
        let scale = [1e-5, 0.05, 2.0][run_number % 3];
        let nodes = if run_number % 2 == 0 {
            let [a, b] = [0, 1].map(|_| rng.usize(2..6));
            let elevations = [1, 3][run_number / 2 % 2];
            curved(&mut rng, [elevations, a, b], scale, [0.0, 1.0][run_number / 4 % 2])
        } else {
            let shape = shape(&mut rng);
            Lattice::random(&mut rng, shape, scale / 5.0, 1.0).nodes(&mut rng, 0.25)
        };
        let shape = nodes.shape();
        let simplices = nodes.simplices();
        let is_solid = shape.iter().all(|count| *count > 1);
        let mut points = nodes.points(&mut rng, 150);
        if is_solid {
            // Half of them anywhere around.
            let low = points.fold_axis(Axis(0), f64::INFINITY, |a, b| a.min(*b));
            let high = points.fold_axis(Axis(0), f64::NEG_INFINITY, |a, b| a.max(*b));
            for mut point in points.slice_mut(s![..75, ..]).rows_mut() {
                for axis in 0..3 {
                    point[axis] = between(&mut rng, low[axis], high[axis]);
                }
            }
        }
        let interpolator = curvilinear(&mut rng, backend, &nodes, InterpolationMethod::Tetrahedral);
        let value = |rng: &mut fastrand::Rng| T::of(between(rng, -1.0, 1.0), between(rng, -1.0, 1.0));
        let mut flat: Vec<T> = (0..nodes.len()).map(|_| value(&mut rng)).collect();
        // At the apex many nodes have one place, and so one value.
        for node in 0..flat.len() {
            let first = (0..node).find(|other| nodes.node(*other) == nodes.node(node));
            flat[node] = flat[first.unwrap_or(node)];
        }
        let values = ArrayD::from_shape_vec(IxDyn(&shape), flat.clone()).unwrap();
        let results = run(&prepare(&mut rng, &interpolator, &points), &values, T::of(7.0, 7.0));
        for (number, result) in results.iter().enumerate() {
            let point = row(&points, number);
            let found = nodes.locate(&simplices, point).unwrap();
            if found.least < -1e-6 {
                // Between the two the rule is another one.
                if found.least < -1e-5 {
                    assert!(
                        *result == T::of(7.0, 7.0),
                        "{shape:?} of {scale:e}, {point:?}: {result:?}, {found:?}"
                    );
                    outside += 1;
                }
                continue;
            }
            compared += 1;
            let expected = found.weights.iter().fold([0.0; 2], |sum, (node, weight)| {
                let parts = flat[*node].parts();
                [sum[0] + weight * parts[0], sum[1] + weight * parts[1]]
            });
            // Narrow cells at the apex: weights change by 1 within a part of a cell's length. What is a little outside gets
            // what is at the edge.
            let beside = 4.0 * (-found.least).max(0.0);
            let bound = 16.0 * T::ROUNDING + 1e4 * f64::EPSILON * (1.0 + 1.0 / scale).min(1e6) + beside;
            let error = result
                .parts()
                .into_iter()
                .zip(expected)
                .fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            if error > worst {
                (worst, allowed) = (error, bound);
            }
            assert!(
                error <= bound,
                "{shape:?} of {scale:e}, {point:?}: {result:?}, {found:?}, {error:e} of {bound:e}"
            );
        }
    }
    println!("{worst:9.2e} of {allowed:.2e} allowed; {compared} points inside, {outside} outside");
    assert!(compared > 500 && outside > 10);
}

/// Items of a batch one by one, views of any strides, no items, no points, points of any shape.
fn batches_and_shapes(backend: &Backend) {
    let mut rng = rng();
    let lattice = Lattice::random(&mut rng, [3, 4, 5], 1e-3, 0.1);
    let nodes = lattice.nodes(&mut rng, 0.1);
    let interpolator = curvilinear(&mut rng, backend, &nodes, InterpolationMethod::Tetrahedral);
    assert_eq!(interpolator.shape(), [3, 4, 5]);
    let points = nodes.points(&mut rng, 30).into_shape_with_order((2, 5, 3, 3)).unwrap();
    let prepared = interpolator.prepare(&points).unwrap();
    assert_eq!(prepared.shape(), [2, 5, 3]);
    for n_batch in [1, 3, 17, 37] {
        let values = ArrayD::from_shape_simple_fn(IxDyn(&[n_batch, 3, 4, 5]), || {
            Complex::new(between(&mut rng, -1.0, 1.0) as f32, between(&mut rng, -1.0, 1.0) as f32)
        });
        let whole = run(&prepared, &values, Complex::new(0.0, 0.0));
        assert_eq!(whole.shape(), [n_batch, 2, 5, 3]);
        for (item, expected) in whole.outer_iter().enumerate() {
            let alone = run(
                &prepared,
                &values.index_axis(Axis(0), item).to_owned(),
                Complex::new(0.0, 0.0),
            );
            assert_same_bits(&format!("item {item} of {n_batch}"), &alone, &expected.to_owned());
        }
        let reversed = values.t().as_standard_layout().into_owned();
        let strided = prepared.run(reversed.t(), Complex::new(0.0, 0.0)).unwrap();
        assert_same_bits("a view", &strided, &whole);
    }
    let none = prepared
        .run(ArrayD::<f32>::zeros(IxDyn(&[0, 3, 4, 5])).view(), 0.0)
        .unwrap();
    assert_eq!(none.shape(), [0, 2, 5, 3]);
    let nowhere = interpolator.prepare(&Array2::<f64>::zeros((0, 3))).unwrap();
    assert_eq!(
        nowhere
            .run(ArrayD::<f32>::zeros(IxDyn(&[2, 3, 4, 5])).view(), 0.0)
            .unwrap()
            .shape(),
        [2, 0]
    );
    let one = interpolator.prepare(&Array1::from(nodes.node(59).to_vec())).unwrap();
    let values = ArrayD::from_shape_fn(IxDyn(&[3, 4, 5]), |at| (20 * at[0] + 5 * at[1] + at[2]) as f64);
    assert_eq!(run(&one, &values, -1.0), ArrayD::from_elem(IxDyn(&[]), 59.0));
}

/// A NaN reaches the points in which its node's weight is not 0, and no others.
fn isolation(backend: &Backend) {
    let mut rng = rng();
    let lattice = Lattice::random(&mut rng, [3, 4, 4], 1e-3, 0.1);
    let mut all = every_interpolator(&mut rng, backend, &lattice);
    let nodes = lattice.nodes(&mut rng, 0.2);
    let nearest = curvilinear(&mut rng, backend, &nodes, InterpolationMethod::Nearest);
    all.push(("the nearest".to_owned(), nodes, nearest));
    for (what, nodes, interpolator) in all {
        // Nodes, and points on edges, on faces and inside.
        let simplices = nodes.simplices();
        let mut points = Array2::from_shape_fn((nodes.len() + 200, 3), |(node, axis)| {
            nodes.node(node % nodes.len())[axis]
        });
        for mut point in points.slice_mut(s![nodes.len().., ..]).rows_mut() {
            let simplex = &simplices[rng.usize(..simplices.len())];
            let count = rng.usize(2..=simplex.len());
            let is_at_edge = rng.bool();
            point.assign(&Array1::from(
                nodes.point(&mut rng, &simplex[..count], is_at_edge).to_vec(),
            ));
        }
        let prepared = prepare(&mut rng, &interpolator, &points);
        let at = rng.usize(..nodes.len());
        let with = |value: f32| {
            let mut values = Array1::zeros(nodes.len());
            values[at] = value;
            run(
                &prepared,
                &values.into_shape_with_order(IxDyn(&[3, 4, 4])).unwrap(),
                0.0,
            )
        };
        let (weights, spoiled, infinite) = (with(1.0), with(f32::NAN), with(f32::INFINITY));
        let mut reached = 0;
        for (number, weight) in weights.iter().enumerate() {
            let is_reached = *weight != 0.0;
            reached += usize::from(is_reached);
            assert_eq!(
                spoiled[number].is_nan(),
                is_reached,
                "{what}: point {number}, weight {weight}"
            );
            assert_eq!(
                infinite[number] == f32::INFINITY,
                is_reached,
                "{what}: point {number}, weight {weight}"
            );
            if number < nodes.len() {
                assert_eq!(is_reached, number == at, "{what}: node {number}");
            }
        }
        assert!((1..200).contains(&reached), "{what}: {reached} points");
    }
}

/// A surface and a line: what lies beside them is outside.
fn beside_a_surface(backend: &Backend) {
    let grid = InterpolationGrid::cartesian(&[-1e-3, 0.0, 1e-3], &[0.5], &axis(0.0, 1e-2, 11).unwrap()).unwrap();
    let nodes = Array4::from_shape_fn((11, 1, 3, 3), |(k, _, i, axis)| match axis {
        0 => -1e-3 + i as f64 * 1e-3,
        1 => 0.5,
        _ => k as f64 * 1e-3,
    });
    let curvilinear = InterpolationGrid::curvilinear(&nodes).unwrap();
    let values = ArrayD::from_shape_fn(IxDyn(&[11, 1, 3]), |at| at[0] as f32);
    let points = ndarray::arr2(&[
        [0.5e-3, 0.5, 2.5e-3],
        [0.5e-3, 0.5 + 1e-10, 2.5e-3],
        [0.5e-3, 0.5 + 1e-8, 2.5e-3],
        [0.5e-3, 0.0, 2.5e-3],
        [1.1e-3, 0.5, 2.5e-3],
    ]);
    for (grid, method) in [
        (&grid, InterpolationMethod::Trilinear),
        (&grid, InterpolationMethod::Tetrahedral),
        (&curvilinear, InterpolationMethod::Tetrahedral),
    ] {
        let interpolator = Interpolator::new(backend, grid, method).unwrap();
        let results = run(&interpolator.prepare(&points).unwrap(), &values, -1.0);
        assert!(
            (results[0] - 2.5).abs() < 1e-6 && (results[1] - 2.5).abs() < 1e-6,
            "{results}"
        );
        assert_eq!(results.as_slice().unwrap()[2..], [-1.0; 3]);
    }
}

on_every_backend! {
    linear_functions_f32: super::linear_functions::<f32>;
    linear_functions_f64: super::linear_functions::<f64>;
    linear_functions_complex_f32: super::linear_functions::<Complex<f32>>;
    linear_functions_complex_f64: super::linear_functions::<Complex<f64>>;
    curved_f32: super::against_every_tetrahedron::<f32>;
    curved_f64: super::against_every_tetrahedron::<f64>;
    curved_complex_f32: super::against_every_tetrahedron::<Complex<f32>>;
    curved_complex_f64: super::against_every_tetrahedron::<Complex<f64>>;
    the_order_of_points_is_not_in_the_bits: super::the_order_of_points_is_not_in_the_bits;
    positions_in_single_precision: super::positions_in_single_precision;
    nodes_are_exact: super::nodes_are_exact;
    edges_belong_to_the_grid: super::edges_belong_to_the_grid;
    the_nearest_node: super::the_nearest_node;
    batches_and_shapes: super::batches_and_shapes;
    isolation: super::isolation;
    beside_a_surface: super::beside_a_surface;
}
