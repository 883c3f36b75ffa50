//! The radix sort, pass after pass as the library launches it, and places along Morton's curve.

use cuda_std::emulator::{Buffer, Options, launch_with};
use cuda_std::{Kernel, Launch, Parameters};
use fastrand::Rng;
use integration_tests::random::{between, rng};
use kernels::das::curve::{self, Places};
use kernels::sort::{
    COUNT_BYTES, Count, DIGIT_BITS, DIGITS, SCAN_BYTES, SCATTER_BYTES, Scan, Scatter, THREADS, TILE, sort_count,
    sort_scan, sort_scatter,
};
use wavefield::curve::Curve;

fn run<P: Parameters>(rng: &mut Rng, kernel: &Kernel<P>, blocks: u32, shared_bytes: u32, parameters: P) {
    let shape = Launch {
        grid: [blocks, 1, 1],
        threads: THREADS,
        shared_bytes,
    };
    let options = Options {
        seed: rng.u64(..),
        ..Options::default()
    };
    launch_with(kernel, shape, parameters, options).unwrap_or_else(|fault| panic!("{fault}"));
}

/// The numbers of keys by the lowest `bits` of these.
fn order(rng: &mut Rng, keys: &[u64], bits: u32) -> Vec<u32> {
    let n_keys = keys.len() as u32;
    let n_tiles = n_keys.div_ceil(TILE);
    let mut keys = [Buffer::new(keys), Buffer::filled(u64::MAX, keys.len())];
    let mut numbers = [0, 0].map(|_| Buffer::filled(u32::MAX, n_keys as usize));
    let counts = Buffer::filled(u32::MAX, (DIGITS * n_tiles) as usize);
    let totals = Buffer::filled(u32::MAX, DIGITS as usize);
    let n_passes = bits.div_ceil(DIGIT_BITS);
    for pass in 0..n_passes {
        let shift = DIGIT_BITS * pass;
        let count = Count {
            keys: keys[0].global(),
            counts: counts.global_mut(),
            n_keys,
            n_tiles,
            shift,
        };
        run(rng, &sort_count, n_tiles, COUNT_BYTES, count);
        let scan = Scan {
            counts: counts.global_mut(),
            totals: totals.global_mut(),
            n_tiles,
        };
        run(rng, &sort_scan, DIGITS, SCAN_BYTES, scan);
        let scatter = Scatter {
            keys: keys[0].global(),
            numbers: numbers[0].global(),
            counts: counts.global(),
            totals: totals.global(),
            sorted_keys: keys[1].global_mut(),
            sorted_numbers: numbers[1].global_mut(),
            n_keys,
            n_tiles,
            shift,
            is_first: u32::from(pass == 0),
            is_last: u32::from(pass + 1 == n_passes),
        };
        run(rng, &sort_scatter, n_tiles, SCATTER_BYTES, scatter);
        keys.swap(0, 1);
        numbers.swap(0, 1);
    }
    numbers[0].to_vec()
}

fn check(rng: &mut Rng, keys: &[u64], bits: u32) {
    let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
    expected.sort_by_key(|number| keys[*number as usize]);
    let got = order(rng, keys, bits);
    assert!(got == expected, "{} keys of {bits} bits", keys.len());
}

#[test]
fn the_order_is_that_of_a_stable_sort() {
    let mut rng = rng();
    let tile = TILE as usize;
    for n_keys in [1, 31, 33, 1000, tile, tile + 1, 3 * tile - 5] {
        for bits in [1, 3, 8, 13, 32, 47] {
            let keys: Vec<u64> = (0..n_keys).map(|_| rng.u64(..) >> (64 - bits)).collect();
            check(&mut rng, &keys, bits);
        }
        let falling: Vec<u64> = (0..n_keys as u64).rev().collect();
        check(&mut rng, &falling, 16);
    }
}

/// More tiles than a block has threads, so that sums go on along a row.
#[test]
fn rows_of_counts_may_be_long() {
    let mut rng = rng();
    let n_tiles = 2 * THREADS + 7;
    let numbers: Vec<u32> = (0..DIGITS * n_tiles).map(|_| rng.u32(..TILE)).collect();
    let (counts, totals) = (Buffer::new(&numbers), Buffer::filled(u32::MAX, DIGITS as usize));
    let scan = Scan {
        counts: counts.global_mut(),
        totals: totals.global_mut(),
        n_tiles,
    };
    run(&mut rng, &sort_scan, DIGITS, SCAN_BYTES, scan);
    let got = counts.to_vec();
    for (digit, row) in numbers.chunks(n_tiles as usize).enumerate() {
        let mut sum = 0;
        for (tile, count) in row.iter().enumerate() {
            assert_eq!(got[digit * n_tiles as usize + tile], sum, "digit {digit}, tile {tile}");
            sum += count;
        }
        assert_eq!(totals.to_vec()[digit], sum);
    }
}

fn places<R: curve::Instance>() {
    let mut rng = rng();
    let n_voxels = 600;
    let planes: Vec<R> = (0..3 * n_voxels)
        .map(|_| R::from_f64(between(&mut rng, -3.0, 2.0)))
        .collect();
    let curve = Curve::through([[-3.0, 2.0]; 3]);
    let (voxels, found) = (Buffer::new(&planes), Buffer::filled(u64::MAX, n_voxels));
    let parameters = Places {
        voxels: voxels.global(),
        places: found.global_mut(),
        curve,
        n_voxels: n_voxels as u64,
    };
    run(
        &mut rng,
        &R::places(),
        (n_voxels as u32).div_ceil(curve::THREADS),
        0,
        parameters,
    );
    let found = found.to_vec();
    for (voxel, place) in found.iter().enumerate() {
        let position = [0, 1, 2].map(|axis| planes[axis * n_voxels + voxel].to_f64());
        assert_eq!(*place, curve.place(position));
    }
    let keys_are_sorted = order(&mut rng, &found, Curve::BITS);
    assert!(
        keys_are_sorted
            .windows(2)
            .all(|pair| found[pair[0] as usize] <= found[pair[1] as usize])
    );
}

#[test]
fn places_along_the_curve() {
    places::<f32>();
    places::<f64>();
}
