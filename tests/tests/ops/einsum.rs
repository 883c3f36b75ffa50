//! Products by subscripts against loops over all positions of all letters, in double precision.

use crate::strided::Strided;
use crate::values::Value;
use fastrand::Rng;
use half::f16;
use integration_tests::random::rng;
use ndarray::{ArrayD, Dimension};
use num_complex::{Complex, Complex64};
use std::collections::BTreeMap;
use warpbeam::ops::{EinsumPlan, Factor, einsum, einsum_into, einsum_into_with, einsum_of_one};
use warpbeam::{Backend, Error, Precision, Tensor};

/// A number, and how exactly it is summed and kept.
trait Exact: Value + Factor {
    /// The unit roundoff of sums, and of a number.
    const ROUNDOFF: [f64; 2];

    fn exact(self) -> Complex64;

    /// The nearest number.
    fn nearest(value: Complex64) -> Self;

    /// A number whose sums are rounded, of a magnitude that halves hold well.
    fn any(rng: &mut Rng) -> Self {
        let mut part = || (0.25 + 0.75 * rng.f64()) * if rng.bool() { 1.0 } else { -1.0 };
        Self::nearest(Complex::new(part(), part()))
    }
}

const SINGLE: f64 = 1.0 / 16_777_216.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;
const HALF: f64 = 1.0 / 2048.0;

macro_rules! exact {
    ($($type:ty: $roundoff:expr, |$number:ident| $exact:expr, |$value:ident| $nearest:expr;)*) => { $(
        impl Exact for $type {
            const ROUNDOFF: [f64; 2] = $roundoff;

            fn exact(self) -> Complex64 {
                let $number = self;
                $exact
            }

            fn nearest($value: Complex64) -> Self {
                $nearest
            }
        }
    )* };
}

exact! {
    f16: [SINGLE, HALF], |number| number.to_f64().into(), |x| f16::from_f64(x.re);
    f32: [SINGLE, 0.0], |number| f64::from(number).into(), |x| x.re as f32;
    f64: [DOUBLE, 0.0], |number| number.into(), |x| x.re;
    Complex<f16>: [SINGLE, HALF], |number| Complex::new(number.re.to_f64(), number.im.to_f64()),
        |x| Complex::new(f16::from_f64(x.re), f16::from_f64(x.im));
    Complex<f32>: [SINGLE, 0.0], |number| Complex::new(number.re.into(), number.im.into()),
        |x| Complex::new(x.re as f32, x.im as f32);
    Complex<f64>: [DOUBLE, 0.0], |number| number, |x| x;
}

/// Sums of products, and of the products' magnitudes, by loops; how many each one has.
fn oracle<T: Exact>(operands: &[(&str, &ArrayD<T>)], output: &str) -> (ArrayD<(Complex64, f64)>, usize) {
    let mut lengths = BTreeMap::new();
    for (letters, array) in operands {
        lengths.extend(letters.chars().zip(array.shape().iter().copied()));
    }
    let summed: Vec<char> = lengths
        .keys()
        .copied()
        .filter(|letter| !output.contains(*letter))
        .collect();
    let of = |letters: &[char]| -> Vec<usize> { letters.iter().map(|letter| lengths[letter]).collect() };
    let output: Vec<char> = output.chars().collect();
    let (shape, summed_shape) = (of(&output), of(&summed));
    let n_summed: usize = summed_shape.iter().product();
    let sums = ArrayD::from_shape_fn(shape, |place| {
        let mut at: BTreeMap<char, usize> = output.iter().copied().zip(place.as_array_view().to_vec()).collect();
        let (mut sum, mut size) = (Complex64::ZERO, 0.0);
        for number in 0..n_summed {
            at.extend(summed.iter().copied().zip(crate::strided::place(&summed_shape, number)));
            let factor = |(letters, array): &(&str, &ArrayD<T>)| {
                let place: Vec<usize> = letters.chars().map(|letter| at[&letter]).collect();
                array[&place[..]].exact()
            };
            let product: Complex64 = operands.iter().map(factor).product();
            sum += product;
            size += product.norm();
        }
        (sum, size)
    });
    (sums, n_summed)
}

/// The largest share of the bound that is used; `roundings` is how often a sum is kept as a number.
fn share<T: Exact>(what: &str, got: &ArrayD<T>, expected: &(ArrayD<(Complex64, f64)>, usize), roundings: f64) -> f64 {
    assert_eq!(got.shape(), expected.0.shape(), "{what}");
    let [of_sum, of_number] = T::ROUNDOFF;
    // Complex numbers are four products, half of them in each part.
    let parts = if size_of::<T>() == size_of::<T::Number>() {
        1.0
    } else {
        2.0
    };
    let of_size = parts * ((expected.1 as f64 + 8.0) * of_sum + roundings * of_number);
    got.iter().zip(&expected.0).fold(0.0_f64, |share, (got, (sum, size))| {
        let (error, bound) = ((got.exact() - sum).norm(), of_size * size);
        assert!(error <= bound, "{what}: {got:?} for {sum}, {error:e} of {bound:e}");
        share.max(if error > 0.0 { error / bound } else { 0.0 })
    })
}

/// A random operand of these lengths behind random steps that keep its shape.
struct Random<T: Exact> {
    strided: Strided<T>,
    order: Vec<usize>,
}

impl<T: Exact> Random<T> {
    /// Letters and an operand, whose letters are among `lengths`.
    fn new(backend: &Backend, rng: &mut Rng, letters: &str, lengths: &BTreeMap<char, usize>) -> Self {
        let shape: Vec<usize> = letters.chars().map(|letter| lengths[&letter]).collect();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        rng.shuffle(&mut order);
        let mut stored = vec![0; shape.len()];
        order
            .iter()
            .zip(&shape)
            .for_each(|(&axis, &length)| stored[axis] = length);
        Self {
            strided: Strided::keeping(backend, rng, &stored, T::any),
            order,
        }
    }

    fn expected(&self) -> ArrayD<T> {
        self.strided.expected.clone().permuted_axes(&self.order[..])
    }

    fn view(&self) -> warpbeam::TensorView<'_, T> {
        self.strided.view().permuted_axes(&self.order).expect("an order")
    }
}

/// Random subscripts, lengths of their letters.
fn subscripts(rng: &mut Rng) -> ([String; 2], String, BTreeMap<char, usize>) {
    let alphabet: Vec<char> = "abcdijkXYZ".chars().collect();
    let n_letters = rng.usize(1..=6);
    let letters = rng.choose_multiple(alphabet, n_letters);
    let mut left = 3000;
    let mut lengths = BTreeMap::new();
    for &letter in &letters {
        let length = [1, 2, 3, 5, 7, 16, 31, 70][rng.usize(..8)].min(left).max(1);
        left /= length;
        lengths.insert(letter, length);
    }
    let mut operand = || {
        let mut own: String = letters.iter().filter(|_| rng.u8(..3) > 0).collect();
        if rng.u8(..5) == 0 && !own.is_empty() {
            let again = own.chars().next().expect("a letter");
            own.push(again);
        }
        own.truncate(5);
        own
    };
    let operands = [operand(), operand()];
    let mut known: Vec<char> = lengths
        .keys()
        .copied()
        .filter(|letter| operands.concat().contains(*letter))
        .collect();
    rng.shuffle(&mut known);
    known.truncate(rng.usize(..=known.len().min(5)));
    (operands, known.into_iter().collect(), lengths)
}

/// Letters that stand once, sorted: the output without an arrow.
fn implicit(operands: &[String; 2]) -> String {
    let all = operands.concat();
    let mut once: Vec<char> = all.chars().filter(|letter| all.matches(*letter).count() == 1).collect();
    once.sort_unstable();
    once.into_iter().collect()
}

fn random_pairs<T: Exact>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let mut most = 0.0_f64;
    for number in 0..200 {
        let ([a, b], mut output, lengths) = subscripts(&mut rng);
        let mut text = format!("{a},{b}->{output}");
        if number % 5 == 0 {
            output = implicit(&[a.clone(), b.clone()]);
            text = format!("{a}, {b}");
        }
        let x = Random::<T>::new(backend, &mut rng, &a, &lengths);
        let y = Random::<T>::new(backend, &mut rng, &b, &lengths);
        let what = format!("{text} of {lengths:?}, {} and {}", x.strided.what(), y.strided.what());
        let expected = oracle(&[(&a, &x.expected()), (&b, &y.expected())], &output);
        let stale = expected.0.map(|_| T::stale());
        let mut into = Tensor::from_array(backend, &stale).unwrap();
        einsum_into(&text, x.view(), y.view(), &mut into, &stream).unwrap_or_else(|error| panic!("{what}: {error}"));
        let got = into.to_array().unwrap();
        most = most.max(share(&what, &got, &expected, 3.0));
        let again = einsum(&text, x.view(), y.view(), &stream).unwrap().to_array().unwrap();
        integration_tests::bits::assert_same_bits(&what, &again, &got);
        // The plan's memory holds what the call before left there, on another stream.
        let (xs, ys) = (x.view(), y.view());
        let plan = EinsumPlan::<T>::new(backend, &text, [xs.shape(), ys.shape()], Precision::Full).unwrap();
        assert_eq!(plan.output_shape(), expected.0.shape(), "{what}");
        let mut into = Tensor::from_array(backend, &stale).unwrap();
        for stream in [&backend.stream().unwrap(), &stream] {
            plan.run_into(x.view(), y.view(), &mut into, stream).unwrap();
            stream.synchronize().unwrap();
        }
        let planned = into.to_array().unwrap();
        integration_tests::bits::assert_same_bits(&what, &planned, &got);
    }
    println!("{most:.2} of the bound at most");
}

fn one_operand<T: Exact>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let mut most = 0.0_f64;
    for _ in 0..60 {
        let ([a, _], output, lengths) = subscripts(&mut rng);
        let output: String = output.chars().filter(|letter| a.contains(*letter)).collect();
        let x = Random::<T>::new(backend, &mut rng, &a, &lengths);
        let text = format!("{a}->{output}");
        let expected = oracle(&[(&a, &x.expected())], &output);
        let got = einsum_of_one(&text, x.view(), &stream).unwrap().to_array().unwrap();
        most = most.max(share(&format!("{text} of {lengths:?}"), &got, &expected, 2.0));
    }
    println!("{most:.2} of the bound at most");
}

/// Matrices of whole tiles and beyond them, in all orders of their axes; long sums in parts.
fn matrices<T: Exact>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let mut most = 0.0_f64;
    for (text, shape, other) in [
        ("ij,jk->ik", vec![128, 64], vec![64, 128]),
        ("ij,jk->ki", vec![131, 33], vec![33, 140]),
        ("ji,jk->ik", vec![40, 130], vec![40, 257]),
        ("ji,kj->ik", vec![17, 65], vec![66, 17]),
        ("ij,kj->ik", vec![65, 24], vec![130, 24]),
        ("ji,jk->ik", vec![40, 136], vec![40, 264]),
        ("ji,kj->ik", vec![72, 48], vec![129, 72]),
        ("bij,bkj->bki", vec![2, 130, 200], vec![2, 48, 200]),
        ("bij,bjk->bik", vec![5, 33, 40], vec![5, 40, 70]),
        ("ijb,jkb->kib", vec![33, 40, 5], vec![40, 37, 5]),
        ("i,i->", vec![30_011], vec![30_011]),
        ("ij,j->i", vec![3, 20_000], vec![20_000]),
        ("ijk,kj->i", vec![2, 100, 90], vec![90, 100]),
        ("i,j->ij", vec![300], vec![200]),
        ("i,i->i", vec![3000], vec![3000]),
    ] {
        let mut array = |shape: &[usize]| ArrayD::from_shape_simple_fn(shape, || T::any(&mut rng));
        let (x, y) = (array(&shape), array(&other));
        let (operands, output) = text.split_once("->").unwrap();
        let (a, b) = operands.split_once(',').unwrap();
        let expected = oracle(&[(a, &x), (b, &y)], output);
        let plan = EinsumPlan::<T>::new(backend, text, [x.shape(), y.shape()], Precision::Full).unwrap();
        let planned = plan.run(x.view(), y.view()).unwrap();
        let [x, y] = [x, y].map(|array| Tensor::from_array(backend, &array).unwrap());
        let got = einsum(text, &x, &y, &stream).unwrap().to_array().unwrap();
        integration_tests::bits::assert_same_bits(text, &planned, &got);
        most = most.max(share(
            &format!("{text} of {shape:?} and {other:?}"),
            &got,
            &expected,
            2.0,
        ));
    }
    println!("{most:.2} of the bound at most");
}

/// Sums of nothing are 0, and there may be nothing to compute.
fn nothing<T: Exact>(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let x = Tensor::<T>::zeros(backend, &[3, 0]).unwrap();
    let y = Tensor::<T>::zeros(backend, &[0, 2]).unwrap();
    let stale = ArrayD::from_elem(vec![3, 2], T::stale());
    let mut output = Tensor::from_array(backend, &stale).unwrap();
    einsum_into("ij,jk->ik", &x, &y, &mut output, &stream).unwrap();
    assert!(
        output
            .to_array()
            .unwrap()
            .iter()
            .all(|number| number.exact() == Complex64::ZERO)
    );
    let sums = einsum_of_one("ij->i", &x, &stream).unwrap().to_array().unwrap();
    assert!(sums.len() == 3 && sums.iter().all(|number| number.exact() == Complex64::ZERO));
    assert_eq!(einsum("ij,ik->jk", &x, &x, &stream).unwrap().shape(), [0, 0]);
    assert_eq!(einsum("ij,kj->ikj", &x, &x, &stream).unwrap().shape(), [3, 3, 0]);
}

macro_rules! on_every_factor {
    ($($check:ident;)*) => { $(
        mod $check {
            use half::f16;
            use num_complex::Complex;
            integration_tests::on_every_backend! {
                f16: super::super::$check::<f16>;
                f32: super::super::$check::<f32>;
                f64: super::super::$check::<f64>;
                complex_f16: super::super::$check::<Complex<f16>>;
                complex_f32: super::super::$check::<Complex<f32>>;
                complex_f64: super::super::$check::<Complex<f64>>;
            }
        }
    )* };
}

on_every_factor! {
    random_pairs;
    one_operand;
    matrices;
    nothing;
}

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.to_string(),
    }
}

/// Every refusal says where.
fn refused(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let x = Tensor::<f32>::zeros(backend, &[2, 3]).unwrap();
    let y = Tensor::<f32>::zeros(backend, &[3, 4]).unwrap();
    for (text, part) in [
        ("ij,j2->ik", "'2' at position 4 of \"ij,j2->ik\""),
        ("ij,jk-ik", "'-' at position 5"),
        ("ij,jk->ik->", "'-' at position 9"),
        ("ij,jk->i,k", "',' at position 8"),
        ("ij->i", "\"ij->i\" has 1 operands; there are 2"),
        ("->", "\"->\" has 1 operands; there are 2"),
        ("ij,jk,k->i", "has 3 operands; there are 2"),
        (
            "ij,jk->iq",
            "'q' at position 8 of \"ij,jk->iq\" is in the output and in no operand",
        ),
        (
            "ij,jk->ii",
            "'i' at position 8 of \"ij,jk->ii\" is in the output already",
        ),
        (
            "ijm,jk->ik",
            "operand 0 has the letters \"ijm\" and shape [2, 3]; each axis needs one letter",
        ),
        ("ij,j->i", "operand 1 has the letters \"j\" and shape [3, 4]"),
        (
            "ij,ik->jk",
            "'i' is 3 long on axis 0 of operand 1 (position 3), and 2 on axis 0 of operand 0; axes of one letter are \
             equally long",
        ),
        (
            "ii,jk->k",
            "'i' is 3 long on axis 1 of operand 0 (position 1), and 2 on axis 0 of operand 0",
        ),
    ] {
        let error = message(einsum(text, &x, &y, &stream));
        // A letter that the output has and no operand stops before shapes are looked at.
        assert!(error.contains(part), "{text}: {error}");
    }
    let single = Tensor::<f32>::zeros(backend, &[1, 4]).unwrap();
    assert!(message(einsum("ij,jk->ik", &x, &single, &stream)).contains("'j' is 1 long on axis 0 of operand 1"));
    let mut wrong = Tensor::<f32>::zeros(backend, &[4, 2]).unwrap();
    assert_eq!(
        message(einsum_into("ij,jk->ik", &x, &y, &mut wrong, &stream)),
        "the output has shape [4, 2]; expected [2, 4]"
    );
    let deep = x.view().broadcast(&[1, 1, 1, 1, 1, 1, 1, 2, 3]).unwrap();
    assert!(message(einsum("abcdefghi,jk->i", deep, y.view(), &stream)).contains("expected at most 8 axes"));
    let five = Tensor::<f32>::zeros(backend, &[1; 5]).unwrap();
    assert!(message(einsum("abcde,fghij", &five, &five, &stream)).contains("the output has shape [1, 1, 1"));
}

/// Factors rounded to 11 bits, where they are rounded at all.
fn tf32(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for (text, shape, other) in [
        ("ij,jk->ik", [136, 64], [64, 200]),
        ("ij,kj->ik", [70, 44], [130, 44]),
        ("ji,jk->ki", [37, 128], [37, 64]),
        ("ij,jk->ik", [33, 35], [35, 37]),
    ] {
        let mut array = |shape: [usize; 2]| ArrayD::from_shape_simple_fn(&shape[..], || rng.f32() - 0.5);
        let (x, y) = (array(shape), array(other));
        let (operands, output) = text.split_once("->").unwrap();
        let (a, b) = operands.split_once(',').unwrap();
        let expected = oracle(&[(a, &x), (b, &y)], output);
        let [x, y] = [x, y].map(|array| Tensor::from_array(backend, &array).unwrap());
        let stale = expected.0.map(|_| f32::NAN);
        let mut into = Tensor::from_array(backend, &stale).unwrap();
        einsum_into_with(text, &x, &y, Precision::Tf32, &mut into, &stream).unwrap();
        let got = into.to_array().unwrap();
        let share = got.iter().zip(&expected.0).fold(0.0_f64, |share, (got, (sum, size))| {
            let bound = (2.0 * HALF + HALF * HALF + (expected.1 as f64 + 8.0) * SINGLE) * size;
            let error = (got.exact() - sum).norm();
            assert!(error <= bound, "{text} of {shape:?}: {error:e} of {bound:e}");
            share.max(error / bound)
        });
        println!("{text} of {shape:?} and {other:?}: {share:.3} of the bound");
    }
    let x = Tensor::<f32>::zeros(backend, &[2, 2]).unwrap();
    let mut output = Tensor::<f32>::zeros(backend, &[2, 2]).unwrap();
    let half = Precision::F16 { exponent: None };
    assert!(message(einsum_into_with("ij,jk->ik", &x, &x, half, &mut output, &stream)).contains("not supported"));
}

integration_tests::on_every_backend! {
    refused: super::refused;
    tf32: super::tf32;
}

/// Tensors of two backends do not meet.
#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn elsewhere_is_refused() {
    let (cpu, gpu) = (Backend::cpu(), integration_tests::backends::gpu());
    let on = |backend: &Backend| Tensor::<f32>::zeros(backend, &[2, 2]).unwrap();
    let (there, here) = (on(&gpu), on(&cpu));
    let stream = gpu.stream().unwrap();
    assert!(message(einsum("ij,jk->ik", &there, &here, &stream)).contains("the second operand is on"));
    let mut output = on(&cpu);
    assert!(message(einsum_into("ij,jk->ik", &there, &there, &mut output, &stream)).contains("the output is on"));
    assert!(message(einsum("ij,jk->ik", &here, &here, &stream)).contains("the stream is on"));
}
