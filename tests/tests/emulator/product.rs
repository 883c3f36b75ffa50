//! Matrix products of operands with random strides, every kernel against sums in double precision.

use cuda_std::emulator::{Buffer, Instruction, Options, Report, launch_with};
use cuda_std::half::F16;
use cuda_std::{Element, Kernel, Launch};
use fastrand::Rng;
use integration_tests::random::rng;
use kernels::copy::axes::{Axis, Divisor};
use kernels::product::{BatchAxis, Instance, MOST_AXES, Operand, Product, Tile, matrix};
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

impl Shape<'_> {
    /// Rows, columns, batch items, parts of the sum.
    fn counts(&self) -> [usize; 4] {
        let product = |lengths: &[usize]| lengths.iter().product();
        let n_parts = self.summed.div_ceil(self.of_part.max(1)).max(1);
        [product(self.rows), product(self.columns), product(self.batch), n_parts]
    }

    /// The part's positions of the sum.
    fn summed(&self, part: usize) -> std::ops::Range<usize> {
        part * self.of_part..self.summed.min((part + 1) * self.of_part)
    }
}

/// An operand: axes of the sum, of rows or columns, and of batch items.
struct Side<T: Element> {
    axes: [Axes; 3],
    origin: i64,
    numbers: Vec<T>,
    memory: Buffer<T>,
}

impl<T: Value> Side<T> {
    fn new(rng: &mut Rng, axes: [Axes; 3], origin: i64, length: usize) -> Self {
        let number = |_| T::new(Complex::new(rng.f64() - 0.5, rng.f64() - 0.5));
        let numbers: Vec<T> = (0..length).map(number).collect();
        Self {
            axes,
            origin,
            memory: Buffer::new(&numbers),
            numbers,
        }
    }

    fn value(&self, positions: [usize; 3]) -> Complex64 {
        let places = self
            .axes
            .iter()
            .zip(positions)
            .map(|(axes, position)| place(axes, position));
        self.numbers[(self.origin + places.sum::<i64>()) as usize].value()
    }

    fn operand(&self, along_sum: bool) -> Operand<T> {
        Operand {
            memory: self.memory.global(),
            origin: self.origin,
            stride: self.axes[0][0].1,
            along_sum: u32::from(along_sum),
        }
    }
}

/// The parameters of a launch; `output` has columns, rows, batch items and parts.
fn parameters<T: Value>(
    [first, second]: [&Side<T>; 2],
    along: [bool; 2],
    output: &[Axes],
    memory: &Buffer<T>,
    shape: &Shape,
    is_wide: bool,
) -> Product<T> {
    let batch_axis = |axis: usize| BatchAxis {
        length: Divisor::new(shape.batch[axis] as u32),
        strides: [first.axes[2][axis].1, second.axes[2][axis].1, output[2][axis].1],
    };
    let batch = |axis: usize| {
        if axis < shape.batch.len() {
            batch_axis(axis)
        } else {
            BatchAxis::NONE
        }
    };
    let [n_rows, n_columns, n_items, _] = shape.counts().map(|count| count as u32);
    Product {
        first: first.operand(along[0]),
        second: second.operand(along[1]),
        output: memory.global_mut(),
        n_rows,
        n_columns,
        n_items,
        n_summed: shape.summed as u32,
        n_summed_of_part: shape.of_part as u32,
        n_axes: [shape.rows, shape.columns, shape.batch].map(|axes| axes.len() as u32),
        is_wide: u32::from(is_wide),
        part_stride: output[3][0].1,
        rows: padded(&first.axes[1], &output[1]),
        columns: padded(&second.axes[1], &output[0]),
        batch: std::array::from_fn(batch),
    }
}

/// Asserts that every element is within `of_product` of its products' magnitudes, beside what summing and storing may cost.
fn compare<T: Value>([first, second]: [&Side<T>; 2], output: &[Axes], shape: &Shape, got: &[T], of_product: f64) {
    let [n_rows, n_columns, n_items, n_parts] = shape.counts();
    let [of_sum, of_result] = T::ROUNDOFF;
    let parts = if T::IS_COMPLEX { 2.0 } else { 1.0 };
    // Halves below the normal numbers are multiples of 2^-24.
    let least = if of_result > 0.0 { SINGLE } else { 0.0 };
    let roundoff = parts * ((shape.of_part as f64 + 8.0) * of_sum + of_result + of_product);
    let mut share = 0.0_f64;
    for number in 0..n_parts * n_items * n_rows * n_columns {
        let (column, rest) = (number % n_columns, number / n_columns);
        let (row, rest) = (rest % n_rows, rest / n_rows);
        let (item, part) = (rest % n_items, rest / n_items);
        let (mut sum, mut size) = (Complex64::ZERO, 0.0);
        for summed in shape.summed(part) {
            let product = first.value([summed, row, item]) * second.value([summed, column, item]);
            sum += product;
            size += product.norm();
        }
        let places = output.iter().zip([column, row, item, part]);
        let at: i64 = places.map(|(axes, position)| place(axes, position)).sum();
        let error = (got[at as usize].value() - sum).norm();
        let bound = roundoff * size + least;
        assert!(
            error <= bound,
            "{row}, {column} of item {item}, part {part}: {error} of {bound}"
        );
        share = share.max(if error > 0.0 { error / bound } else { 0.0 });
    }
    println!(
        "{n_rows} x {} x {n_columns}, {n_items} items: {share:.2} of the bound",
        shape.summed
    );
}

fn run<T: Value>(rng: &mut Rng, kernel: &Kernel<Product<T>>, launch: Launch, parameters: &Product<T>) -> Report {
    let options = Options {
        seed: rng.u64(..),
        ..Options::default()
    };
    launch_with(kernel, launch, *parameters, options).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The stale memory of an output.
fn stale<T: Value>(length: usize) -> Buffer<T> {
    Buffer::filled(T::new(Complex::new(f64::NAN, f64::NAN)), length)
}

/// Axes of groups one after the other, the first fastest, and how long that is.
fn dense(groups: &[&[usize]]) -> (Vec<Axes>, i64, usize) {
    let mut step = 1;
    let axes = groups.iter().map(|lengths| {
        let axis = |&length: &usize| {
            step *= length as i64;
            (length, step / length.max(1) as i64)
        };
        lengths.iter().map(axis).collect()
    });
    let axes = axes.collect();
    (axes, 0, step as usize)
}

/// Launches and compares; what was seen of the launch.
fn check<T: Value>(rng: &mut Rng, tile: Tile, shape: &Shape, is_dense: bool) -> Report {
    let [_, n_columns, _, n_parts] = shape.counts();
    let mut layout = |groups: &[&[usize]], is_output| {
        if is_dense {
            dense(groups)
        } else {
            strides(rng, groups, is_output)
        }
    };
    let (x, x_origin, x_length) = layout(&[&[shape.summed], shape.rows, shape.batch], false);
    let (mut y, y_origin, y_length) = layout(&[shape.columns, &[shape.summed], shape.batch], false);
    let (output, _, output_length) = layout(&[shape.columns, shape.rows, shape.batch, &[n_parts]], true);
    y.swap(0, 1);
    let axes = |axes: Vec<Axes>| -> [Axes; 3] { axes.try_into().expect("three groups") };
    let first = Side::<T>::new(rng, axes(x), x_origin, x_length);
    let second = Side::<T>::new(rng, axes(y), y_origin, y_length);
    let memory = stale(output_length);
    let along = [is_dense || rng.bool(), !is_dense && rng.bool()];
    let is_wide = is_dense && n_columns.is_multiple_of(T::of_vector() as usize);
    let parameters = parameters([&first, &second], along, &output, &memory, shape, is_wide);
    let report = run(rng, &T::kernel(tile), T::launch(tile, &parameters), &parameters);
    compare([&first, &second], &output, shape, &memory.to_vec(), 0.0);
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

/// Products by matrix instructions, of operands dense along the sum and not, with tails of everything; `of_product` is what
/// rounding both factors may cost.
fn matrix_instructions<T: Value>(kernel: impl Fn(bool, bool) -> Kernel<Product<T>>, of_product: f64) {
    let mut rng = rng();
    let piece = matrix::PIECE_BYTES as usize / size_of::<T>();
    for along in [[true, true], [true, false], [false, true], [false, false]] {
        for (rows, columns, summed, items, is_wide) in [
            (129, 200, 72, 1, true),
            (40, 77, 37, 2, false),
            (128, 128, 160, 1, true),
            (33, 34, 8, 3, true),
            (5, 130, 0, 1, true),
        ] {
            let shape = Shape {
                rows: &[rows],
                columns: &[columns],
                batch: &[items],
                summed,
                of_part: summed,
            };
            // Lines of memory are whole pieces, and begin a piece behind the memory.
            let mut side = |free: usize, along: bool| {
                let (inner, outer) = if along { (summed, free) } else { (free, summed) };
                let pitch = inner.next_multiple_of(piece);
                let [of_sum, of_free] = if along { [1, pitch] } else { [pitch, 1] };
                let axes = [(summed, of_sum), (free, of_free), (items, pitch * outer)];
                let axes = axes.map(|(length, stride)| vec![(length, stride as i64)]);
                Side::<T>::new(&mut rng, axes, piece as i64, piece + pitch * outer * items)
            };
            let (first, second) = (side(rows, along[0]), side(columns, along[1]));
            let (output, _, length) = dense(&[&[columns], &[rows], &[items], &[1]]);
            let memory = stale(length);
            let parameters = parameters([&first, &second], along, &output, &memory, &shape, is_wide);
            let report = run(
                &mut rng,
                &kernel(along[0], along[1]),
                matrix::launch(&parameters),
                &parameters,
            );
            let conflicts = report.traffic(Instruction::SharedLoad).bank_conflicts;
            assert_eq!(conflicts, 0, "along the sum: {along:?}");
            compare([&first, &second], &output, &shape, &memory.to_vec(), of_product);
        }
    }
}

#[test]
fn halves_by_matrix_instructions() {
    matrix_instructions(matrix::halves, 0.0);
}

/// Both factors are rounded to 11 bits.
#[test]
fn tf32_by_matrix_instructions() {
    matrix_instructions(matrix::tf32, 2.0 * HALF + HALF * HALF);
}
