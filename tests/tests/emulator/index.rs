//! Rows from and to given places, their sums, and the search for bad indices.

use crate::copy::launch_all;
use cuda_std::Launch;
use cuda_std::emulator::{Buffer, launch};
use cuda_std::half::F16;
use integration_tests::random::rng;
use kernels::copy::plan::{Arrangement, plan};
use kernels::index::{Check, Instance, NONE, THREADS, check_indices};

/// Rows of `input_shape` looked up along an axis, the input's axes backward in memory or not.
fn arrangement(bytes: usize, shape: [usize; 3], input: [isize; 3], output: [isize; 3], origin: isize) -> Arrangement {
    Arrangement {
        element_bytes: bytes,
        output_element_bytes: bytes,
        takes_pairs: false,
        only_moves: true,
        most_elements: 16 / bytes,
        shape: shape.to_vec(),
        input_strides: input.to_vec(),
        output_strides: output.to_vec(),
        input_address: 256,
        output_address: 256,
        input_origin: origin,
        output_origin: 0,
        looked_up: Some(1),
    }
}

#[test]
fn rows_are_gathered_and_scattered() {
    let mut rng = rng();
    for bytes in [2, 4, 8, 16] {
        for (outer, rows, inner) in [(3, 40, 1), (2, 9, 33), (1, 70, 32), (5, 4, 6), (2, 9, 101)] {
            let count = 2 * rows + 1;
            let places: Vec<i32> = (0..count).map(|_| rng.usize(..rows) as i32).collect();
            let memory: Vec<u8> = std::iter::repeat_with(|| rng.u8(..))
                .take(outer * rows * inner * bytes)
                .collect();
            let looked_up = Buffer::new(&places);
            // From an input whose rows and outer axis run backward.
            let [row, slab] = [inner as isize, (rows * inner) as isize];
            let gathered = arrangement(
                bytes,
                [outer, count, inner],
                [-slab, row, 1],
                [(count * inner) as isize, row, 1],
                slab * (outer as isize - 1),
            );
            let stale = vec![0xa5; outer * count * inner * bytes];
            let (output, _) = launch_all(bytes, &plan(&gathered), &memory, &stale, Some(looked_up.global()), None);
            let of = |all: &[u8], n: usize, o: usize, r: usize| -> Vec<u8> {
                all[(o * n + r) * inner * bytes..][..inner * bytes].to_vec()
            };
            for o in 0..outer {
                for (r, &place) in places.iter().enumerate() {
                    let expected = of(&memory, rows, outer - 1 - o, place as usize);
                    assert_eq!(of(&output, count, o, r), expected, "{bytes} bytes, row {r} of {o}");
                }
            }
            // Distinct targets, the sources from the last to the first.
            let mut targets: Vec<i32> = (0..rows as i32).collect();
            rng.shuffle(&mut targets);
            let sources: Vec<i32> = (0..rows as i32).rev().collect();
            let (targets, sources) = (Buffer::new(&targets), Buffer::new(&sources));
            let wide = [(2 * rows * inner) as isize, row, 1];
            let scattered = arrangement(bytes, [outer, rows, inner], [slab, row, 1], wide, 0);
            let stale = vec![0xa5; outer * 2 * rows * inner * bytes];
            let (sources_of, targets_of) = (Some(sources.global()), Some(targets.global()));
            let (output, _) = launch_all(bytes, &plan(&scattered), &memory, &stale, sources_of, targets_of);
            for o in 0..outer {
                for (r, &target) in targets.to_vec().iter().enumerate() {
                    let expected = of(&memory, rows, o, rows - 1 - r);
                    assert_eq!(
                        of(&output, 2 * rows, o, target as usize),
                        expected,
                        "{bytes} bytes, row {r}"
                    );
                    let beyond = of(&output, 2 * rows, o, rows + r);
                    assert!(beyond.iter().all(|&byte| byte == 0xa5), "what no index names stays");
                }
            }
        }
    }
}

/// Sums along an axis, lists of 0 to 9 summands.
fn sums<T: Instance + PartialEq + std::fmt::Debug>(number: impl Fn(i32) -> T) {
    let mut rng = rng();
    let (outer, rows, inner, lists, length) = (2, 37, 5, 8, 11);
    let mut starts = vec![0_u32];
    let mut sources = Vec::new();
    for _ in 0..lists {
        sources.extend((0..rng.usize(..10)).map(|_| rng.usize(..rows) as i32));
        starts.push(sources.len() as u32);
    }
    let mut targets: Vec<i32> = (0..length).collect();
    rng.shuffle(&mut targets);
    targets.truncate(lists);
    let small = |rng: &mut fastrand::Rng| rng.i32(-9..=9);
    let input: Vec<i32> = std::iter::repeat_with(|| small(&mut rng))
        .take(outer * rows * inner)
        .collect();
    let before: Vec<i32> = std::iter::repeat_with(|| small(&mut rng))
        .take(outer * length as usize * inner)
        .collect();
    let numbers = |values: &[i32]| Buffer::new(&values.iter().map(|&value| number(value)).collect::<Vec<T>>());
    let (memory, output) = (numbers(&input), numbers(&before));
    let (places, begins, listed) = (Buffer::new(&targets), Buffer::new(&starts), Buffer::new(&sources));
    let row = inner as isize;
    let mut arrangement = arrangement(
        size_of::<T>(),
        [outer, lists, inner],
        [rows as isize * row, row, 1],
        [length as isize * row, row, 1],
        0,
    );
    arrangement.most_elements = 1;
    for part in plan(&arrangement) {
        let (parameters, shape) = part.sum::<T>(
            memory.global(),
            output.global_mut(),
            places.global(),
            begins.global(),
            listed.global(),
        );
        launch(&T::kernel(), shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let mut expected = before;
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        for (list, &target) in targets.iter().enumerate() {
            for &source in &sources[starts[list] as usize..starts[list + 1] as usize] {
                expected[(o * length as usize + target as usize) * inner + i] +=
                    input[(o * rows + source as usize) * inner + i];
            }
        }
    }
    let expected: Vec<T> = expected.into_iter().map(number).collect();
    assert_eq!(output.to_vec(), expected);
}

#[test]
fn rows_are_summed() {
    sums(|value| value as i16);
    sums(|value| value);
    sums(|value| F16::from_f32(value as f32));
    sums(|value| value as f32);
    sums(f64::from);
}

#[test]
fn the_first_bad_index_is_found() {
    for (bad, expected) in [
        (&[][..], NONE),
        (&[(700, -1), (300, 50)], 300),
        (&[(0, 7), (999, i32::MIN)], 0),
    ] {
        let mut indices: Vec<i32> = (0..1000).map(|index| index % 7).collect();
        for &(position, value) in bad {
            indices[position] = value;
        }
        let (memory, first_bad) = (Buffer::new(&indices), Buffer::new(&[NONE]));
        let parameters = Check {
            indices: memory.global(),
            first_bad: first_bad.global_mut(),
            n_indices: 1000,
            below: 7,
        };
        let shape = Launch {
            grid: [1000_u32.div_ceil(THREADS), 1, 1],
            threads: THREADS,
            shared_bytes: 0,
        };
        launch(&check_indices, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(first_bad.to_vec(), [expected]);
    }
}
