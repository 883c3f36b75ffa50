//! Arrays with more than 2³¹ elements.

#![expect(clippy::float_cmp, reason = "these sums are exact")]

use integration_tests::backends::gpu;
use ndarray::{Array2, Array4, ArrayD, IxDyn};
use warpbeam::{Backend, DasGeometry, DasOptions, DasPlan};

/// Voxels on elements, delays as given, every weight 1.
fn delays(channels: usize, transmits: usize, delays: &[f64]) -> DasGeometry {
    DasGeometry {
        element_positions: Array2::zeros((channels, 3)),
        voxel_positions: ArrayD::zeros(IxDyn(&[delays.len(), 3])),
        transmit_offsets: ArrayD::from_shape_fn(IxDyn(&[transmits, delays.len()]), |index| delays[index[1]]),
        transmit_weights: ArrayD::ones(IxDyn(&[transmits, delays.len()])),
        element_normals: None,
        element_cosine_bounds: None,
        ..DasGeometry::default()
    }
}

/// 64 × 1024 × 16 × 2048 = 2³¹ samples, only the last is 1.
///
/// The zeros take no memory as long as nobody copies them, which the limit forbids on the CPU; a GPU gets them all.
fn last_of_many_samples(backend: &Backend) {
    let mut data = Array4::<i16>::zeros((64, 1024, 16, 2048));
    data[[63, 1023, 15, 2047]] = 1;
    let memory_limit_bytes = if backend.is_cuda() { None } else { Some(1 << 30) };
    let options = DasOptions {
        memory_limit_bytes,
        ..DasOptions::default()
    };
    let plan = DasPlan::<i16>::new(backend, &delays(1024, 16, &[2046.75, 2045.5, 0.5]), &options).unwrap();
    let image = plan.run(data.view()).unwrap();
    for ((b, n), sum) in image.into_dimensionality::<ndarray::Ix2>().unwrap().indexed_iter() {
        let expected = if (b, n) == (63, 0) { 0.75 } else { 0.0 };
        assert_eq!(*sum, expected, "frame {b} voxel {n}");
    }
}

/// 2²¹ voxels × 1024 frames: 8 GiB of image.
#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn gpu_many_outputs() {
    let voxels = 1 << 21;
    let delay = |n: usize| 0.25 * (n % 9) as f64;
    let geometry = delays(1, 1, &(0..voxels).map(delay).collect::<Vec<_>>());
    let data = Array4::from_shape_fn((1024, 1, 1, 4), |(b, _, _, k)| (b + 1024 * k) as i16);
    let image = DasPlan::<i16>::new(&gpu(), &geometry, &DasOptions::default())
        .unwrap()
        .run(data.view())
        .unwrap();
    let image = image.as_slice().unwrap();
    assert_eq!(image.len(), 1 << 31);
    let wrong = image.iter().enumerate().find(|(index, sum)| {
        let (b, n) = (index / voxels, index % voxels);
        f64::from(**sum) != b as f64 + 1024.0 * delay(n)
    });
    assert_eq!(wrong, None);
}

integration_tests::on_every_backend! {
    last_of_many_samples: super::last_of_many_samples;
}
