//! The order of keys on a CUDA device, by the radix sort of `kernels::sort`.

use crate::device::{Backend, Cuda, Stream, Tensor};
use crate::{Error, Result};
use cuda_std::Launch;
use kernels::sort::{
    COUNT_BYTES, Count, DIGIT_BITS, DIGITS, KEYS_BELOW, SCAN_BYTES, SCATTER_BYTES, Scan, Scatter, THREADS, TILE,
    sort_count, sort_scan, sort_scatter,
};

/// What keys are called in errors.
const KEYS: &str = "the keys";

/// What the numbers of keys are called.
const NUMBERS: &str = "the numbers of keys";

/// Whether so many keys can be sorted.
pub(crate) fn can_sort(n_keys: usize) -> bool {
    n_keys < KEYS_BELOW as usize
}

/// Memory for keys, to be written by a kernel; in words, the low one first, because tensors have no 64-bit integers.
pub(crate) fn keys(backend: &Backend, n_keys: usize) -> Result<Tensor<u32>> {
    Tensor::unset(backend, &[n_keys, 2])
}

/// The numbers of keys from the least key on, counted from 0; those of equal keys keep their order.
///
/// Of the keys the lowest `bits` count. They are sorted eight bits at a time and lost.
pub(crate) fn order(cuda: &Cuda, mut keys: Tensor<u32>, bits: u32, stream: &Stream) -> Result<Tensor<u32>> {
    let backend = keys.backend().clone();
    let n_keys = keys.shape()[0];
    if !can_sort(n_keys) {
        return Err(Error::OutOfRange {
            what: "the number of keys to sort",
            value: n_keys as f64,
            requirement: "below 2^31",
        });
    }
    let mut order = Tensor::<u32>::unset(&backend, &[n_keys])?;
    if n_keys == 0 {
        return Ok(order);
    }
    let n_tiles = (n_keys as u32).div_ceil(TILE);
    let mut other_keys = self::keys(&backend, n_keys)?;
    let mut other_order = Tensor::<u32>::unset(&backend, &[n_keys])?;
    let mut counts = Tensor::<u32>::unset(&backend, &[DIGITS as usize, n_tiles as usize])?;
    let mut totals = Tensor::<u32>::unset(&backend, &[DIGITS as usize])?;
    let launch = |blocks: u32, shared_bytes: u32| Launch {
        grid: [blocks, 1, 1],
        threads: THREADS,
        shared_bytes,
    };
    let n_passes = bits.div_ceil(DIGIT_BITS).max(1);
    for pass in 0..n_passes {
        let shift = DIGIT_BITS * pass;
        let count = Count {
            keys: keys.global_as(KEYS)?,
            counts: counts.global_mut("the counts of digits")?,
            n_keys: n_keys as u32,
            n_tiles,
            shift,
        };
        cuda.launch(&sort_count, launch(n_tiles, COUNT_BYTES), count, stream)?;
        let scan = Scan {
            counts: counts.global_mut("the counts of digits")?,
            totals: totals.global_mut("the sums of counts")?,
            n_tiles,
        };
        cuda.launch(&sort_scan, launch(DIGITS, SCAN_BYTES), scan, stream)?;
        let scatter = Scatter {
            keys: keys.global_as(KEYS)?,
            numbers: order.global(NUMBERS)?,
            counts: counts.global("the counts of digits")?,
            totals: totals.global("the sums of counts")?,
            sorted_keys: other_keys.global_mut_as(KEYS)?,
            sorted_numbers: other_order.global_mut(NUMBERS)?,
            n_keys: n_keys as u32,
            n_tiles,
            shift,
            is_first: u32::from(pass == 0),
            is_last: u32::from(pass + 1 == n_passes),
        };
        cuda.launch(&sort_scatter, launch(n_tiles, SCATTER_BYTES), scatter, stream)?;
        std::mem::swap(&mut keys, &mut other_keys);
        std::mem::swap(&mut order, &mut other_order);
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use std::time::Instant;

    /// The order, and by the host's clock how long it took, with its memory.
    fn timed_order(backend: &Backend, keys: &[u64], bits: u32) -> Vec<u32> {
        let (cuda, stream) = (backend.as_cuda().unwrap(), backend.stream().unwrap());
        let words = Array2::from_shape_fn((keys.len(), 2), |(key, word)| (keys[key] >> (32 * word)) as u32);
        let words = Tensor::from_array(backend, &words).unwrap();
        stream.synchronize().unwrap();
        let start = Instant::now();
        let order = order(cuda, words, bits, &stream).unwrap();
        stream.synchronize().unwrap();
        println!(
            "{} keys of {bits} bits: {:.3} ms",
            keys.len(),
            1e3 * start.elapsed().as_secs_f64()
        );
        order.to_array().unwrap().into_raw_vec_and_offset().0
    }

    /// Random keys, few of them different, on the first GPU: the order of a stable sort on the host.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn the_order_is_that_of_a_stable_sort() {
        let backend = Backend::cuda(0).unwrap();
        let mut rng = fastrand::Rng::with_seed(3);
        for (n_keys, bits) in [(0, 32), (1, 32), (1000, 3), (2049, 9), (1 << 18, 19), (10_000_000, 32)] {
            let keys: Vec<u64> = (0..n_keys).map(|_| rng.u64(..) >> (64 - bits)).collect();
            let mut expected: Vec<u32> = (0..n_keys).collect();
            expected.sort_by_key(|number| keys[*number as usize]);
            let got = timed_order(&backend, &keys, bits);
            assert!(got == expected, "{n_keys} keys of {bits} bits");
            // The same keys between lower and higher bits.
            let wide: Vec<u64> = keys.iter().map(|key| key << 24 | 5).collect();
            let got = timed_order(&backend, &wide, 63);
            assert!(got == expected, "{n_keys} keys of {} bits", bits + 24);
        }
    }
}
