//! The kernels that measure a device: they do all the work that their rates count.

use cuda_std::Launch;
use cuda_std::emulator::{Buffer, launch};
use kernels::rates::{self, GROUP_SHARED_BYTES, Products, SUMS, THREADS};

/// Ones times powers of two: every product of every round counts, exactly.
#[test]
fn products_are_all_done() {
    let n_rounds = 3;
    let output = Buffer::filled(f32::NAN, 2 * THREADS as usize);
    let parameters = Products {
        output: output.global_mut(),
        left: 0x3c00_3c00,
        right: 0x2c00_2c00,
        n_rounds,
    };
    let shape = Launch {
        grid: [2, 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    launch(&rates::sm_80::rate_products, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    let started_at: f32 = (0..SUMS).map(|sum| 4.0 * sum as f32).sum();
    let of_a_number = 16.0 * 0.0625 * n_rounds as f32;
    let expected = started_at + 4.0 * SUMS as f32 * of_a_number;
    assert!(
        output.to_vec().iter().all(|sum| sum.to_bits() == expected.to_bits()),
        "{expected}"
    );
}

/// Each thread has 64 sums.
#[test]
fn products_of_groups_are_all_done() {
    let n_rounds = 3;
    let output = Buffer::filled(f32::NAN, THREADS as usize);
    let parameters = Products {
        output: output.global_mut(),
        left: 0x3c00_3c00,
        right: 0x2c00_2c00,
        n_rounds,
    };
    let shape = Launch {
        grid: [1, 1, 1],
        threads: THREADS,
        shared_bytes: GROUP_SHARED_BYTES,
    };
    launch(&rates::sm_90a::rate_group_products, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = 64.0 * 16.0 * 0.0625 * n_rounds as f32;
    assert!(
        output.to_vec().iter().all(|sum| sum.to_bits() == expected.to_bits()),
        "{expected}"
    );
}
