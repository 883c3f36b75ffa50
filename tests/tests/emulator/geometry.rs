//! Distances and angles of many points, with results that no block fills.

use cuda_std::emulator::{Buffer, launch};
use cuda_std::{Kernel, Launch, Parameters};
use integration_tests::random::{between, rng};
use kernels::copy::axes::Divisor;
use kernels::geometry::{Angles, Instance, Pairs, Rectangle, THREADS, pair_tiles};

fn run<P: Parameters>(kernel: &Kernel<P>, blocks: u32, parameters: P) {
    let shape = Launch {
        grid: [blocks, 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    launch(kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
}

fn check<R: Instance>(bound: f64) {
    let mut rng = rng();
    let mut numbers = |count: usize| -> Vec<R> {
        std::iter::repeat_with(|| R::from_f64(between(&mut rng, -2.0, 2.0)))
            .take(count)
            .collect()
    };
    let nan = R::from_f64(f64::NAN);
    for (items, n_rows, n_columns, n_dimensions) in [(2, 11, 300, 3), (3, 8, 5, 2), (1, 1, 256, 7)] {
        let (rows, columns) = (
            numbers(items * n_rows * n_dimensions),
            numbers(items * n_columns * n_dimensions),
        );
        let (first, second) = (Buffer::new(&rows), Buffer::new(&columns));
        let output = Buffer::filled(nan, items * n_rows * n_columns);
        let [row_tiles, column_tiles] = pair_tiles(n_rows as u32, n_columns as u32);
        // The first item, then the others.
        for (first_item, count) in [(0, 1), (1, items as u32 - 1)] {
            if count == 0 {
                continue;
            }
            let parameters = Pairs {
                rows: first.global(),
                columns: second.global(),
                output: output.global_mut(),
                first_item,
                n_rows: n_rows as u32,
                n_columns: n_columns as u32,
                n_dimensions: n_dimensions as u32,
                row_tiles: Divisor::new(row_tiles),
                column_tiles: Divisor::new(column_tiles),
            };
            run(&R::pairs(), count * row_tiles * column_tiles, parameters);
        }
        for (number, got) in output.to_vec().into_iter().enumerate() {
            let (row, column) = (number / n_columns, number % n_columns);
            let column = row / n_rows * n_columns + column;
            let square: f64 = (0..n_dimensions)
                .map(|axis| {
                    let a = rows[row * n_dimensions + axis].to_f64();
                    (a - columns[column * n_dimensions + axis].to_f64()).powi(2)
                })
                .sum();
            assert!(
                (got.to_f64() - square.sqrt()).abs() <= bound,
                "{number}: {}",
                got.to_f64()
            );
        }
    }
    let points = numbers(3 * 300);
    let (memory, output) = (Buffer::new(&points), Buffer::filled(nan, 300));
    let parameters = Rectangle {
        points: memory.global(),
        output: output.global_mut(),
        n_points: 300,
        half_width: R::from_f64(1.0),
        half_height: R::from_f64(0.25),
    };
    run(&R::rectangle(), 2, parameters);
    for (point, got) in points.chunks(3).zip(output.to_vec()) {
        let [x, y, z] = [point[0], point[1], point[2]].map(R::to_f64);
        let nearest = [x.clamp(-1.0, 1.0), y.clamp(-0.25, 0.25)];
        let expected = (x - nearest[0]).hypot(y - nearest[1]).hypot(z);
        assert!(
            (got.to_f64() - expected).abs() <= bound,
            "{x} {y} {z}: {}",
            got.to_f64()
        );
    }
    let (first, second) = (numbers(4 * 300), numbers(4 * 300));
    let (a, b, output) = (Buffer::new(&first), Buffer::new(&second), Buffer::filled(nan, 300));
    let parameters = Angles {
        first: a.global(),
        second: b.global(),
        output: output.global_mut(),
        n_vectors: 300,
        n_dimensions: 4,
    };
    run(&R::angles(), 2, parameters);
    for ((first, second), got) in first.chunks(4).zip(second.chunks(4)).zip(output.to_vec()) {
        let dot = |a: &[R], b: &[R]| -> f64 { a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum() };
        let cosine = dot(first, second) / (dot(first, first) * dot(second, second)).sqrt();
        assert!(
            (got.to_f64() - cosine.acos()).abs() <= bound.max(1e-12),
            "{cosine}: {}",
            got.to_f64()
        );
    }
}

#[test]
fn distances_and_angles() {
    check::<f32>(2e-6);
    check::<f64>(1e-14);
}
