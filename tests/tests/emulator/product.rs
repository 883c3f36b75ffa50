//! Matrix products of operands with random strides, every kernel against sums in double precision.

use cuda_std::Element;
use cuda_std::emulator::{Buffer, Instruction, Options, Report, launch_with};
use cuda_std::half::F16;
use fastrand::Rng;
use integration_tests::random::rng;
use kernels::copy::axes::{Axis, Divisor};
use kernels::product::{BatchAxis, Instance, MOST_AXES, Operand, Product, Tile, halves};
use num_complex::{Complex, Complex64};

/// A number of the tests.
trait Value: Instance + Element {
    /// The unit roundoff of sums, and of the result.
    const ROUNDOFF: [f64; 2];
    const IS_COMPLEX: bool;

    fn new(value: Complex64) -> Self;
    fn value(self) -> Complex64;
}

macro_rules! values {
    ($($type:ty: $roundoff:expr, $is_complex:literal, |$v:ident| $new:expr, |$s:ident| $value:expr;)*) => { $(
        impl Value for $type {
            const ROUNDOFF: [f64; 2] = $roundoff;
            const IS_COMPLEX: bool = $is_complex;

            fn new($v: Complex64) -> Self {
                $new
            }
            fn value(self) -> Complex64 {
                let $s = self;
                $value
            }
        }
    )* };
}

const SINGLE: f64 = 1.0 / 16_777_216.0;
const HALF: f64 = 1.0 / 2048.0;

fn half(value: f64) -> F16 {
    F16::from_f32(value as f32)
}

fn of_half(value: F16) -> f64 {
    f64::from(value.to_f32())
}

values! {
    F16: [SINGLE, HALF], false, |v| half(v.re), |s| of_half(s).into();
    f32: [SINGLE, 0.0], false, |v| v.re as f32, |s| f64::from(s).into();
    f64: [f64::EPSILON / 2.0, 0.0], false, |v| v.re, |s| s.into();
    Complex<F16>: [SINGLE, HALF], true, |v| Complex::new(half(v.re), half(v.im)),
        |s| Complex::new(of_half(s.re), of_half(s.im));
    Complex<f32>: [SINGLE, 0.0], true, |v| Complex::new(v.re as f32, v.im as f32),
        |s| Complex::new(f64::from(s.re), f64::from(s.im));
    Complex<f64>: [f64::EPSILON / 2.0, 0.0], true, |v| v, |s| s;
}

/// Lengths and strides of some axes, fastest first.
type Axes = Vec<(usize, i64)>;

/// The place of a position.
fn place(axes: &Axes, mut position: usize) -> i64 {
    let mut place = 0;
    for &(length, stride) in axes {
        place += (position % length) as i64 * stride;
        position /= length;
    }
    place
}

/// Strides for groups of axes that share a memory, some of them backward; the origin, and how long the memory is.
fn strides(rng: &mut Rng, groups: &[&[usize]], is_output: bool) -> (Vec<Axes>, i64, usize) {
    let mut axes: Vec<(usize, usize, usize)> = Vec::new();
    for (group, lengths) in groups.iter().enumerate() {
        axes.extend(
            lengths
                .iter()
                .enumerate()
                .map(|(number, &length)| (group, number, length)),
        );
    }
    rng.shuffle(&mut axes);
    let mut strides: Vec<Axes> = groups
        .iter()
        .map(|lengths| lengths.iter().map(|&length| (length, 0)).collect())
        .collect();
    let (mut step, mut origin) = (1, 0);
    for (group, number, length) in axes {
        let stride = match rng.u8(..8) {
            0 if !is_output => 0,
            1 if !is_output => -step,
            _ => step,
        };
        strides[group][number].1 = stride;
        origin -= stride.min(0) * (length as i64 - 1);
        step *= (length + [0, 0, 1][rng.usize(..3)]) as i64;
    }
    (strides, origin, step as usize)
}

fn padded(axes: &Axes, output: &Axes) -> [Axis; MOST_AXES] {
    let mut all = [Axis::NONE; MOST_AXES];
    for (at, (&(length, input_stride), &(_, output_stride))) in axes.iter().zip(output).enumerate() {
        all[at] = Axis {
            length: Divisor::new(length as u32),
            input_stride,
            output_stride,
        };
    }
    all
}

struct Shape<'a> {
    rows: &'a [usize],
    columns: &'a [usize],
    batch: &'a [usize],
    summed: usize,
    of_part: usize,
}

/// Launches and compares; what was seen of the launch.
fn check<T: Value>(rng: &mut Rng, tile: Tile, shape: &Shape, is_dense: bool) -> Report {
    let product = |lengths: &[usize]| -> usize { lengths.iter().product() };
    let (n_rows, n_columns, n_items) = (product(shape.rows), product(shape.columns), product(shape.batch));
    let n_parts = shape.summed.div_ceil(shape.of_part.max(1)).max(1);
    let dense = |groups: &[&[usize]]| {
        let mut step = 1;
        let axes = groups.iter().map(|lengths| {
            let of_group = lengths.iter().map(|&length| {
                step *= length as i64;
                (length, step / length as i64)
            });
            of_group.collect()
        });
        let axes: Vec<Axes> = axes.collect();
        (axes, 0, step as usize)
    };
    let mut layout = |groups: &[&[usize]], is_output| {
        if is_dense {
            dense(groups)
        } else {
            strides(rng, groups, is_output)
        }
    };
    let (first, first_origin, first_length) = layout(&[&[shape.summed], shape.rows, shape.batch], false);
    let (second, second_origin, second_length) = layout(&[shape.columns, &[shape.summed], shape.batch], false);
    let (output, _, output_length) = layout(&[shape.columns, shape.rows, shape.batch, &[n_parts]], true);
    let mut numbers = |length: usize| -> Vec<T> {
        let number = |_| T::new(Complex::new(rng.f64() - 0.5, rng.f64() - 0.5));
        (0..length).map(number).collect()
    };
    let (x, y) = (numbers(first_length), numbers(second_length));
    let (x_memory, y_memory) = (Buffer::new(&x), Buffer::new(&y));
    let stale = T::new(Complex::new(f64::NAN, f64::NAN));
    let memory = Buffer::filled(stale, output_length);
    let batch_axis = |axis: usize| BatchAxis {
        length: Divisor::new(shape.batch[axis] as u32),
        strides: [first[2][axis].1, second[2][axis].1, output[2][axis].1],
    };
    let batch = std::array::from_fn(|axis| {
        if axis < shape.batch.len() {
            batch_axis(axis)
        } else {
            BatchAxis::NONE
        }
    });
    let parameters = Product {
        first: Operand {
            memory: x_memory.global(),
            origin: first_origin,
            stride: first[0][0].1,
            along_sum: u32::from(is_dense || rng.bool()),
        },
        second: Operand {
            memory: y_memory.global(),
            origin: second_origin,
            stride: second[1][0].1,
            along_sum: u32::from(!is_dense && rng.bool()),
        },
        output: memory.global_mut(),
        n_rows: n_rows as u32,
        n_columns: n_columns as u32,
        n_items: n_items as u32,
        n_summed: shape.summed as u32,
        n_summed_of_part: shape.of_part as u32,
        n_axes: [
            shape.rows.len() as u32,
            shape.columns.len() as u32,
            shape.batch.len() as u32,
        ],
        is_wide: u32::from(is_dense && n_columns.is_multiple_of(T::of_vector() as usize)),
        part_stride: output[3][0].1,
        rows: padded(&first[1], &output[1]),
        columns: padded(&second[0], &output[0]),
        batch,
    };
    let options = Options {
        seed: rng.u64(..),
        ..Options::default()
    };
    let report = launch_with(&T::kernel(tile), T::launch(tile, &parameters), parameters, options)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let got = memory.to_vec();
    let mut share = 0.0_f64;
    for part in 0..n_parts {
        for item in 0..n_items {
            for row in 0..n_rows {
                for column in 0..n_columns {
                    let (mut sum, mut size) = (Complex64::ZERO, 0.0);
                    let last = shape.summed.min((part + 1) * shape.of_part);
                    for summed in part * shape.of_part..last {
                        let at = [place(&first[0], summed), place(&first[1], row), place(&first[2], item)];
                        let a = x[(first_origin + at.iter().sum::<i64>()) as usize].value();
                        let at = [
                            place(&second[1], summed),
                            place(&second[0], column),
                            place(&second[2], item),
                        ];
                        let b = y[(second_origin + at.iter().sum::<i64>()) as usize].value();
                        sum += a * b;
                        size += a.norm() * b.norm();
                    }
                    let at = place(&output[0], column)
                        + place(&output[1], row)
                        + place(&output[2], item)
                        + place(&output[3], part);
                    let error = (got[at as usize].value() - sum).norm();
                    let [of_sum, of_result] = T::ROUNDOFF;
                    let factor = if T::IS_COMPLEX { 2.0 } else { 1.0 };
                    // Halves below the normal numbers are multiples of 2^-24.
                    let least = if of_result > 0.0 { SINGLE } else { 0.0 };
                    let bound =
                        factor * (shape.of_part as f64 + 8.0) * of_sum * size + factor * of_result * size + least;
                    assert!(
                        error <= bound,
                        "{row}, {column} of item {item}, part {part}: {error} of {bound}"
                    );
                    share = share.max(if error > 0.0 { error / bound } else { 0.0 });
                }
            }
        }
    }
    println!(
        "{n_rows} x {} x {n_columns}, {n_items} items: {share:.2} of the bound",
        shape.summed
    );
    report
}

fn every_shape<T: Value>() {
    let mut rng = rng();
    for tile in [Tile::Small, Tile::Large] {
        let [rows, columns] = T::tile(tile).map(|length| length as usize);
        for (rows, columns, batch, summed, of_part) in [
            (vec![rows + 1], vec![2, 5], vec![], 9, 9),
            (vec![3, 2], vec![columns / 2 + 3, 2], vec![2], 17, 8),
            (vec![1], vec![1], vec![2, 1, 3], 40, 16),
            (vec![], vec![5], vec![], 0, 1),
            (
                vec![2, 1, 2, 1, 2, 1, 2, 1],
                vec![1, 3, 1, 2, 1, 1, 1, 2],
                vec![1; 8],
                5,
                5,
            ),
        ] {
            let shape = Shape {
                rows: &rows,
                columns: &columns,
                batch: &batch,
                summed,
                of_part,
            };
            check::<T>(&mut rng, tile, &shape, false);
        }
        let shape = Shape {
            rows: &[rows],
            columns: &[columns],
            batch: &[2],
            summed: 16,
            of_part: 16,
        };
        let report = check::<T>(&mut rng, tile, &shape, true);
        for instruction in [Instruction::SharedLoad, Instruction::SharedStore] {
            let conflicts = report.traffic(instruction).bank_conflicts;
            assert_eq!(conflicts, 0, "{tile:?}: {instruction:?}");
        }
        let loads = report.traffic(Instruction::GlobalLoad);
        println!("{tile:?}: {} bytes of {} sectors", loads.bytes, loads.sectors);
    }
}

macro_rules! every_number {
    ($($name:ident: $type:ty;)*) => { $(
        #[test]
        fn $name() {
            every_shape::<$type>();
        }
    )* };
}

every_number! {
    f16: F16;
    f32: f32;
    f64: f64;
    complex_f16: Complex<F16>;
    complex_f32: Complex<f32>;
    complex_f64: Complex<f64>;
}

/// Products by matrix instructions, of operands dense along the sum and not, with tails of everything.
#[test]
fn matrix_instructions() {
    let mut rng = rng();
    for (first_along, second_along) in [(true, true), (true, false), (false, true), (false, false)] {
        for (n_rows, n_columns, n_summed, n_items, is_wide) in [
            (129, 200, 72, 1, true),
            (40, 77, 37, 2, false),
            (128, 128, 160, 1, true),
            (33, 34, 8, 3, true),
            (5, 130, 0, 1, true),
        ] {
            // Rows of memory are whole pieces, and begin a piece behind the memory.
            let operand = |along: bool, free: usize| {
                let (inner, outer): (usize, usize) = if along { (n_summed, free) } else { (free, n_summed) };
                let pitch = inner.next_multiple_of(8);
                let strides = if along { [1, pitch] } else { [pitch, 1] };
                (strides.map(|stride| stride as i64), pitch * outer)
            };
            let ([x_sum, x_row], x_size) = operand(first_along, n_rows);
            let ([y_sum, y_column], y_size) = operand(second_along, n_columns);
            let mut numbers =
                |size: usize| -> Vec<F16> { (0..8 + size * n_items).map(|_| half(rng.f64() - 0.5)).collect() };
            let (x, y) = (numbers(x_size), numbers(y_size));
            let (x_memory, y_memory) = (Buffer::new(&x), Buffer::new(&y));
            let size = n_rows * n_columns;
            let memory = Buffer::filled(half(f64::NAN), size * n_items);
            let axis = |length: usize, input_stride, output_stride| {
                let mut axes = [Axis::NONE; MOST_AXES];
                axes[0] = Axis {
                    length: Divisor::new(length as u32),
                    input_stride,
                    output_stride,
                };
                axes
            };
            let mut batch = [BatchAxis::NONE; MOST_AXES];
            batch[0] = BatchAxis {
                length: Divisor::new(n_items as u32),
                strides: [x_size as i64, y_size as i64, size as i64],
            };
            let parameters = Product {
                first: Operand {
                    memory: x_memory.global(),
                    origin: 8,
                    stride: x_sum,
                    along_sum: 0,
                },
                second: Operand {
                    memory: y_memory.global(),
                    origin: 8,
                    stride: y_sum,
                    along_sum: 0,
                },
                output: memory.global_mut(),
                n_rows: n_rows as u32,
                n_columns: n_columns as u32,
                n_items: n_items as u32,
                n_summed: n_summed as u32,
                n_summed_of_part: n_summed as u32,
                n_axes: [1; 3],
                is_wide: u32::from(is_wide),
                part_stride: 0,
                rows: axis(n_rows, x_row, n_columns as i64),
                columns: axis(n_columns, y_column, 1),
                batch,
            };
            let options = Options {
                seed: rng.u64(..),
                ..Options::default()
            };
            let kernel = halves::kernel(first_along, second_along);
            let report = launch_with(&kernel, halves::launch(&parameters), parameters, options)
                .unwrap_or_else(|fault| panic!("{fault}"));
            let conflicts = report.traffic(Instruction::SharedLoad).bank_conflicts;
            assert_eq!(conflicts, 0, "along the sum: {first_along}, {second_along}");
            let got = memory.to_vec();
            let mut share = 0.0_f64;
            for item in 0..n_items {
                for row in 0..n_rows {
                    for column in 0..n_columns {
                        let (mut sum, mut magnitudes) = (0.0, 0.0);
                        for summed in 0..n_summed {
                            let place = |sum: i64, stride: i64, position: usize, size: usize| {
                                8 + item * size + summed * sum as usize + position * stride as usize
                            };
                            let product = of_half(x[place(x_sum, x_row, row, x_size)])
                                * of_half(y[place(y_sum, y_column, column, y_size)]);
                            sum += product;
                            magnitudes += product.abs();
                        }
                        let error = (of_half(got[item * size + row * n_columns + column]) - sum).abs();
                        let bound = ((n_summed as f64 + 8.0) * SINGLE + HALF) * magnitudes + SINGLE;
                        assert!(error <= bound, "{row}, {column} of item {item}: {error} of {bound}");
                        share = share.max(error / bound);
                    }
                }
            }
            println!("{n_rows} x {n_summed} x {n_columns}, {first_along}, {second_along}: {share:.2} of the bound");
        }
    }
}
