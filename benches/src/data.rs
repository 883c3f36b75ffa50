//! Samples that any program can make for itself: a hash of their index.
//!
//! Part p of the data (a complex sample has two) is the splitmix64 hash of p, of which the upper 24 bits are a number
//! in [−1, 1). `benches/peers/das.py` has the same few lines for the device.

use crate::cases::Case;
use crate::storage::Element;
use ndarray::Array4;
use rayon::prelude::*;

/// The value of a part.
pub(crate) fn part(index: u64) -> f32 {
    let mut hash = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    (hash >> 40) as f32 / 8_388_608.0 - 1.0
}

/// The sample at an index of the data.
pub(crate) fn sample<T: Element>(index: usize) -> T {
    let parts = T::N_PARTS as u64;
    T::from_parts(part(parts * index as u64), part(parts * index as u64 + parts - 1))
}

/// A case's data, (batch, channel, transmit, sample).
pub(crate) fn of<T: Element>(case: &Case) -> anyhow::Result<Array4<T>> {
    let shape = (case.n_batch, case.n_channels(), case.n_transmits, case.n_samples);
    let length = case.n_batch * case.n_channels() * case.n_transmits * case.n_samples;
    let samples: Vec<T> = (0..length).into_par_iter().map(sample).collect();
    Ok(Array4::from_shape_vec(shape, samples)?)
}

// What is compared is exact.
#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn the_first_values_never_change() {
        // The reference values of splitmix64 from state 0, reduced to 24 bits.
        let hashes: [u64; 3] = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for (index, hash) in hashes.into_iter().enumerate() {
            assert_eq!(part(index as u64), (hash >> 40) as f32 / 8_388_608.0 - 1.0);
        }
    }

    #[test]
    fn complex_samples_take_two_parts_each() {
        assert_eq!(sample::<Complex<f32>>(3), Complex::new(part(6), part(7)));
        assert_eq!(sample::<f32>(3), part(3));
    }

    #[test]
    fn values_are_spread_over_the_range() {
        let mean = (0..10_000).map(|index| f64::from(part(index))).sum::<f64>() / 1e4;
        let square = (0..10_000).map(|index| f64::from(part(index)).powi(2)).sum::<f64>() / 1e4;
        assert!(
            mean.abs() < 0.03 && (square - 1.0 / 3.0).abs() < 0.02,
            "{mean} {square}"
        );
    }
}
