//! A sample of the result against a direct sum in double precision.

use crate::cases::Case;
use crate::data;
use crate::storage::Element;
use ndarray::ArrayView2;
use warpbeam::DasGeometry;

/// Voxel and batch item pairs that are compared.
const COMPARED: usize = 64;

/// The places of a result that are compared: batch item and voxel.
pub(crate) struct Compared {
    pub(crate) places: Vec<[usize; 2]>,
}

impl Compared {
    /// Random places of a case's result, the same every time.
    pub(crate) fn new(case: &Case) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let place = |_| [random.usize(..case.n_batch), random.usize(..case.n_voxels())];
        Self {
            places: (0..COMPARED).map(place).collect(),
        }
    }

    /// The same voxels in the first frame.
    pub(crate) fn of_first_frame(&self) -> Self {
        let places = self.places.iter().map(|[_, voxel]| [0, *voxel]).collect();
        Self { places }
    }

    /// The direct sums there of a case's data as this type stores them: linear interpolation, all elements, weights of 1.
    pub(crate) fn sums<T: Element>(&self, case: &Case, geometry: &DasGeometry) -> Vec<[f64; 2]> {
        let positions: Vec<f64> = geometry.voxel_positions.iter().copied().collect();
        let offsets: Vec<f64> = geometry.transmit_offsets.iter().copied().collect();
        let kappa = case.phase_per_sample();
        let sum = |[item, voxel]: [usize; 2]| {
            let mut sum = [0.0, 0.0];
            for channel in 0..case.n_channels() {
                let mut square = 0.0;
                for axis in 0..3 {
                    square += (positions[3 * voxel + axis] - geometry.element_positions[[channel, axis]]).powi(2);
                }
                for transmit in 0..case.n_transmits {
                    let delay = square.sqrt() + offsets[transmit * case.n_voxels() + voxel];
                    if !(delay >= 0.0 && delay < (case.n_samples - 1) as f64) {
                        continue;
                    }
                    let first = delay.floor() as usize;
                    let row = (item * case.n_channels() + channel) * case.n_transmits + transmit;
                    let sample = |index: usize| data::sample::<T>(row * case.n_samples + index).parts();
                    let (here, next) = (sample(first), sample(first + 1));
                    let part = |part: usize| here[part] + (delay - first as f64) * (next[part] - here[part]);
                    let (sine, cosine) = (kappa * delay).sin_cos();
                    sum[0] += part(0) * cosine - part(1) * sine;
                    sum[1] += part(0) * sine + part(1) * cosine;
                }
            }
            sum
        };
        self.places.iter().copied().map(sum).collect()
    }

    /// Relative L2 error of an image, (batch, voxel), at the places.
    pub(crate) fn relative_error<T: Element>(&self, image: &ArrayView2<'_, T::Sum>, sums: &[[f64; 2]]) -> f64 {
        let (mut difference, mut norm) = (0.0, 0.0);
        for (place, sum) in self.places.iter().zip(sums) {
            let got = T::sum_parts(image[*place]);
            difference += (got[0] - sum[0]).powi(2) + (got[1] - sum[1]).powi(2);
            norm += sum[0].powi(2) + sum[1].powi(2);
        }
        f64::sqrt(difference / norm)
    }
}
