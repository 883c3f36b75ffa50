//! The order in which a GPU takes voxels, so that those of a warp and of a block are close.

use super::bricks;
use super::prepared::Prepared;
use crate::device::{Cuda, Element, Stream, Tensor};
use crate::{Result, sort};
use cuda_std::Launch;
use cuda_std::math::Real;
use kernels::das::curve::{Instance, Places, THREADS};
use ndarray::ArrayView1;
use rayon::prelude::*;
use wavefield::curve::Curve;

/// The number of each voxel, in the order of bricks for a grid and along a space-filling curve for free points, whose array
/// has one axis; `None` where there is nothing to gain or 32 bits do not count the voxels.
pub(super) fn order<R: Real + Sync>(prepared: &Prepared<R>) -> Option<Vec<u32>> {
    bricks::order(&prepared.grid_shape).or_else(|| along_curve(&prepared.voxels, prepared.n_voxels))
}

/// As [`order`], free points sorted on a device.
pub(super) fn order_on_device<R: Instance + Element<Device = R>>(
    cuda: &Cuda,
    prepared: &Prepared<R>,
    stream: &Stream,
) -> Result<Option<Vec<u32>>> {
    if !is_curved(prepared.n_voxels) || !sort::can_sort(prepared.n_voxels) {
        return Ok(order(prepared));
    }
    if let Some(order) = bricks::order(&prepared.grid_shape) {
        return Ok(Some(order));
    }
    along_curve_on_device(cuda, &prepared.voxels, prepared.n_voxels, stream).map(Some)
}

/// Whether points, of one axis, are sorted.
fn is_curved(n_points: usize) -> bool {
    n_points > 1 && u32::try_from(n_points).is_ok()
}

/// The curve through points, given as planes of x, y and z.
fn curve<R: Real + Sync>(planes: &[R], n_points: usize) -> Curve {
    let range = |axis: usize| {
        let plane = &planes[axis * n_points..(axis + 1) * n_points];
        plane
            .iter()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], value| {
                let value = value.to_f64();
                [least.min(value), most.max(value)]
            })
    };
    Curve::through([range(0), range(1), range(2)])
}

/// Points in the order of Morton's curve; those in one place keep the caller's order.
fn along_curve<R: Real + Sync>(planes: &[R], n_points: usize) -> Option<Vec<u32>> {
    if !is_curved(n_points) {
        return None;
    }
    let curve = curve(planes, n_points);
    let mut places: Vec<(u64, u32)> = (0..n_points)
        .into_par_iter()
        .map(|point| {
            let position = [0, 1, 2].map(|axis| planes[axis * n_points + point].to_f64());
            (curve.place(position), point as u32)
        })
        .collect();
    places.par_sort_unstable();
    Some(places.into_iter().map(|(_, point)| point).collect())
}

/// The same order, of at least one point, by a device.
fn along_curve_on_device<R: Instance + Element<Device = R>>(
    cuda: &Cuda,
    planes: &[R],
    n_points: usize,
    stream: &Stream,
) -> Result<Vec<u32>> {
    let backend = stream.backend();
    let voxels = Tensor::from_array(backend, &ArrayView1::from(planes))?;
    let mut places = sort::keys(backend, n_points)?;
    let parameters = Places {
        voxels: voxels.global("the voxels")?,
        places: places.global_mut_as("the voxels' places")?,
        curve: curve(planes, n_points),
        n_voxels: n_points as u64,
    };
    let launch = Launch {
        grid: [(n_points as u64).div_ceil(u64::from(THREADS)) as u32, 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    cuda.launch(&R::places(), launch, parameters, stream)?;
    let order = sort::order(cuda, places, Curve::BITS, stream)?;
    Ok(order.to_array()?.into_raw_vec_and_offset().0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Backend;

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

    fn device_and_host_agree<R: Instance + Element<Device = R>>(cuda: &Cuda, stream: &Stream) {
        let mut rng = fastrand::Rng::with_seed(7);
        for n_points in [2, 33, 5000, 100_000] {
            // On a lattice, so that many are in one place.
            let planes: Vec<R> = (0..3 * n_points)
                .map(|_| R::from_f64(0.3 * f64::from(rng.u16(..40)) - 5.0))
                .collect();
            let host = along_curve(&planes, n_points).unwrap();
            let device = along_curve_on_device(cuda, &planes, n_points, stream).unwrap();
            assert!(host == device, "{n_points} points");
            let planes: Vec<R> = (0..3 * n_points).map(|_| R::from_f64(rng.f64() - 0.5)).collect();
            let host = along_curve(&planes, n_points).unwrap();
            let device = along_curve_on_device(cuda, &planes, n_points, stream).unwrap();
            assert!(host == device, "{n_points} points at random");
        }
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn the_device_sorts_as_the_host_does() {
        let backend = Backend::cuda(0).unwrap();
        let (cuda, stream) = (backend.as_cuda().unwrap(), backend.stream().unwrap());
        device_and_host_agree::<f32>(cuda, &stream);
        device_and_host_agree::<f64>(cuda, &stream);
    }
}
