//! The kernels that measure a device: they do all the work that their rates count.

use cuda_std::Launch;
use cuda_std::emulator::{Buffer, launch};
use integration_tests::random::rng;
use kernels::rates::{self, Copy, Products, SUMS, THREADS};

fn shape(blocks: u32) -> Launch {
    Launch {
        grid: [blocks, 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    }
}

#[test]
fn a_copy_is_the_input() {
    let mut rng = rng();
    for n in [1, 2048, 2048 + 5] {
        let data: Vec<[u32; 4]> = (0..n)
            .map(|_| [rng.u32(..), rng.u32(..), rng.u32(..), rng.u32(..)])
            .collect();
        let (input, output) = (Buffer::new(&data), Buffer::filled([7; 4], n));
        let parameters = Copy {
            input: input.global(),
            output: output.global_mut(),
            n_vectors: n as u64,
        };
        let blocks = rates::blocks(n as u64) as u32;
        launch(&rates::rate_copy, shape(blocks), parameters).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(output.to_vec() == data, "{n} vectors");
    }
}

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
    launch(&rates::sm_80::rate_products, shape(2), parameters).unwrap_or_else(|fault| panic!("{fault}"));
    let started_at: f32 = (0..SUMS).map(|sum| 4.0 * sum as f32).sum();
    let of_a_number = 16.0 * 0.0625 * n_rounds as f32;
    let expected = started_at + 4.0 * SUMS as f32 * of_a_number;
    assert!(output.to_vec().iter().all(|sum| *sum == expected), "{expected}");
}
