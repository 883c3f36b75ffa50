//! Every operation of `cuda_std`, each by its own definition.

use cuda_std::emulator::{Emulator, Options};
use integration_tests::random::rng;
use kernels::probe::sm_80::{
    COPY_OUTPUT_WORDS, LDMATRIX_WORDS, MMA_F64_INPUT_WORDS, MMA_F64_OUTPUT_WORDS, MMA_INPUT_WORDS, MMA_OUTPUT_WORDS,
};
use kernels::probe::sm_90a::{BULK_THREADS, GROUP_A_WORDS, GROUP_OUTPUT_WORDS, GROUP_ROWS, GROUP_THREADS};
use kernels::probe::{MEMORY_BYTES, NUMBER_WORDS, Outcome, THREADS, TILE_HALVES, TILE_STRIDE, WARP_WORDS};
use kernels::probe::{outcomes, sm_80_outcomes, sm_90a_outcomes};

/// All probes whose names begin so.
fn probes(name: &str) -> Vec<Outcome> {
    let machine = Emulator {
        options: Options {
            seed: rng().u64(..),
            ..Options::default()
        },
    };
    let mut all = outcomes(&machine).unwrap_or_else(|fault| panic!("{fault}"));
    all.extend(sm_80_outcomes(&machine).unwrap_or_else(|fault| panic!("{fault}")));
    all.extend(sm_90a_outcomes(&machine).unwrap_or_else(|fault| panic!("{fault}")));
    all.retain(|probe| probe.name.starts_with(name));
    assert!(!all.is_empty());
    all
}

/// Compares with the words that the definitions give.
fn assert_equal(probe: &Outcome, expected: &[u32]) {
    match probe.compare(expected) {
        Ok(ratio) => println!("{ratio:.1e} of the allowed difference: {}", probe.name),
        Err(difference) => panic!("{difference}"),
    }
}

/// A comparison that accepts anything would say nothing.
#[test]
fn comparisons_refuse_what_differs() {
    for probe in probes("probe_") {
        let mut other = probe.output.clone();
        assert_eq!(probe.compare(&other), Ok(0.0), "{}", probe.name);
        let last = other.len() - 1;
        other[last] = 1e9_f32.to_bits();
        assert!(probe.compare(&other).is_err(), "{}", probe.name);
        other.pop();
        assert!(probe.compare(&other).is_err(), "{}", probe.name);
    }
}

#[test]
fn warp_operations() {
    for probe in probes("probe_warp") {
        let mut expected = Vec::new();
        for warp in probe.input.chunks(32) {
            let bits = |predicate: &dyn Fn(u32) -> bool| -> u32 {
                warp.iter()
                    .enumerate()
                    .map(|(lane, &value)| u32::from(predicate(value)) << lane)
                    .sum()
            };
            for (lane, &value) in warp.iter().enumerate() {
                expected.extend([
                    warp[value as usize % 32],
                    warp[lane ^ ((value >> 5) as usize % 32)],
                    warp[if lane < 5 { lane } else { lane - 5 }],
                    warp[if lane + 7 > 31 { lane } else { lane + 7 }],
                    bits(&|value| value % 2 == 1),
                    u32::from(bits(&|value| value % 32 == 9) != 0),
                    u32::from(bits(&|value| value % 64 == 9) == 0),
                    bits(&|other| other % 8 == value % 8),
                ]);
            }
        }
        assert_eq!(expected.len(), probe.input.len() * WARP_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

#[test]
fn warp_reductions() {
    for probe in probes("probe_reduce") {
        let mut expected = Vec::new();
        for warp in probe.input.chunks(32) {
            let values = || warp.iter().map(|&word| word as i32);
            let (min, max) = (values().min().unwrap(), values().max().unwrap());
            let union = (0..32).fold(0, |bits, lane| bits | warp[lane] & 1 << lane);
            for word in warp {
                let (low, high) = (word & 0xffff, word >> 16);
                let transposed = [low | (0xffff - low) << 16, high | (0xffff - high) << 16];
                expected.extend([min as u32, max as u32, union]);
                expected.extend(transposed);
            }
        }
        assert_equal(&probe, &expected);
    }
}

/// Half precision by its definition: sign, five bits of exponent, ten of significand.
fn half_value(bits: u32) -> f64 {
    let (exponent, significand) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => significand * 2.0_f64.powi(-24),
        31 if significand == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + significand) * 2.0_f64.powi(exponent as i32 - 25),
    };
    if bits >> 15 & 1 == 1 { -magnitude } else { magnitude }
}

/// The nearest half, ties to the even one: by looking at all candidates.
fn nearest_half(value: f64) -> u32 {
    let magnitude = value.abs();
    // Half a step behind the largest number lies the border to infinity.
    let bits = if magnitude >= 65_520.0 {
        0x7c00
    } else {
        let below = (0..0x7c00_u32)
            .collect::<Vec<_>>()
            .partition_point(|&bits| half_value(bits) <= magnitude) as u32
            - 1;
        let above = below + 1;
        let upper = if above == 0x7c00 { 65_536.0 } else { half_value(above) };
        let (down, up) = (magnitude - half_value(below), upper - magnitude);
        if down < up || (down <= up && below.is_multiple_of(2)) {
            below
        } else {
            above
        }
    };
    bits | u32::from(value.is_sign_negative()) << 15
}

#[test]
fn numbers() {
    for probe in probes("probe_number") {
        let mut expected = Vec::new();
        for &bits in &probe.input {
            let single = f32::from_bits(bits);
            let double = f64::from(single);
            let exact = double * double - double;
            let nearest = double.round_ties_even();
            let (sine, cosine) = ((double - nearest) * std::f64::consts::TAU).sin_cos();
            let fold = |double: f64| (double.to_bits() ^ (double.to_bits() >> 32)) as u32;
            expected.extend([
                (half_value(bits & 0xffff) as f32).to_bits(),
                nearest_half(double),
                // Exact in double precision: 24 bits by 24 bits, and a number of the same magnitude or a little less.
                single.mul_add(single, -single).to_bits(),
                (nearest as f32 + 0.0).to_bits(),
                double.floor() as i32 as u32,
                double.floor() as i32 as u32,
                fold(double.abs().sqrt()),
                fold(double.mul_add(double, 1e-9)),
                (double.abs().sqrt() as f32).to_bits(),
                (cosine as f32).to_bits(),
                (sine as f32).to_bits(),
            ]);
            assert!(
                (f64::from(single.mul_add(single, -single)) - exact).abs() <= exact.abs() * 2.0_f64.powi(-24) + 1e-45
            );
        }
        assert_eq!(expected.len(), probe.input.len() * NUMBER_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

#[test]
fn memory_of_every_width() {
    for probe in probes("probe_memory") {
        let bytes: Vec<u8> = probe.input.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut expected = Vec::new();
        let mut rest = bytes.as_slice();
        for width in [16, 8, 4, 2, 1] {
            let (elements, behind) = rest.split_at(width * THREADS as usize);
            expected.extend(elements.chunks(width).rev().flatten());
            rest = behind;
        }
        assert_eq!(expected.len(), MEMORY_BYTES as usize);
        let words: Vec<u32> = expected
            .chunks(4)
            .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        assert_equal(&probe, &words);
    }
}

#[test]
fn atomics() {
    for probe in probes("probe_atomic") {
        let sum = |words: &[u32]| words.iter().fold(0_u32, |sum, &word| sum.wrapping_add(word));
        let input = &probe.input;
        let least = input.iter().map(|&word| word as i32).min().unwrap().min(0);
        let most = input.iter().map(|&word| word as i32).max().unwrap().max(0);
        let small: f32 = input.iter().map(|&word| (word & 0xff) as f32).sum();
        let mut expected = vec![
            sum(input),
            0,
            *input.iter().max().unwrap(),
            least as u32,
            most as u32,
            small.to_bits(),
            // Subnormal numbers are 0 to atomic additions in global memory.
            0,
            0,
            sum(input),
        ];
        expected.resize(16, 0);
        for block in input.chunks(THREADS as usize) {
            // But not in shared memory.
            expected.extend([sum(block), *block.iter().max().unwrap(), 1000 * THREADS, THREADS]);
        }
        assert_equal(&probe, &expected);
    }
}

#[test]
fn asynchronous_copies() {
    for probe in probes("probe_copy") {
        let lanes = || probe.input.chunks(4).enumerate();
        let mut expected: Vec<u32> = probe.input.clone();
        expected.extend(
            lanes().flat_map(|(lane, words)| (0..4).map(move |word| if word < lane % 5 { words[word] } else { 0 })),
        );
        expected.extend(lanes().flat_map(|(_, words)| [words[2], words[3]]));
        expected.extend(lanes().map(|(_, words)| words[1]));
        assert_eq!(expected.len(), 32 * COPY_OUTPUT_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

/// The half with that index in words.
fn half_at(words: &[u32], index: usize) -> u32 {
    words[index / 2] >> (16 * (index % 2)) & 0xffff
}

#[test]
fn matrix_loads() {
    for probe in probes("probe_ldmatrix") {
        // Row r of matrix i is the row that lane 8 i + r names.
        let element = |matrix: usize, row: usize, column: usize| {
            let lane = 8 * matrix + row;
            half_at(&probe.input, (lane * 5 + 3) % 32 * 8 + column)
        };
        let mut expected = Vec::new();
        for lane in 0..32 {
            let (group, place) = (lane / 4, lane % 4);
            let plain = |matrix| element(matrix, group, 2 * place) | element(matrix, group, 2 * place + 1) << 16;
            let transposed = |matrix| element(matrix, 2 * place, group) | element(matrix, 2 * place + 1, group) << 16;
            for count in [1, 2, 4] {
                expected.extend((0..count).map(plain));
                expected.extend((0..count).map(transposed));
            }
        }
        assert_eq!(expected.len(), 32 * LDMATRIX_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

#[test]
fn products_of_fragments() {
    for probe in probes("probe_mma,") {
        let registers: Vec<&[u32]> = probe.input.chunks(MMA_INPUT_WORDS as usize).collect();
        let half =
            |lane: usize, register: usize, upper: usize| half_value(registers[lane][register] >> (16 * upper) & 0xffff);
        let tf32 = |lane: usize, register: usize| f64::from(f32::from_bits(registers[lane][register] & !0x1fff));
        // Where the tables of the instructions' definition put the elements.
        let a_half = |row: usize, k: usize| half(row % 8 * 4 + k % 8 / 2, row / 8 + 2 * (k / 8), k % 2);
        let b_half = |k: usize, column: usize| half(column * 4 + k % 8 / 2, 4 + k / 8, k % 2);
        let a_tf32 = |row: usize, k: usize| tf32(row % 8 * 4 + k % 4, 10 + row / 8 + 2 * (k / 4));
        let b_tf32 = |k: usize, column: usize| tf32(column * 4 + k % 4, 14 + k / 4);
        let mut expected = Vec::new();
        for (lane, own) in registers.iter().enumerate() {
            let place = |register: usize| (lane / 4 + 8 * (register / 2), 2 * (lane % 4) + register % 2);
            let sum = |register: usize| f64::from(f32::from_bits(own[register]));
            for register in 0..4 {
                let (row, column) = place(register);
                let product: f64 = (0..16).map(|k| a_half(row, k) * b_half(k, column)).sum();
                expected.push(((product + sum(6 + register)) as f32).to_bits());
            }
            for register in 0..4 {
                let (row, column) = place(register);
                let product: f64 = (0..8).map(|k| a_tf32(row, k) * b_tf32(k, column)).sum();
                expected.push(((product + sum(16 + register)) as f32).to_bits());
            }
        }
        assert_eq!(expected.len(), 32 * MMA_OUTPUT_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

/// Runs of 1, 2, … 9 vectors and one of the rest come, in each use, in the order from the last to the first.
#[test]
fn copies_of_runs() {
    for probe in probes("probe_bulk") {
        let threads = BULK_THREADS as usize;
        let mut expected = Vec::new();
        for of_use in probe.input.chunks(4 * threads) {
            let (mut runs, mut rest) = (Vec::new(), of_use);
            for vectors in 1..10 {
                let (run, others) = rest.split_at(4 * vectors);
                runs.push(run);
                rest = others;
            }
            runs.push(rest);
            expected.extend(runs.iter().rev().copied().flatten());
        }
        assert_eq!(expected.len(), probe.input.len());
        assert_equal(&probe, &expected);
    }
}

#[test]
fn products_of_groups_of_warps() {
    for probe in probes("probe_group") {
        let (of_a, of_b) = probe.input.split_at((GROUP_THREADS * GROUP_A_WORDS) as usize);
        let mut expected = Vec::new();
        for thread in 0..GROUP_THREADS as usize {
            let (warp, lane, group) = (thread / 32, thread % 32, thread as u32 / 128);
            // Row r of a warp's 16, of its first or second operand.
            let a = |which: usize, row: usize, k: usize| {
                let lane = row % 8 * 4 + k % 8 / 2;
                let register = 4 * which + row / 8 + 2 * (k / 8);
                half_value(half_at(
                    &of_a[(32 * warp + lane) * GROUP_A_WORDS as usize..],
                    2 * register + k % 2,
                ))
            };
            let b = |[first, later]: [u32; 2], k: usize, column: usize| {
                let row = first + k as u32 / 8 * later + k as u32 % 8 + column as u32 / 64 * GROUP_ROWS;
                let piece = 8 * row + ((column as u32 % 64 / 8) ^ (row % 8));
                half_value(half_at(of_b, 8 * piece as usize + column % 8))
            };
            let product = |which: usize, at: [u32; 2], row: usize, column: usize| -> f64 {
                (0..16).map(|k| a(which, row, k) * b(at, k, column)).sum()
            };
            let places = |tiles: usize| {
                (0..tiles).flat_map(move |tile| {
                    let of_register = move |register: usize| {
                        (lane / 4 + 8 * (register / 2), 8 * tile + 2 * (lane % 4) + register % 2)
                    };
                    (0..4).map(of_register)
                })
            };
            expected.extend(places(16).map(|(row, column)| {
                let first = product(0, [1 + 2 * group, 8 + 3 * group], row, column);
                ((0.5 + first + product(1, [5 - group, 11], row, column)) as f32).to_bits()
            }));
            expected.extend(
                places(8).map(|(row, column)| ((product(0, [3, 13 - group], row, column) - 0.5) as f32).to_bits()),
            );
        }
        assert_eq!(expected.len(), (GROUP_THREADS * GROUP_OUTPUT_WORDS) as usize);
        assert_equal(&probe, &expected);
    }
}

#[test]
fn products_in_double_precision() {
    for probe in probes("probe_mma_f64") {
        let registers: Vec<&[u32]> = probe.input.chunks(MMA_F64_INPUT_WORDS as usize).collect();
        let number = |lane: usize, register: usize| f64::from(f32::from_bits(registers[lane][register]));
        let mut expected = Vec::new();
        for lane in 0..32 {
            for register in 0..2 {
                let (row, column) = (lane / 4, 2 * (lane % 4) + register);
                let product: f64 = (0..4).map(|k| number(4 * row + k, 0) * number(4 * column + k, 1)).sum();
                let bits = (number(lane, 2 + register) + product).to_bits();
                expected.extend([bits as u32, (bits >> 32) as u32]);
            }
        }
        assert_eq!(expected.len(), 32 * MMA_F64_OUTPUT_WORDS as usize);
        assert_equal(&probe, &expected);
    }
}

#[test]
fn products_of_tiles() {
    for probe in probes("probe_wmma") {
        let stride = TILE_STRIDE as usize;
        let by_rows =
            |start: usize, row: usize, column: usize| half_value(half_at(&probe.input, start + row * stride + column));
        let right = TILE_HALVES as usize;
        let product = |left_rows: bool, right_rows: bool, row: usize, column: usize| -> f64 {
            (0..16)
                .map(|k| {
                    let a = if left_rows {
                        by_rows(0, row, k)
                    } else {
                        by_rows(0, k, row)
                    };
                    let b = if right_rows {
                        by_rows(right, k, column)
                    } else {
                        by_rows(right, column, k)
                    };
                    a * b
                })
                .sum()
        };
        let mut expected = Vec::new();
        let mut tile = |element: &dyn Fn(usize, usize) -> f64| {
            expected.extend((0..256).map(|at| (element(at / 16, at % 16) as f32).to_bits()));
        };
        tile(&|row, column| product(true, true, row, column));
        tile(&|column, row| product(true, true, row, column) + product(true, false, row, column));
        tile(&|row, column| product(false, true, row, column));
        tile(&|column, row| product(false, false, row, column));
        assert_equal(&probe, &expected);
    }
}
