//! The order in which a GPU takes voxels, so that those of a warp and of a block are close.

use super::bricks;
use super::prepared::Prepared;
use cuda_std::math::Real;
use rayon::prelude::*;

/// Bits of a coordinate in a place on the curve; three of them fill 63.
const BITS: u32 = 21;

/// The number of each voxel, in the order of bricks for a grid and along a space-filling curve for free points, whose array
/// has one axis; `None` where there is nothing to gain or 32 bits do not count the voxels.
pub(super) fn order<R: Real + Sync>(prepared: &Prepared<R>) -> Option<Vec<u32>> {
    bricks::order(&prepared.grid_shape).or_else(|| along_curve(&prepared.voxels, prepared.n_voxels))
}

/// What a step along z counts, which is depth for most: the wave goes there and back.
const DEPTH: f64 = 2.0;

/// Points, given as planes of x, y and z, in the order of Morton's curve through the cube that holds them, z twice as long:
/// the bits of their three coordinates in turn. Points in one place keep the caller's order.
fn along_curve<R: Real + Sync>(planes: &[R], n_points: usize) -> Option<Vec<u32>> {
    if n_points < 2 || u32::try_from(n_points).is_err() {
        return None;
    }
    let coordinate = |axis: usize, point: usize| {
        let value = planes[axis * n_points + point].to_f64();
        if axis == 2 { DEPTH * value } else { value }
    };
    let ranges = [0, 1, 2].map(|axis| {
        (0..n_points).fold([f64::INFINITY, f64::NEG_INFINITY], |[least, largest], point| {
            let value = coordinate(axis, point);
            [least.min(value), largest.max(value)]
        })
    });
    let side = ranges
        .iter()
        .map(|[least, largest]| largest - least)
        .fold(0.0, f64::max);
    let cells = f64::from((1_u32 << BITS) - 1);
    // Points in one place, or a cube too large for a number: all in the first cell.
    let scale = if side > 0.0 && side.is_finite() {
        cells / side
    } else {
        0.0
    };
    let mut places: Vec<(u64, u32)> = (0..n_points)
        .into_par_iter()
        .map(|point| {
            let place = (0..3).fold(0, |place, axis| {
                let cell = (coordinate(axis, point) - ranges[axis][0]) * scale;
                place | spread_bits(cell as u64) << axis
            });
            (place, point as u32)
        })
        .collect();
    places.par_sort_unstable();
    Some(places.into_iter().map(|(_, point)| point).collect())
}

/// The lowest [`BITS`] bits with two zeros between each and the next.
fn spread_bits(cell: u64) -> u64 {
    let mut bits = cell & ((1 << BITS) - 1);
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_three_apart() {
        for bit in 0..BITS {
            assert_eq!(spread_bits(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread_bits(u64::MAX), (0..BITS).map(|bit| 1_u64 << (3 * bit)).sum());
    }

    #[test]
    fn shuffled_points_of_a_cube_come_in_bricks() {
        let mut points: Vec<[f32; 3]> = (0..4096_u16)
            .map(|n| [n % 16, n / 16 % 16, n / 256].map(f32::from))
            .collect();
        let mut rng = fastrand::Rng::with_seed(5);
        rng.shuffle(&mut points);
        let planes: Vec<f32> = (0..3)
            .flat_map(|axis| points.iter().map(move |point| point[axis]))
            .collect();
        let order = along_curve(&planes, points.len()).unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..4096));
        // As many along x and y, half as many along z.
        for (length, side) in [(4, 2.0), (32, 4.0), (256, 8.0)] {
            for brick in order.chunks(length) {
                for (axis, plane) in planes.chunks(points.len()).enumerate() {
                    let along = brick.iter().map(|point| plane[*point as usize]);
                    let side = if axis == 2 { side / 2.0 } else { side };
                    let [least, largest] = along.fold([f32::INFINITY, f32::NEG_INFINITY], |[least, largest], value| {
                        [least.min(value), largest.max(value)]
                    });
                    assert!(
                        largest - least < side,
                        "{length} points span {} along {axis}",
                        largest - least
                    );
                }
            }
        }
    }

    #[test]
    fn points_in_one_place_and_in_a_line_keep_their_order() {
        assert_eq!(along_curve::<f32>(&[], 0), None);
        assert_eq!(along_curve(&[1.0_f32, 2.0, 3.0], 1), None);
        assert_eq!(along_curve(&[7.0_f32; 15], 5), Some(vec![0, 1, 2, 3, 4]));
        let line: Vec<f64> = (0..300).map(|at| if at < 200 { 0.5 } else { f64::from(at) }).collect();
        assert!(along_curve(&line, 100).unwrap().into_iter().eq(0..100));
        // Further apart than a number reaches.
        let far = [-f64::MAX, f64::MAX, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(along_curve(&far, 2), Some(vec![0, 1]));
    }
}
