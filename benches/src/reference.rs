//! A sample of the result against a direct sum in double precision.

use crate::measure::Storage;
use ndarray::{Array4, ArrayView2, Axis};
use warpbeam::{DasGeometry, DasOptions};

/// Voxel and batch item pairs that are compared.
const COMPARED: usize = 64;

/// Relative L2 error over a random sample of the result; linear interpolation, all elements.
pub(crate) fn relative_error<T: Storage>(
    geometry: &DasGeometry,
    options: &DasOptions,
    data: &Array4<T>,
    result: &ArrayView2<'_, T::Sum>,
) -> f64 {
    let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
    let n_voxels = geometry.n_voxels();
    let axis = |array: &ndarray::ArrayD<f64>, row: usize| -> Vec<f64> {
        array.index_axis(Axis(0), row).iter().copied().collect()
    };
    let offsets: Vec<_> = (0..n_transmits)
        .map(|transmit| axis(&geometry.transmit_offsets, transmit))
        .collect();
    let positions: Vec<f64> = geometry.voxel_positions.iter().copied().collect();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut difference, mut norm) = (0.0, 0.0);
    for _ in 0..COMPARED {
        let (voxel, item) = (random.usize(..n_voxels), random.usize(..n_batch));
        let mut sum = [0.0, 0.0];
        for (transmit, offsets) in offsets.iter().enumerate() {
            for channel in 0..n_channels {
                let mut square = 0.0;
                for axis in 0..3 {
                    square += (positions[3 * voxel + axis] - geometry.element_positions[[channel, axis]]).powi(2);
                }
                let delay = square.sqrt() + offsets[voxel];
                if !(delay >= 0.0 && delay < (n_samples - 1) as f64) {
                    continue;
                }
                let first = delay.floor() as usize;
                let here = data[[item, channel, transmit, first]].parts();
                let next = data[[item, channel, transmit, first + 1]].parts();
                let part = |part: usize| here[part] + (delay - first as f64) * (next[part] - here[part]);
                let (sine, cosine) = (options.phase_per_sample * delay).sin_cos();
                sum[0] += part(0) * cosine - part(1) * sine;
                sum[1] += part(0) * sine + part(1) * cosine;
            }
        }
        let got = T::sum_parts(result[[item, voxel]]);
        difference += (got[0] - sum[0]).powi(2) + (got[1] - sum[1]).powi(2);
        norm += sum[0].powi(2) + sum[1].powi(2);
    }
    (difference / norm).sqrt()
}
