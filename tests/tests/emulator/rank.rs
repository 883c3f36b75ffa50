//! The products for singular components, launched as the library does, against sums in double precision.

use cuda_std::Launch;
use cuda_std::emulator::{Buffer, Instruction, Options, Report, launch, launch_with};
use fastrand::Rng;
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::random::{between, rng};
use kernels::rank::{FEW, Few, Gram, GramAdd, Instance, Matrix, Products, Project, SIDE};
use ndarray::{Array2, s};
use num_complex::{Complex, Complex64};

/// A number type under test.
trait Tested: Instance {
    const NAME: &'static str;
    const IS_COMPLEX: bool;
    /// Of one rounding.
    const EPSILON: f64;
    /// The nearest number, as words.
    fn words(value: Complex64) -> Vec<u32>;
    fn value(words: &[u32]) -> Complex64;
}

fn of_f64(value: f64) -> Vec<u32> {
    let bits = value.to_bits();
    vec![bits as u32, (bits >> 32) as u32]
}

fn to_f64(words: &[u32]) -> f64 {
    f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32)
}

fn of_f32(value: f64) -> Vec<u32> {
    vec![(value as f32).to_bits()]
}

fn to_f32(words: &[u32]) -> f64 {
    f64::from(f32::from_bits(words[0]))
}

macro_rules! tested {
    ($($float:ident, $real:literal, $complex:literal, $of:ident, $to:ident, $n:literal;)*) => { $(
        impl Tested for $float {
            const NAME: &'static str = $real;
            const IS_COMPLEX: bool = false;
            const EPSILON: f64 = $float::EPSILON as f64;
            fn words(value: Complex64) -> Vec<u32> {
                $of(value.re)
            }
            fn value(words: &[u32]) -> Complex64 {
                $to(words).into()
            }
        }
        impl Tested for Complex<$float> {
            const NAME: &'static str = $complex;
            const IS_COMPLEX: bool = true;
            const EPSILON: f64 = $float::EPSILON as f64;
            fn words(value: Complex64) -> Vec<u32> {
                [$of(value.re), $of(value.im)].concat()
            }
            fn value(words: &[u32]) -> Complex64 {
                Complex::new($to(words), $to(&words[$n..]))
            }
        }
    )* };
}

tested! {
    f32, "f32", "complex f32", of_f32, to_f32, 1;
    f64, "f64", "complex f64", of_f64, to_f64, 2;
}

/// A matrix as kernels read it.
struct Stored {
    matrix: Array2<Complex64>,
    units: Buffer<[u32; 4]>,
    words: Buffer<u32>,
    is_aligned: bool,
}

impl Stored {
    fn random<T: Tested>(rng: &mut Rng, shape: [usize; 2]) -> Self {
        let matrix = Array2::from_shape_simple_fn(shape, || {
            let value = Complex64::new(between(rng, -1.0, 1.0), between(rng, -1.0, 1.0));
            T::value(&T::words(value))
        });
        let words: Vec<u32> = matrix.iter().flat_map(|value| T::words(*value)).collect();
        let units: Vec<[u32; 4]> = words.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
        Self {
            is_aligned: (shape[1] * size_of::<T>()).is_multiple_of(16),
            units: Buffer::new(&units),
            words: Buffer::new(&words),
            matrix,
        }
    }

    fn parameters(&self) -> Matrix {
        Matrix {
            units: self.units.global(),
            words: self.words.global(),
            n_rows: self.matrix.nrows() as u32,
            is_aligned: u32::from(self.is_aligned),
            n_columns: self.matrix.ncols() as u64,
        }
    }
}

fn options(rng: &mut Rng) -> Options {
    Options {
        seed: rng.u64(..),
        ..Options::default()
    }
}

/// The lanes of a fragment read from different banks.
fn assert_no_conflicts(report: &Report) {
    let conflicts = report.traffic(Instruction::SharedLoad).bank_conflicts;
    assert_eq!(conflicts, 0, "{}", report.kernel);
}

const SHAPES: [[usize; 2]; 6] = [[1, 1], [5, 7], [8, 64], [64, 101], [70, 150], [130, 132]];

/// The upper triangle of all products, in parts and added up.
fn products_of_rows<T: Tested>(products: Products) {
    let mut rng = rng();
    let parts_of_number = if T::IS_COMPLEX { 2 } else { 1 };
    for [rows, columns] in SHAPES {
        let stored = Stored::random::<T>(&mut rng, [rows, columns]);
        let columns_per_part = rng.u64(1..=columns as u64).next_multiple_of(u64::from(T::DEPTH));
        let n_parts = (columns as u64).div_ceil(columns_per_part) as u32;
        let of_part = rows * rows * parts_of_number;
        let parts = Buffer::filled(f64::NAN, of_part * n_parts as usize);
        let gram = Gram {
            matrix: stored.parameters(),
            parts: parts.global_mut(),
            columns_per_part,
        };
        let shape = T::gram_launch(rows as u32, n_parts);
        let report =
            launch_with(&T::gram(products), shape, gram, options(&mut rng)).unwrap_or_else(|fault| panic!("{fault}"));
        if products == Products::Matrix {
            assert_no_conflicts(&report);
        }
        let sums = Buffer::filled(f64::NAN, of_part);
        let add = GramAdd {
            parts: parts.global(),
            output: sums.global_mut(),
            n_rows: rows as u32,
            words: parts_of_number as u32,
            n_parts,
        };
        launch(&kernels::rank::gram_add, add.launch(), add).unwrap_or_else(|fault| panic!("{fault}"));
        let sums = sums.to_vec();
        let expected = stored.matrix.dot(&stored.matrix.t().mapv(|value| value.conj()));
        let mut worst = 0.0_f64;
        for row in 0..rows {
            for column in 0..rows {
                let at = (row * rows + column) * parts_of_number;
                if column < row {
                    assert!(sums[at].is_nan(), "below the diagonal nobody writes");
                    continue;
                }
                let got = Complex::new(sums[at], if T::IS_COMPLEX { sums[at + 1] } else { 0.0 });
                let size = (expected[[row, row]].re * expected[[column, column]].re).sqrt();
                let error = (got - expected[[row, column]]).norm() / size;
                assert!(error.is_finite(), "row {row}, column {column}");
                worst = worst.max(error);
            }
        }
        let what = format!("{products:?} {} {rows} × {columns} in {n_parts} parts", T::NAME);
        assert_within(&what, worst, 1e-14);
    }
}

/// A small matrix with all columns, with some of them, and magnitudes.
fn products_of_columns<T: Tested>(products: Products) {
    let mut rng = rng();
    for [rows, columns] in SHAPES {
        let stored = Stored::random::<T>(&mut rng, [rows, columns]);
        let small = Stored::random::<Complex<f64>>(&mut rng, [rows, rows]).matrix;
        let small = if T::IS_COMPLEX {
            small
        } else {
            small.mapv(|value| value.re.into())
        };
        for (is_magnitude, first, end) in [(false, 0, columns), (true, columns / 2 / 4 * 4, columns)] {
            let n_output_rows = rows + usize::from(is_magnitude);
            let padded = n_output_rows.next_multiple_of(SIDE as usize);
            let mut of_small = Array2::zeros([padded, padded]);
            of_small.slice_mut(s![..rows, ..rows]).assign(&small);
            let units = wide::<T>(&of_small);
            let pitch = end - first;
            let words_of_number = size_of::<T>() / 4 / if is_magnitude && T::IS_COMPLEX { 2 } else { 1 };
            let output = Buffer::filled(u32::MAX, n_output_rows * pitch * words_of_number);
            let project = Project {
                matrix: stored.parameters(),
                small: units.global(),
                output: output.global_mut(),
                first_column: first as u64,
                end_column: end as u64,
                output_first: first as u64,
                output_pitch: pitch as u64,
                n_output_rows: n_output_rows as u32,
                padded_rows: padded as u32,
                is_magnitude: u32::from(is_magnitude),
            };
            let shape: Launch = T::project_launch(padded as u32, pitch as u64);
            let report = launch_with(&T::project(products), shape, project, options(&mut rng))
                .unwrap_or_else(|fault| panic!("{fault}"));
            if products == Products::Matrix {
                assert_no_conflicts(&report);
            }
            let output = output.to_vec();
            let mut expected = small.dot(&stored.matrix.slice(s![.., first..end]));
            if is_magnitude {
                expected.mapv_inplace(|value| value.norm().into());
                expected
                    .push_row(ndarray::Array1::from_elem(pitch, Complex64::ONE).view())
                    .expect("as many columns");
            }
            let got = output.chunks(words_of_number).map(|words| {
                if !is_magnitude {
                    T::value(words)
                } else if words_of_number == 1 {
                    to_f32(words).into()
                } else {
                    to_f64(words).into()
                }
            });
            let what = format!(
                "{products:?} {} {rows} × {columns}, columns from {first} on, {}",
                T::NAME,
                if is_magnitude { "magnitudes" } else { "elements" }
            );
            assert_eq!(got.len(), expected.len());
            assert_within(
                &what,
                relative_error(got.zip(expected.iter().copied())),
                T::EPSILON.max(1e-14),
            );
        }
    }
}

/// A matrix in double precision as kernels read it.
fn wide<T: Tested>(matrix: &Array2<Complex64>) -> Buffer<[u32; 4]> {
    let words: Vec<u32> = matrix
        .iter()
        .flat_map(|value| {
            if T::IS_COMPLEX {
                <Complex<f64> as Tested>::words(*value)
            } else {
                <f64 as Tested>::words(*value)
            }
        })
        .collect();
    Buffer::new(
        &words
            .chunks_exact(4)
            .map(|c| [c[0], c[1], c[2], c[3]])
            .collect::<Vec<_>>(),
    )
}

/// Few components with all columns, added to the matrix and not.
fn few_components<T: Tested>() {
    let mut rng = rng();
    for [rows, columns] in SHAPES {
        let stored = Stored::random::<T>(&mut rng, [rows, columns]);
        let padded = rows.next_multiple_of(SIDE as usize);
        for (n_few, is_added) in [
            (rng.usize(1..=FEW as usize), true),
            (FEW as usize, false),
            (0, true),
            (0, false),
        ] {
            let mut factor = |shape: [usize; 2]| {
                let factor = Stored::random::<Complex<f64>>(&mut rng, shape).matrix;
                if T::IS_COMPLEX {
                    factor
                } else {
                    factor.mapv(|value| value.re.into())
                }
            };
            let (left, right) = (factor([rows, n_few]), factor([n_few, rows]));
            let mut of_rows = Array2::zeros([FEW as usize, padded]);
            of_rows.slice_mut(s![..n_few, ..rows]).assign(&right);
            let mut of_columns = Array2::zeros([padded, FEW as usize]);
            of_columns.slice_mut(s![..rows, ..n_few]).assign(&left);
            let (of_rows, of_columns) = (wide::<T>(&of_rows), wide::<T>(&of_columns));
            let output = Buffer::filled(u32::MAX, rows * columns * size_of::<T>() / 4);
            let few = Few {
                matrix: stored.parameters(),
                rows: of_rows.global(),
                columns: of_columns.global(),
                output: output.global_mut(),
                padded_rows: padded as u32,
                n_few: n_few as u32,
                is_added: u32::from(is_added),
            };
            let shape = T::few_launch(columns as u64);
            let report =
                launch_with(&T::few(), shape, few, options(&mut rng)).unwrap_or_else(|fault| panic!("{fault}"));
            assert_no_conflicts(&report);
            let mut expected = left.dot(&right.dot(&stored.matrix));
            if is_added {
                expected += &stored.matrix;
            }
            let output = output.to_vec();
            let got = output.chunks(size_of::<T>() / 4).map(T::value);
            assert_eq!(got.len(), expected.len());
            let what = format!("{} {rows} × {columns}, {n_few} components, added: {is_added}", T::NAME);
            assert_within(
                &what,
                relative_error(got.zip(expected.iter().copied())),
                T::EPSILON.max(1e-14),
            );
        }
    }
}

macro_rules! every_number {
    ($($name:ident: $number:ty;)*) => { $(
        #[test]
        fn $name() {
            few_components::<$number>();
        }
    )* };
}

every_number! {
    few_components_f32: f32;
    few_components_f64: f64;
    few_components_complex_f32: Complex<f32>;
    few_components_complex_f64: Complex<f64>;
}

macro_rules! every_kernel {
    ($($name:ident: $number:ty, $products:ident;)*) => { $(
        #[test]
        fn $name() {
            products_of_rows::<$number>(Products::$products);
            products_of_columns::<$number>(Products::$products);
        }
    )* };
}

every_kernel! {
    f32_by_matrix_instructions: f32, Matrix;
    f64_by_matrix_instructions: f64, Matrix;
    complex_f32_by_matrix_instructions: Complex<f32>, Matrix;
    complex_f64_by_matrix_instructions: Complex<f64>, Matrix;
    f32_by_multiply_adds: f32, Fma;
    f64_by_multiply_adds: f64, Fma;
    complex_f32_by_multiply_adds: Complex<f32>, Fma;
    complex_f64_by_multiply_adds: Complex<f64>, Fma;
}

/// Parts are whole rows of tiles, all columns are in one, and their number is bounded.
#[test]
fn parts_cover_all_columns() {
    for (rows, columns) in [
        (1, 1),
        (64, 262_144),
        (256, 1 << 20),
        (1024, 1 << 21),
        (200, 511),
        (3000, 3000),
    ] {
        let of_part = <Complex<f32> as Instance>::columns_per_part(rows, columns);
        let n_parts = columns.div_ceil(of_part);
        assert!(of_part.is_multiple_of(16) && (n_parts - 1) * of_part < columns);
        let bytes = n_parts * u64::from(rows) * u64::from(rows) * 16;
        assert!(n_parts == 1 || bytes < 160 << 20, "{rows} × {columns}: {bytes} bytes");
    }
}
