//! The kernels of interpolation, one after the other as the library launches them: boxes, places, values, against the
//! oracle that tries every tetrahedron.

use cuda_std::emulator::{Buffer, Options, launch_with};
use cuda_std::{Kernel, Launch, Parameters};
use fastrand::Rng;
use integration_tests::interpolate::{Lattice, NodeGrid};
use integration_tests::random::{between, rng};
use kernels::interpolate::boxes::{
    Boxes, Check, FIRST_BAD, IS_FLAT, NONE, Widen, interpolate_cell_boxes, interpolate_check, interpolate_merge_boxes,
    interpolate_widen,
};
use kernels::interpolate::evaluate::Evaluate;
use kernels::interpolate::jumps::{Jumps, N_INSIDE, N_JUMPS, interpolate_jumps};
use kernels::interpolate::locate::{
    AlongAxes, Points, ThroughBoxes, interpolate_along_axes, interpolate_nearest_through_boxes,
    interpolate_through_boxes,
};
use kernels::interpolate::rows::{self, Rows};
use kernels::interpolate::{Instance, REPORT, THREADS};
use num_complex::Complex;
use wavefield::interpolation::OUTSIDE;
use wavefield::interpolation::axes::{AxesGrid, Axis, Coordinates, NEAREST, TETRAHEDRAL, TRILINEAR};
use wavefield::interpolation::search::{Cells, Level};

fn run<P: Parameters>(rng: &mut Rng, kernel: &Kernel<P>, count: u32, layers: u32, parameters: P) {
    let shape = Launch {
        grid: [count.div_ceil(THREADS), layers, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    let options = Options {
        seed: rng.u64(..),
        ..Options::default()
    };
    launch_with(kernel, shape, parameters, options).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Places found on the device.
struct Places {
    codes: Buffer<u32>,
    numbers: Buffer<[f64; 2]>,
    points: Buffer<f64>,
    n_points: usize,
}

impl Places {
    fn new(points: &[[f64; 3]]) -> Self {
        Self {
            codes: Buffer::filled(0xdead_beef, points.len()),
            numbers: Buffer::filled([f64::NAN; 2], 2 * points.len()),
            points: Buffer::new(points.as_flattened()),
            n_points: points.len(),
        }
    }

    fn parameters(&self) -> Points {
        Points {
            points: self.points.global(),
            codes: self.codes.global_mut(),
            numbers: self.numbers.global_mut(),
            n_points: self.n_points as u32,
            has_numbers: 1,
        }
    }
}

/// A grid's boxes, made on the device.
struct Mesh {
    cells: Cells,
    positions: Buffer<f64>,
    boxes: Buffer<[f32; 4]>,
    levels: Buffer<[u32; 4]>,
}

impl Mesh {
    fn new(rng: &mut Rng, nodes: &NodeGrid) -> Self {
        let [n_z, n_y, n_x] = nodes.shape().map(|count| count as u32);
        let mut axes = [(n_x, 1), (n_y, n_x), (n_z, n_x * n_y)];
        axes.sort_by_key(|(count, _)| *count == 1);
        let mut levels = vec![Level {
            first: 0,
            counts: axes.map(|(count, _)| count.max(2) - 1),
        }];
        while levels[levels.len() - 1].counts != [1; 3] {
            let last = levels[levels.len() - 1];
            levels.push(Level {
                first: last.first + last.counts.iter().product::<u32>(),
                counts: last.counts.map(|count| count.div_ceil(2)),
            });
        }
        let cells = Cells {
            counts: levels[0].counts,
            steps: axes.map(|(count, step)| if count > 1 { step } else { 0 }),
            n_axes: axes.iter().filter(|(count, _)| *count > 1).count() as u32,
            n_levels: levels.len() as u32,
        };
        let n_boxes = levels[levels.len() - 1].first as usize + 1;
        let numbers: Vec<f64> = nodes.positions.iter().copied().collect();
        let mesh = Self {
            cells,
            positions: Buffer::new(&numbers),
            boxes: Buffer::filled([f32::NAN; 4], 2 * n_boxes),
            levels: Buffer::new(
                &std::iter::once(REPORT)
                    .chain(
                        levels
                            .iter()
                            .map(|level| [level.first, level.counts[0], level.counts[1], level.counts[2]]),
                    )
                    .collect::<Vec<_>>(),
            ),
        };
        for (number, &level) in levels.iter().enumerate() {
            let kernel = if number == 0 {
                interpolate_cell_boxes
            } else {
                interpolate_merge_boxes
            };
            let parameters = Boxes {
                cells,
                level,
                below: levels[number.saturating_sub(1)],
                positions: mesh.positions.global(),
                boxes: mesh.boxes.global_mut(),
                report: mesh.levels.global_mut_as(),
            };
            run(rng, &kernel, level.counts.iter().product(), 1, parameters);
        }
        mesh
    }

    fn locate(&self, rng: &mut Rng, kernel: &Kernel<ThroughBoxes>, points: &[[f64; 3]]) -> Places {
        let places = Places::new(points);
        let parameters = ThroughBoxes {
            points: places.parameters(),
            cells: self.cells,
            positions: self.positions.global(),
            boxes: self.boxes.global(),
            levels: self.levels.global(),
        };
        run(rng, kernel, points.len() as u32, 1, parameters);
        places
    }
}

/// A type of values of the oracle's numbers.
trait Number: Instance {
    const ROUNDING: f64;
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
}

macro_rules! numbers {
    ($($type:ty: $rounding:expr, |$from:ident| $of:expr, |$to:ident| $value:expr;)*) => { $(
        impl Number for $type {
            const ROUNDING: f64 = $rounding;
            fn of($from: f64) -> Self {
                $of
            }
            fn value(self) -> f64 {
                let $to = self;
                $value
            }
        }
    )* };
}

// The imaginary part is twice the real one: both are looked at.
numbers! {
    f32: 6e-8, |value| value as f32, |number| f64::from(number);
    f64: 1.2e-16, |value| value, |number| number;
    Complex<f32>: 6e-8, |value| Complex::new(value as f32, 2.0 * value as f32),
        |number| f64::from(0.5 * (number.re + 0.5 * number.im));
    Complex<f64>: 1.2e-16, |value| Complex::new(value, 2.0 * value), |number| 0.5 * (number.re + 0.5 * number.im);
}

/// Values `(item, point)` at places, with 999 outside.
fn evaluate<V: Number>(
    rng: &mut Rng,
    kernel: &Kernel<Evaluate<V>>,
    values: &[f64],
    n_nodes: usize,
    places: &Places,
    steps: [u32; 3],
) -> Vec<f64> {
    let n_items = values.len() / n_nodes;
    let values = Buffer::new(&values.iter().map(|value| V::of(*value)).collect::<Vec<_>>());
    let output = Buffer::filled(V::of(f64::NAN), n_items * places.n_points);
    let items_per_block = 5;
    let parameters = Evaluate {
        values: values.global(),
        codes: places.codes.global(),
        numbers: places.numbers.global(),
        output: output.global_mut(),
        n_nodes: n_nodes as u64,
        fill: V::of(999.0),
        n_points: places.n_points as u32,
        n_items: n_items as u32,
        items_per_block,
        steps,
    };
    let layers = (n_items as u32).div_ceil(items_per_block);
    run(rng, kernel, places.n_points as u32, layers, parameters);
    output.to_vec().into_iter().map(Number::value).collect()
}

/// As [`evaluate`], from rows of items.
fn evaluate_rows<V: Number>(
    rng: &mut Rng,
    kernel: &Kernel<Rows<V>>,
    values: &[f64],
    n_nodes: usize,
    places: &Places,
    steps: [u32; 3],
) -> Vec<f64> {
    let n_items = values.len() / n_nodes;
    let value = |place: usize| V::of(values[place % n_items * n_nodes + place / n_items]);
    let values = Buffer::new(&(0..values.len()).map(value).collect::<Vec<_>>());
    let output = Buffer::filled(V::of(f64::NAN), n_items * places.n_points);
    let parameters = Rows {
        values: values.global(),
        codes: places.codes.global(),
        numbers: places.numbers.global(),
        output: output.global_mut(),
        fill: V::of(999.0),
        n_points: places.n_points as u32,
        n_items: n_items as u32,
        steps,
    };
    let launch = Launch {
        grid: [
            parameters.n_points.div_ceil(rows::POINTS),
            parameters.n_items.div_ceil(rows::ITEMS),
            1,
        ],
        threads: THREADS,
        shared_bytes: rows::shared_bytes::<V>(),
    };
    let options = Options {
        seed: rng.u64(..),
        ..Options::default()
    };
    launch_with(kernel, launch, parameters, options).unwrap_or_else(|fault| panic!("{fault}"));
    output.to_vec().into_iter().map(Number::value).collect()
}

/// Moved nodes, points in and around them.
fn random_nodes(rng: &mut Rng, shape: [usize; 3]) -> (NodeGrid, Vec<[f64; 3]>) {
    let cell = [1e-6, 1e-2, 1.0][rng.usize(..3)];
    let nodes = Lattice::random(rng, shape, cell, 1.0).nodes(rng, 0.2);
    let mut points: Vec<[f64; 3]> = nodes
        .points(rng, 270)
        .rows()
        .into_iter()
        .map(|p| [p[0], p[1], p[2]])
        .collect();
    for point in &mut points[..20] {
        point[0] += 30.0 * cell;
    }
    (nodes, points)
}

fn random_values(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(between(rng, -1.0, 1.0) as f32)).collect()
}

const SHAPES: [[usize; 3]; 6] = [[3, 4, 5], [2, 2, 2], [1, 4, 9], [5, 1, 1], [1, 1, 1], [4, 1, 3]];

fn tetrahedra<V: Number>() {
    let mut rng = rng();
    for shape in SHAPES {
        let (nodes, points) = random_nodes(&mut rng, shape);
        let mesh = Mesh::new(&mut rng, &nodes);
        let places = mesh.locate(&mut rng, &interpolate_through_boxes, &points);
        let n_nodes = nodes.len();
        let values = random_values(&mut rng, 7 * n_nodes);
        let results = evaluate::<V>(&mut rng, &V::tetrahedral(), &values, n_nodes, &places, mesh.cells.steps);
        let simplices = nodes.simplices();
        for (number, point) in points.iter().enumerate() {
            let found = nodes.locate(&simplices, *point).expect("no cell is flat");
            for item in 0..7 {
                let got = results[item * points.len() + number];
                if number < 20 {
                    assert!((got - 999.0).abs() < 1e-9, "{shape:?}: {got} outside");
                    continue;
                }
                let sum = |sum, (node, weight): &(usize, f64)| sum + weight * values[item * n_nodes + node];
                let expected = found.weights.iter().fold(0.0, sum);
                // Coordinates of 1 m in cells of 1 µm.
                assert!(
                    (got - expected).abs() < 16.0 * V::ROUNDING + 1e-8,
                    "{shape:?}: {got}, {expected}"
                );
            }
        }
    }
}

fn nearest<V: Number>() {
    let mut rng = rng();
    for shape in SHAPES {
        let (nodes, points) = random_nodes(&mut rng, shape);
        let mesh = Mesh::new(&mut rng, &nodes);
        let places = mesh.locate(&mut rng, &interpolate_nearest_through_boxes, &points);
        let n_nodes = nodes.len();
        let values: Vec<f64> = (0..3 * n_nodes).map(|number| number as f64).collect();
        let results = evaluate::<V>(&mut rng, &V::nearest(), &values, n_nodes, &places, mesh.cells.steps);
        let distance = |node: usize, point: [f64; 3]| {
            let node = nodes.node(node);
            (node[0] - point[0]).hypot(node[1] - point[1]).hypot(node[2] - point[2])
        };
        for (number, point) in points.iter().enumerate() {
            let least = (0..n_nodes)
                .map(|node| distance(node, *point))
                .fold(f64::INFINITY, f64::min);
            for item in 0..3 {
                let got = results[item * points.len() + number];
                if number < 20 {
                    assert!((got - 999.0).abs() < 1e-9, "{shape:?}: {got} outside");
                    continue;
                }
                let node = got as usize - item * n_nodes;
                assert!(
                    distance(node, *point) <= least + 1e-14,
                    "{shape:?}: node {node} at {point:?}"
                );
            }
        }
    }
}

/// Uneven axes and even ones, by every way.
fn axes<V: Number>() {
    let mut rng = rng();
    for (run_number, way) in [NEAREST, TRILINEAR, TETRAHEDRAL, TRILINEAR].into_iter().enumerate() {
        let counts = [5, [1, 4][run_number % 2], 3];
        let nodes: [Vec<f64>; 3] = counts.map(|count| {
            let mut at = between(&mut rng, -1.0, 1.0);
            let step = |_| {
                at += between(&mut rng, 0.1, 0.5);
                at
            };
            (0..count).map(step).collect()
        });
        let mut table = Vec::new();
        let axes = [0, 1, 2].map(|axis| {
            let first = table.len() as u32;
            table.extend(&nodes[axis]);
            Axis {
                start: nodes[axis][0],
                inverse_step: 1.0,
                sign: 1.0,
                n_nodes: counts[axis] as u32,
                first: if counts[axis] == 1 { Axis::EVEN } else { first },
            }
        });
        let steps = [1, if counts[1] == 1 { 0 } else { 5 }, 5 * counts[1] as u32];
        let grid = AxesGrid {
            coordinates: Coordinates {
                origin: [0.0; 3],
                matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                kind: Coordinates::AFFINE,
            },
            axes,
            steps,
            way,
        };
        let points: Vec<[f64; 3]> = (0..270)
            .map(|number| {
                let last = |axis: usize| nodes[axis][counts[axis] - 1] + if number < 20 { 1.0 } else { 0.0 };
                [0, 1, 2].map(|axis| match number {
                    ..20 => last(axis),
                    _ => between(&mut rng, nodes[axis][0], last(axis)),
                })
            })
            .collect();
        let places = Places::new(&points);
        let table = Buffer::new(&table);
        let parameters = AlongAxes {
            points: places.parameters(),
            grid,
            table: table.global(),
        };
        run(&mut rng, &interpolate_along_axes, points.len() as u32, 1, parameters);
        let function = |p: [f64; 3]| match way {
            NEAREST => p[0] + 10.0 * p[1] + 100.0 * p[2],
            TRILINEAR => 1.0 + p[0] - p[1] + p[0] * p[2] + p[0] * p[1] * p[2],
            _ => 1.0 + p[0] - p[1] + 0.5 * p[2],
        };
        let n_nodes = counts.iter().product();
        let values: Vec<f64> = (0..n_nodes)
            .map(|n| {
                function([
                    nodes[0][n % 5],
                    nodes[1][n / 5 % counts[1]],
                    nodes[2][n / 5 / counts[1]],
                ])
            })
            .collect();
        let kernel = match way {
            NEAREST => V::nearest(),
            TRILINEAR => V::trilinear(),
            _ => V::tetrahedral(),
        };
        let results = evaluate::<V>(&mut rng, &kernel, &values, n_nodes, &places, steps);
        for (number, (got, point)) in results.iter().zip(&points).enumerate() {
            let place = if way == NEAREST {
                [0, 1, 2].map(|axis: usize| {
                    let near = |a: &&f64, b: &&f64| (*a - point[axis]).abs().total_cmp(&(*b - point[axis]).abs());
                    *nodes[axis].iter().min_by(near).expect("there are nodes")
                })
            } else {
                *point
            };
            let expected = if number < 20 { 999.0 } else { function(place) };
            let bound = 32.0 * V::ROUNDING * expected.abs().max(20.0);
            assert!(
                (got - expected).abs() <= bound,
                "way {way}, point {number}: {got}, {expected}"
            );
        }
    }
}

/// Batches about a tile of items, points not a multiple of one: the bits of a thread a point.
fn rows<V: Number>() {
    let mut rng = rng();
    for n_items in [rng.usize(1..32), rng.usize(33..64), 64, rng.usize(65..130)] {
        let shape = [3, 4, 5].map(|count| rng.usize(2..=count));
        let (nodes, points) = random_nodes(&mut rng, shape);
        let points = &points[..rng.usize(33..100)];
        let mesh = Mesh::new(&mut rng, &nodes);
        let (n_nodes, steps) = (nodes.len(), mesh.cells.steps);
        let places = mesh.locate(&mut rng, &interpolate_through_boxes, points);
        let values = random_values(&mut rng, n_items * n_nodes);
        // A place in a tetrahedron is one in a cell to the other kernel, whatever its numbers.
        for (direct, by_rows) in [
            (V::tetrahedral(), V::tetrahedral_rows()),
            (V::trilinear(), V::trilinear_rows()),
        ] {
            let expected = evaluate::<V>(&mut rng, &direct, &values, n_nodes, &places, steps);
            let got = evaluate_rows::<V>(&mut rng, &by_rows, &values, n_nodes, &places, steps);
            let first = (0..expected.len()).find(|&at| got[at].to_bits() != expected[at].to_bits());
            assert_eq!(first, None, "{n_items} items at {} points", points.len());
        }
    }
}

#[test]
fn rows_of_every_type() {
    rows::<f32>();
    rows::<f64>();
    rows::<Complex<f32>>();
    rows::<Complex<f64>>();
}

#[test]
fn tetrahedra_of_every_type() {
    tetrahedra::<f32>();
    tetrahedra::<f64>();
    tetrahedra::<Complex<f32>>();
    tetrahedra::<Complex<f64>>();
}

#[test]
fn the_nearest_of_every_type() {
    nearest::<f32>();
    nearest::<f64>();
    nearest::<Complex<f32>>();
    nearest::<Complex<f64>>();
}

#[test]
fn axes_of_every_type() {
    axes::<f32>();
    axes::<f64>();
    axes::<Complex<f32>>();
    axes::<Complex<f64>>();
}

/// The least place, and cells that are flat.
#[test]
fn bad_coordinates_and_flat_cells() {
    let mut rng = rng();
    for bad in [f64::NAN, f64::INFINITY, -1.1e30] {
        let mut numbers = random_values(&mut rng, 700);
        let find = |rng: &mut Rng, numbers: &[f64]| {
            let (coordinates, report) = (Buffer::new(numbers), Buffer::new(&REPORT));
            let parameters = Check {
                coordinates: coordinates.global(),
                report: report.global_mut(),
                n_coordinates: numbers.len() as u32,
            };
            run(rng, &interpolate_check, numbers.len() as u32, 1, parameters);
            report.to_vec()[FIRST_BAD as usize]
        };
        assert_eq!(find(&mut rng, &numbers), NONE);
        numbers[699] = bad;
        numbers[333] = bad;
        assert_eq!(find(&mut rng, &numbers), 333);
    }
    let mut nodes = Lattice::random(&mut rng, [3, 3, 3], 1.0, 0.0).nodes(&mut rng, 0.0);
    nodes.positions.fill(0.25);
    let mesh = Mesh::new(&mut rng, &nodes);
    let [low, high] = [2, 1].map(|from_end| mesh.boxes.to_vec()[mesh.boxes.to_vec().len() - from_end]);
    assert!(low[0] > high[0], "{low:?} {high:?}");
    assert_eq!(mesh.levels.to_vec()[0][IS_FLAT as usize], 1);
    let places = mesh.locate(&mut rng, &interpolate_through_boxes, &[[0.25; 3], [0.0; 3]]);
    assert_eq!(places.codes.to_vec(), [OUTSIDE; 2]);
}

#[test]
fn coordinates_in_double_precision() {
    let mut rng = rng();
    let numbers: Vec<f32> = (0..700).map(|_| f32::from_bits(rng.u32(..))).collect();
    let (coordinates, wide) = (Buffer::new(&numbers), Buffer::filled(f64::NAN, numbers.len()));
    let parameters = Widen {
        coordinates: coordinates.global(),
        wide: wide.global_mut(),
        n_coordinates: numbers.len() as u32,
    };
    run(&mut rng, &interpolate_widen, numbers.len() as u32, 1, parameters);
    for (got, number) in wide.to_vec().into_iter().zip(numbers) {
        assert!(got.to_bits() == f64::from(number).to_bits() || (got.is_nan() && number.is_nan()));
    }
}

/// Points row by row, and drawn at random; some are outside.
#[test]
fn jumps() {
    let mut rng = rng();
    let [n_x, n_y, n_z] = [40, 30, 20];
    let cell = |x: u32, y: u32, z: u32| ((z * n_y + y) * n_x + x) << 3 | 5;
    let n_points = 1000_u32;
    let near: Vec<u32> = (0..n_points).map(|n| cell(n % 20 * 2, n / 20 % 25, n / 500)).collect();
    let random = |rng: &mut Rng| cell(rng.u32(..n_x), rng.u32(..n_y), rng.u32(..n_z));
    let far: Vec<u32> = (0..n_points)
        .map(|_| if rng.u8(..10) == 0 { OUTSIDE } else { random(&mut rng) })
        .collect();
    for codes in [near, far] {
        let (buffer, report) = (Buffer::new(&codes), Buffer::new(&REPORT));
        let parameters = Jumps {
            codes: buffer.global(),
            report: report.global_mut(),
            n_points,
            n_x,
            n_y,
        };
        run(&mut rng, &interpolate_jumps, n_points, 1, parameters);
        let position = |code: u32| [code / 8 % n_x, code / 8 / n_x % n_y, code / 8 / n_x / n_y].map(i64::from);
        let is_jump = |pair: &&[u32]| {
            let (from, to) = (position(pair[0]), position(pair[1]));
            let is_far = pair[0] == OUTSIDE || (0..3).any(|axis| (to[axis] - from[axis]).abs() > 2);
            pair[1] != OUTSIDE && is_far
        };
        // Nobody is before the first point, which is outside or not.
        let n_jumps = codes.windows(2).filter(is_jump).count() as u32;
        let n_inside = codes.iter().filter(|code| **code != OUTSIDE).count() as u32;
        let got = report.to_vec();
        assert_eq!([got[N_JUMPS as usize], got[N_INSIDE as usize]], [n_jumps, n_inside]);
        assert_eq!([got[0], got[3]], [REPORT[0], REPORT[3]]);
    }
}
