//! Samples beyond 2³¹ elements: addresses are computed in 64 bits. The zeros before them take no memory.

use crate::das_inputs::Inputs;
use cuda_std::Launch;
use cuda_std::emulator::{Buffer, launch};
use cuda_std::half::F16;
use half::f16;
use integration_tests::das::terms;
use integration_tests::sample::Precision;
use kernels::das::batch::{self, DasBatch, Rows, per_vector};
use kernels::das::distinct::{self, DasDistinct, NEAR_TOP};
use kernels::das::voxel::{self, DasVoxel, Taps, Tile};
use ndarray::{Array2, Array4, ArrayD, IxDyn};
use warpbeam::{DasGeometry, DasOptions};

/// Samples a channel: with 8 batch items, 32 transmits are 2³¹ samples.
const SAMPLES: usize = 1 << 23;
const ITEMS: usize = 8;
const TRANSMITS: usize = 33;

/// The first samples of the last transmit.
const FIRST: [i16; 4] = [3, -7, 11, 400];

/// One channel, voxels on it that only the last transmit reaches.
fn geometry() -> DasGeometry {
    let delays = [0.25, 1.5, 2.75];
    let shape = IxDyn(&[TRANSMITS, delays.len()]);
    let of_last = |index: &IxDyn, value: f64| if index[0] + 1 == TRANSMITS { value } else { 0.0 };
    DasGeometry {
        element_positions: Array2::zeros((1, 3)),
        voxel_positions: ArrayD::zeros(IxDyn(&[delays.len(), 3])),
        transmit_offsets: ArrayD::from_shape_fn(shape.clone(), |index| delays[index[1]]),
        transmit_weights: ArrayD::from_shape_fn(shape, |index| of_last(&index, 0.5)),
        ..DasGeometry::default()
    }
}

/// The oracle's sums of an item whose samples are [`FIRST`] times a factor.
fn expected(factor: f64) -> Vec<f64> {
    let geometry = geometry();
    let mut data = Array4::<f32>::zeros((1, 1, TRANSMITS, FIRST.len()));
    for (k, sample) in FIRST.iter().enumerate() {
        data[[0, 0, TRANSMITS - 1, k]] = f32::from(*sample) * factor as f32;
    }
    let terms = terms(&geometry, &DasOptions::default(), Precision::Single, FIRST.len());
    terms.sum(&data).iter().map(|sum| sum.re).collect()
}

fn assert_near(what: &str, got: &[f32], expected: &[f64], bound: f64) {
    let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (got, expected) in got.iter().zip(expected) {
        assert!(
            (f64::from(*got) - expected).abs() <= bound * largest,
            "{what}: {got} instead of {expected}"
        );
    }
}

#[test]
fn a_thread_a_voxel() {
    let options = DasOptions::default();
    let inputs = Inputs::<f32>::new(&geometry(), &options);
    let transmit_stride = 1 << 26;
    let samples = Buffer::<i16>::zeroed((TRANSMITS - 1) * transmit_stride + FIRST.len());
    for (k, sample) in FIRST.iter().enumerate() {
        samples.set((TRANSMITS - 1) * transmit_stride + k, *sample);
    }
    for tile in [Tile::Items, Tile::Item, Tile::Transmits] {
        let output = Buffer::filled(f32::NAN, 3);
        let parameters = DasVoxel::<i16> {
            samples: samples.global(),
            geometry: inputs.block(FIRST.len()),
            output: inputs.output(&output),
            batch_stride: 0,
            transmit_stride: transmit_stride as u64,
            channel_stride: FIRST.len() as u64,
            n_batch: 1,
            first_item: 0,
        };
        let shape = Launch {
            grid: [1, 1, 1],
            threads: voxel::THREADS,
            shared_bytes: 0,
        };
        let kernel = <i16 as voxel::Instances>::kernel(Taps::Two, tile);
        launch(&kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
        assert_near("voxel", &output.to_vec(), &expected(1.0), 1e-6);
    }
}

/// Data with the batch innermost: the last transmit's first rows, item b times b + 1.
fn batch_inner<S: cuda_std::Element>(stored: impl Fn(f32) -> S) -> Buffer<S> {
    let rows = Rows::INSIDE.of_transmit(1, SAMPLES as u32) as usize;
    let first = (TRANSMITS - 1) * rows * ITEMS;
    let samples = Buffer::zeroed(TRANSMITS * rows * ITEMS);
    for (k, sample) in FIRST.iter().enumerate() {
        for item in 0..ITEMS {
            samples.set(first + k * ITEMS + item, stored(f32::from(*sample) * (item + 1) as f32));
        }
    }
    samples
}

#[test]
fn lanes_that_share_a_voxel() {
    let inputs = Inputs::<f32>::new(&geometry(), &DasOptions::default());
    let samples = batch_inner(|value| value as i16);
    let output = Buffer::filled(f32::NAN, ITEMS * 3);
    let tile = batch::Tile::Narrow;
    let parameters = DasBatch::<i16> {
        samples: samples.global(),
        geometry: inputs.block(SAMPLES),
        output: inputs.output(&output),
        rows: Rows::INSIDE,
        n_batch: ITEMS as u32,
        n_vectors: (ITEMS / per_vector::<i16>()) as u32,
    };
    let shape = Launch {
        grid: [1, 1, 1],
        threads: batch::THREADS,
        shared_bytes: 0,
    };
    let kernel = <i16 as batch::Instances>::kernel(Taps::Two, tile).expect("a kernel for this type");
    launch(&kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    for (item, got) in output.to_vec().chunks(3).enumerate() {
        assert_near("batch", got, &expected((item + 1) as f64), 1e-6);
    }
}

#[test]
fn distinct_samples() {
    let inputs = Inputs::<f32>::new(&geometry(), &DasOptions::default());
    let samples = batch_inner(|value| F16(f16::from_f32(value).to_bits()));
    let output = Buffer::filled(f32::NAN, ITEMS * 3);
    let variant = <F16 as distinct::Instances>::variant(distinct::Instructions::Mma, Taps::Two, distinct::Tile::Narrow)
        .expect("a kernel for this type");
    let parameters = DasDistinct::<F16> {
        samples: samples.global(),
        geometry: inputs.block(SAMPLES),
        output: inputs.output(&output),
        gain: NEAR_TOP,
        n_batch: ITEMS as u32,
        n_vectors: (ITEMS / per_vector::<F16>()) as u32,
    };
    let shape = Launch {
        grid: [1, 1, 1],
        threads: distinct::THREADS,
        shared_bytes: variant.shared_bytes,
    };
    launch(&variant.kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    for (item, got) in output.to_vec().chunks(3).enumerate() {
        assert_near("distinct", got, &expected((item + 1) as f64), 1e-3);
    }
}
