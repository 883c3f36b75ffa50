//! Speeds on one device in one run: bytes a second of copies against a plain copy, free points against a grid, times of
//! interpolation, of spherical waves and of clutter filters. A program of its own, because what runs beside it would count.

mod greens;
mod interpolate;
mod rank;

use half::f16;
use integration_tests::backends;
use ndarray::{Array1, Array2, ArrayD, Axis};
use num_complex::Complex;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpbeam::ops::{
    ConvertTo, Indices, ScatterPlan, contiguous_copy_as_into, contiguous_copy_into, gather_into, scatter_into,
};
use warpbeam::{Algorithm, Backend, DasGeometry, DasOptions, DasPlan, Element, Result, Stream, Tensor};

/// Waits until no other test is on the device.
fn alone() -> MutexGuard<'static, ()> {
    static DEVICE: Mutex<()> = Mutex::new(());
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of the arrays that are copied.
const BYTES: usize = 1 << 29;

/// Timed runs; the median counts.
const RUNS: usize = 15;

/// Terabytes a second, read and written, of what `run` queues, `bytes` of the output each time.
fn rate(stream: &Stream, bytes: usize, mut run: impl FnMut() -> Result<()>) -> f64 {
    let mut times: Vec<Duration> = (0..RUNS + 3)
        .map(|_| {
            let start = stream.record().unwrap();
            run().unwrap();
            stream.record().unwrap().elapsed_since(&start).unwrap()
        })
        .skip(3)
        .collect();
    times.sort();
    2.0 * bytes as f64 / times[RUNS / 2].as_secs_f64() / 1e12
}

struct Bench {
    backend: Backend,
    stream: Stream,
    plain: f64,
    /// What is at least to be reached, of the plain copy's speed.
    least: f64,
    too_slow: Vec<String>,
}

impl Bench {
    fn take(&mut self, what: &str, rate: f64) {
        let part = rate / self.plain;
        println!("{what:40} {rate:6.3} TB/s, {:5.1} % of a plain copy", 100.0 * part);
        if part < self.least {
            self.too_slow.push(format!("{what}: {:.1} %", 100.0 * part));
        }
    }

    /// A copy of a dense tensor of `shape`, its axes in that order.
    fn transpose<T: Element>(&mut self, shape: &[usize], order: &[usize]) {
        let tensor = Tensor::<T>::zeros(&self.backend, shape).unwrap();
        let view = tensor.view().permuted_axes(order).unwrap();
        let mut output = Tensor::<T>::zeros(&self.backend, view.shape()).unwrap();
        let bytes = view.len() * size_of::<T>();
        let rate = rate(&self.stream, bytes, || {
            contiguous_copy_into(view.clone(), &mut output, &self.stream)
        });
        self.take(&format!("{} bytes, {shape:?} by {order:?}", size_of::<T>()), rate);
    }

    /// As [`Bench::transpose`], to another type.
    fn convert<T: ConvertTo<U>, U: Element>(&mut self, shape: &[usize], order: &[usize]) {
        let tensor = Tensor::<T>::zeros(&self.backend, shape).unwrap();
        let view = tensor.view().permuted_axes(order).unwrap();
        let mut output = Tensor::<U>::zeros(&self.backend, view.shape()).unwrap();
        // The mean of what is read and what is written: the rate counts it twice.
        let bytes = view.len() * (size_of::<T>() + size_of::<U>()) / 2;
        let rate = rate(&self.stream, bytes, || {
            contiguous_copy_as_into(view.clone(), &mut output, &self.stream)
        });
        let types = [std::any::type_name::<T>(), std::any::type_name::<U>()].map(|name| {
            let real = name.rsplit("::").next().unwrap_or(name).trim_end_matches('>');
            if name.contains("Complex") {
                format!("complex {real}")
            } else {
                real.to_owned()
            }
        });
        self.take(&format!("{} as {}, {shape:?} by {order:?}", types[0], types[1]), rate);
    }

    /// Rows with a gap behind each.
    fn rows<T: Element>(&mut self, row: usize, gap: usize) {
        let n_rows = BYTES / size_of::<T>() / row;
        let tensor = Tensor::<T>::zeros(&self.backend, &[n_rows, row + gap]).unwrap();
        let view = tensor.view().sliced(1, 0..row, 1).unwrap();
        let mut output = Tensor::<T>::zeros(&self.backend, view.shape()).unwrap();
        let rate = rate(&self.stream, n_rows * row * size_of::<T>(), || {
            contiguous_copy_into(view.clone(), &mut output, &self.stream)
        });
        self.take(&format!("{} bytes, rows of {row}, gaps of {gap}", size_of::<T>()), rate);
    }

    /// Every row to and from another place.
    fn gather<T: Element>(&mut self, row: usize) {
        let n_rows = BYTES / size_of::<T>() / row;
        let mut places: Vec<i32> = (0..n_rows as i32).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut places);
        let indices = Indices::new(&self.backend, &Array1::from(places), n_rows).unwrap();
        let plan = ScatterPlan::new(&indices).unwrap();
        let input = Tensor::<T>::zeros(&self.backend, &[n_rows, row]).unwrap();
        let mut output = Tensor::<T>::zeros(&self.backend, &[n_rows, row]).unwrap();
        let bytes = n_rows * row * size_of::<T>();
        let gathered = rate(&self.stream, bytes, || {
            gather_into(&input, 0, &indices, &mut output, &self.stream)
        });
        self.take(&format!("{} bytes, gather rows of {row}", size_of::<T>()), gathered);
        let scattered = rate(&self.stream, bytes, || {
            scatter_into(&input, 0, &plan, &mut output, &self.stream)
        });
        self.take(&format!("{} bytes, scatter rows of {row}", size_of::<T>()), scattered);
    }
}

impl Bench {
    fn new(least: f64) -> Self {
        let backend = backends::gpu();
        let stream = backend.stream().unwrap();
        let source = Tensor::<f32>::zeros(&backend, &[BYTES / 4]).unwrap();
        let mut target = Tensor::<f32>::zeros(&backend, &[BYTES / 4]).unwrap();
        let plain = rate(&stream, BYTES, || contiguous_copy_into(&source, &mut target, &stream));
        println!("a plain copy: {plain:.3} TB/s");
        Self {
            backend,
            stream,
            plain,
            least,
            too_slow: Vec::new(),
        }
    }

    fn assert_fast_enough(&self) {
        assert!(
            self.too_slow.is_empty(),
            "below {} of a plain copy: {:?}",
            self.least,
            self.too_slow
        );
    }
}

/// Voxels of a grid, `(voxel, 3)`, a sample apart, in front of a matrix probe of 32 × 32 elements.
fn volume(side: usize) -> (Array2<f64>, Array2<f64>) {
    let voxels = Array2::from_shape_fn((side * side * side, 3), |(voxel, axis)| match axis {
        0 => (voxel % side) as f64 - side as f64 / 2.0,
        1 => (voxel / side % side) as f64 - side as f64 / 2.0,
        _ => 200.0 + (voxel / side / side) as f64,
    });
    let elements = Array2::from_shape_fn((1024, 3), |(element, axis)| match axis {
        0 => 2.0 * (element % 32) as f64 - 31.0,
        1 => 2.0 * (element / 32) as f64 - 31.0,
        _ => 0.0,
    });
    (voxels, elements)
}

/// Milliseconds of 64 frames by windows, for voxels in the order given.
fn window_ms(backend: &Backend, voxels: &Array2<f64>, shape: &[usize], elements: &Array2<f64>) -> f64 {
    let per_voxel = [&[1], shape].concat();
    let depths = voxels.column(2).to_owned();
    let positions = voxels.clone().into_shape_with_order([shape, &[3]].concat()).unwrap();
    let geometry = DasGeometry {
        element_positions: elements.clone(),
        voxel_positions: positions,
        transmit_offsets: depths.into_shape_with_order(per_voxel.clone()).unwrap(),
        transmit_weights: ArrayD::ones(per_voxel),
        ..DasGeometry::default()
    };
    let options = DasOptions {
        algorithm: Algorithm::Window,
        phase_per_sample: 1.0,
        ..DasOptions::default()
    };
    let stream = backend.stream().unwrap();
    let plan = DasPlan::<Complex<f16>>::new(backend, &geometry, &options).unwrap();
    let data = Tensor::zeros(backend, &[64, 1024, 1, 640]).unwrap();
    let mut image = Tensor::zeros(backend, &[&[64], shape].concat()).unwrap();
    let bytes = data.len() * size_of::<Complex<f16>>();
    let rate = rate(&stream, bytes, || plan.run_into(&data, &mut image, &stream));
    2.0 * bytes as f64 / rate / 1e9
}

mod gpu_device {
    use super::*;

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn copies_are_as_fast_as_memory() {
        let _alone = alone();
        let mut bench = Bench::new(0.8);
        bench.transpose::<f16>(&[1 << 14, 1 << 14], &[1, 0]);
        bench.transpose::<f32>(&[1 << 14, 1 << 13], &[1, 0]);
        bench.transpose::<Complex<f32>>(&[1 << 13, 1 << 13], &[1, 0]);
        bench.transpose::<Complex<f64>>(&[1 << 13, 1 << 12], &[1, 0]);
        bench.transpose::<f16>(&[128, 1024, 2048], &[2, 1, 0]);
        bench.transpose::<f32>(&[128, 1024, 1000], &[1, 2, 0]);
        bench.transpose::<Complex<f32>>(&[64, 1024, 1024], &[2, 0, 1]);
        bench.rows::<f16>(4096, 8);
        bench.rows::<f32>(1024, 4);
        bench.rows::<Complex<f32>>(96, 2);
        bench.rows::<Complex<f64>>(33, 1);
        bench.rows::<f32>(1001, 3);
        bench.gather::<f16>(512);
        bench.gather::<f32>(256);
        bench.gather::<Complex<f32>>(1 << 18);
        bench.gather::<Complex<f64>>(64);
        // Channel data (batch, channel, transmit, sample) with the batch innermost, and as they are.
        let channel_data = [64, 512, 2, 2048];
        bench.convert::<i16, f32>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<i16, f16>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<f32, f16>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<f64, f32>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<Complex<i16>, Complex<f16>>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<Complex<f32>, Complex<f16>>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<Complex<f64>, Complex<f32>>(&channel_data, &[1, 2, 3, 0]);
        bench.convert::<i16, f32>(&channel_data, &[0, 1, 2, 3]);
        bench.convert::<i16, f16>(&channel_data, &[0, 1, 2, 3]);
        bench.convert::<f16, f32>(&channel_data, &[0, 1, 2, 3]);
        bench.convert::<f32, f16>(&channel_data, &[0, 1, 2, 3]);
        bench.convert::<f64, f32>(&channel_data, &[0, 1, 2, 3]);
        bench.assert_fast_enough();
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn free_points_are_taken_together() {
        let _alone = alone();
        let backend = backends::gpu();
        let (voxels, elements) = volume(64);
        let mut order: Vec<usize> = (0..voxels.nrows()).collect();
        fastrand::Rng::with_seed(3).shuffle(&mut order);
        let shuffled = voxels.select(Axis(0), &order);
        let grid = window_ms(&backend, &voxels, &[64, 64, 64], &elements);
        let rows = window_ms(&backend, &voxels, &[voxels.nrows()], &elements);
        let points = window_ms(&backend, &shuffled, &[voxels.nrows()], &elements);
        println!(
            "64 frames, 64³ voxels, 1024 channels by windows: grid {grid:.2} ms, its points row by row {rows:.2} ms, shuffled \
             {points:.2} ms"
        );
        // In any order they are taken together; shuffled, their results are written far apart.
        assert!(
            rows < 1.2 * grid,
            "{rows} ms for points row by row, {grid} ms for the grid"
        );
        assert!(
            points < 2.0 * grid,
            "{points} ms for shuffled points, {grid} ms for the grid"
        );
    }

    /// Rows that begin and end anywhere; short axes, as of positions.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn rows_anywhere_and_short_axes_reach_half() {
        let _alone = alone();
        let mut bench = Bench::new(0.5);
        bench.rows::<f16>(1001, 1);
        bench.transpose::<f32>(&[300, 4, 300, 333], &[2, 1, 0, 3]);
        bench.transpose::<f32>(&[1 << 25, 3], &[1, 0]);
        bench.transpose::<f32>(&[3, 1 << 25], &[1, 0]);
        bench.transpose::<f32>(&[3, 5000, 5000], &[2, 1, 0]);
        bench.gather::<f32>(1001);
        bench.assert_fast_enough();
    }

    /// Short and odd sides and rows, and units of 2 bytes one by one: what there is no wide access for.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn odd_shapes_stay_within_a_seventh() {
        let _alone = alone();
        let mut bench = Bench::new(0.15);
        bench.transpose::<f16>(&[16_383, 16_385], &[1, 0]);
        bench.transpose::<f16>(&[64, 64, 64, 1000], &[3, 2, 1, 0]);
        bench.transpose::<f32>(&[128, 1000, 1001], &[2, 0, 1]);
        bench.transpose::<f32>(&[1 << 22, 16], &[1, 0]);
        bench.transpose::<f32>(&[16, 1 << 22], &[1, 0]);
        bench.rows::<f16>(7, 1);
        bench.transpose::<f16>(&[1 << 26, 3], &[1, 0]);
        bench.transpose::<f64>(&[3, 1 << 24], &[1, 0]);
        bench.gather::<f32>(64);
        bench.gather::<f32>(3);
        bench.assert_fast_enough();
    }
}
