//! Interpolation on the CPU: threads share cells, points, and the results of points.

use super::mesh::{HostMesh, NUMBERS_PER_BOX, box_count};
use super::prepared::InterpolationValue;
use rayon::prelude::*;
use wavefield::interpolation::search::{Bounds, Cells, Level, Mesh};
use wavefield::interpolation::{OUTSIDE, Place, Way};

/// Points of a thread at a time.
const CHUNK: usize = 2048;

/// The boxes of all levels.
pub(super) fn boxes(cells: &Cells, positions: &[f64], levels: &[Level], boxes: &mut [f32]) {
    let write = |numbers: &mut [f32], bounds: Bounds| {
        numbers[..3].copy_from_slice(&bounds.low);
        numbers[4..7].copy_from_slice(&bounds.high);
    };
    for (number, level) in levels.iter().enumerate() {
        let (below, rest) = boxes.split_at_mut(NUMBERS_PER_BOX * level.first as usize);
        let count = level.counts.iter().product::<u32>() as usize;
        let mesh = HostMesh {
            positions,
            boxes: below,
            levels,
        };
        rest[..NUMBERS_PER_BOX * count]
            .par_chunks_exact_mut(NUMBERS_PER_BOX)
            .enumerate()
            .with_min_len(CHUNK / 8)
            .for_each(|(index, numbers)| {
                let at = level.position(index as u32);
                write(
                    numbers,
                    if number == 0 {
                        cells.bounds(&mesh, at)
                    } else {
                        levels[number - 1].merged(at, |number| mesh.bounds(number))
                    },
                );
            });
    }
    debug_assert_eq!(boxes.len(), NUMBERS_PER_BOX * box_count(levels));
}

/// Finds the places of points.
pub(super) fn locate(points: &[f64], codes: &mut [u32], numbers: &mut [f64], place: impl Fn([f64; 3]) -> Place + Sync) {
    let (points, _) = points.as_chunks::<3>();
    let (numbers, _) = numbers.as_chunks_mut::<4>();
    points
        .par_iter()
        .zip(codes)
        .zip(numbers)
        .with_min_len(CHUNK / 8)
        .for_each(|((point, code), numbers)| {
            let found = place(*point);
            (*code, *numbers) = (found.code, found.numbers);
        });
}

/// Interpolates `(batch, node)` to `(batch, point)`.
pub(super) fn evaluate<T: InterpolationValue, W: Way>(
    values: &[T],
    n_nodes: usize,
    (codes, numbers): (&[u32], &[f64]),
    steps: [u32; 3],
    fill: T,
    output: &mut [T],
) {
    let (numbers, _) = numbers.as_chunks::<4>();
    if codes.is_empty() {
        return;
    }
    let items = output.par_chunks_mut(codes.len()).zip(values.par_chunks(n_nodes));
    items.for_each(|(output, values)| {
        let chunks = output.par_chunks_mut(CHUNK).zip(codes.par_chunks(CHUNK));
        chunks
            .zip(numbers.par_chunks(CHUNK))
            .for_each(|((output, codes), numbers)| {
                for ((result, &code), numbers) in output.iter_mut().zip(codes).zip(numbers) {
                    *result = if code == OUTSIDE {
                        fill
                    } else {
                        let (nodes, weights) = (W::nodes(code, steps), W::weights::<T::Real>(*numbers));
                        let corners = nodes.iter().zip(&weights).take(W::CORNERS);
                        corners.fold(T::ZERO, |sum, (&node, &weight)| {
                            T::add_weighted(sum, weight, values[node as usize])
                        })
                    };
                }
            });
    });
}
