//! Large products: times on a GPU, and a few of the sums against sums in double precision.

use half::f16;
use integration_tests::backends::gpu;
use num_complex::{Complex, Complex64};
use warpbeam::ops::{Factor, einsum_into_with};
use warpbeam::{Backend, Precision, Tensor};

/// Runs that are timed; the median counts.
const RUNS: usize = 15;

/// `"ij,jk->ik"` with `[i, j, k]`; the median of the times in milliseconds.
fn time<T: Factor>(
    backend: &Backend,
    [i, j, k]: [usize; 3],
    number: impl Fn(f64, f64) -> T,
    value: impl Fn(T) -> Complex64,
    (precision, roundoff): (Precision, f64),
) -> f64 {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut matrix = |rows, columns| {
        ndarray::Array2::from_shape_simple_fn([rows, columns], || number(rng.f64() - 0.5, rng.f64() - 0.5))
    };
    let (a, b) = (matrix(i, j), matrix(j, k));
    let [x, y] = [&a, &b].map(|matrix| Tensor::from_array(backend, matrix).unwrap());
    let mut output = Tensor::<T>::zeros(backend, &[i, k]).unwrap();
    let stream = backend.stream().unwrap();
    let mut milliseconds: Vec<f64> = (0..RUNS + 2)
        .map(|_| {
            let start = stream.record().unwrap();
            einsum_into_with("ij,jk->ik", &x, &y, precision, &mut output, &stream).unwrap();
            let end = stream.record().unwrap();
            end.elapsed_since(&start).unwrap().as_secs_f64() * 1e3
        })
        .skip(2)
        .collect();
    milliseconds.sort_by(f64::total_cmp);
    let median = milliseconds[RUNS / 2];
    println!(
        "{i} x {j} x {k} of {}, {precision:?}: {median:.3} ms",
        std::any::type_name::<T>()
    );
    let got = output.to_array().unwrap();
    for (row, column) in [(0, 0), (i - 1, k - 1), (i / 2, k / 3), (i / 3, k - 1)] {
        let (mut sum, mut size) = (Complex64::ZERO, 0.0);
        for summed in 0..j {
            let product = value(a[[row, summed]]) * value(b[[summed, column]]);
            sum += product;
            size += product.norm();
        }
        let (error, bound) = ((value(got[[row, column]]) - sum).norm(), roundoff * size);
        assert!(error <= bound, "{row}, {column}: {error:e} of {bound:e}");
    }
    median
}

fn single(backend: &Backend, shape: [usize; 3], precision: Precision) -> f64 {
    let of_factors = if precision == Precision::Tf32 {
        1.0 / 1023.0
    } else {
        0.0
    };
    let roundoff = (precision, (shape[1] as f64 + 8.0) / 16_777_216.0 + of_factors);
    time(backend, shape, |re, _| re as f32, |x| f64::from(x).into(), roundoff)
}

fn half(backend: &Backend, shape: [usize; 3]) -> f64 {
    let roundoff = (Precision::Full, (shape[1] as f64 + 8.0) / 16_777_216.0 + 1.0 / 2048.0);
    time(
        backend,
        shape,
        |re, _| f16::from_f64(re),
        |x| x.to_f64().into(),
        roundoff,
    )
}

fn complex(backend: &Backend, shape: [usize; 3]) -> f64 {
    let roundoff = (Precision::Full, 2.0 * (shape[1] as f64 + 8.0) / 16_777_216.0);
    let value = |x: Complex<f32>| Complex::new(f64::from(x.re), f64::from(x.im));
    time(
        backend,
        shape,
        |re, im| Complex::new(re as f32, im as f32),
        value,
        roundoff,
    )
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn products_on_a_gpu() {
    let backend = gpu();
    let few_rows = complex(&backend, [64, 64, 262_144]);
    single(&backend, [4096, 4096, 4096], Precision::Full);
    single(&backend, [4096, 4096, 4096], Precision::Tf32);
    complex(&backend, [2048, 2048, 2048]);
    half(&backend, [4096, 4096, 4096]);
    assert!(few_rows < 1.0, "64 x 64 x 262144: {few_rows:.3} ms");
}

#[test]
fn smaller_on_the_cpu() {
    let backend = Backend::cpu();
    complex(&backend, [64, 64, 5000]);
    single(&backend, [300, 500, 300], Precision::Full);
    half(&backend, [128, 100, 120]);
}
