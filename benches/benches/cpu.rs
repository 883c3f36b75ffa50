//! What the CPU does around and instead of a GPU, by Criterion: `cargo bench --package warpbeam-bench`.
//!
//! Small and short, for comparing two versions on one machine; the figures of documents come from `cargo xtask bench`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use half::f16;
use ndarray::{Array2, Array4, ArrayD};
use num_complex::Complex;
use std::f64::consts::TAU;
use std::hint::black_box;
use std::time::Duration;
use warpbeam::{Backend, DasGeometry, DasOptions, DasPlan, Sample};

const CHANNELS: usize = 64;
const SAMPLES: usize = 512;
const SIDE: usize = 64;

/// A linear probe over a plane, one plane wave straight ahead; all in samples.
fn geometry() -> DasGeometry {
    let element_positions = Array2::from_shape_fn((CHANNELS, 3), |(channel, axis)| match axis {
        0 => channel as f64 - 31.5,
        _ => 0.0,
    });
    let voxel_positions = ArrayD::from_shape_fn(vec![SIDE, SIDE, 3], |index| match index[2] {
        0 => index[1] as f64 - 31.5,
        1 => 0.0,
        _ => 40.0 + 2.0 * index[0] as f64,
    });
    let transmit_offsets = ArrayD::from_shape_fn(vec![1, SIDE, SIDE], |index| 40.0 + 2.0 * index[1] as f64);
    DasGeometry {
        element_positions,
        voxel_positions,
        transmit_weights: ArrayD::ones(transmit_offsets.raw_dim()),
        transmit_offsets,
        ..DasGeometry::default()
    }
}

fn sum<T: Sample>(criterion: &mut Criterion, name: &str, sample: impl Fn(f32, f32) -> T) {
    let mut group = criterion.benchmark_group(format!("das-cpu-{name}"));
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    let options = DasOptions {
        phase_per_sample: if T::PARTS == 2 { 0.25 * TAU } else { 0.0 },
        ..DasOptions::default()
    };
    let plan = DasPlan::<T>::new(&Backend::cpu(), &geometry(), &options).expect("the geometry is right");
    for frames in [1, 8] {
        let mut random = fastrand::Rng::with_seed(0);
        let mut part = || random.f32() - 0.5;
        let data = Array4::from_shape_simple_fn((frames, CHANNELS, 1, SAMPLES), || sample(part(), part()));
        group.throughput(Throughput::Elements(plan.points(frames)));
        group.bench_with_input(BenchmarkId::from_parameter(frames), &data, |bencher, data| {
            bencher.iter(|| {
                plan.run(black_box(data.view()))
                    .expect("the data have the plan's shape")
            });
        });
    }
}

fn sums(criterion: &mut Criterion) {
    sum(criterion, "f32", |real, _| real);
    sum(criterion, "complex-f32", Complex::new);
    sum(criterion, "complex-f16", |real, imaginary| {
        Complex::new(f16::from_f32(real), f16::from_f32(imaginary))
    });
    sum(criterion, "complex-f64", |real, imaginary| {
        Complex::new(f64::from(real), f64::from(imaginary))
    });
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("das-cpu-plan");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
    let (geometry, options) = (geometry(), DasOptions::default());
    group.bench_function("new", |bencher| {
        bencher.iter(|| DasPlan::<f32>::new(&Backend::cpu(), black_box(&geometry), &options).expect("it is right"));
    });
}

criterion_group!(benches, sums, plans);
criterion_main!(benches);
