//! A case's geometry, in samples and rounded to single precision, as the peers get it.

use crate::cases::{Case, SOUND_SPEED_M_S};
use ndarray::{Array2, ArrayD};
use rayon::prelude::*;
use warpbeam::DasGeometry;

/// The geometry of a case.
pub(crate) fn of(case: &Case) -> anyhow::Result<DasGeometry> {
    let per_metre = case.sampling_frequency_hz / SOUND_SPEED_M_S;
    let round = |metres: f64| f64::from((metres * per_metre) as f32);
    let [nx, ny, nz] = case.grid;
    let [ex, ey] = case.elements;
    let element_positions = Array2::from_shape_fn((ex * ey, 3), |(element, axis)| match axis {
        0 => round(centred(element / ey, ex, case.pitch_m)),
        1 => round(centred(element % ey, ey, case.pitch_m)),
        _ => 0.0,
    });
    let metres = |voxel: usize| {
        let (x, y, z) = (voxel % nx, voxel / nx % ny, voxel / nx / ny);
        [
            centred(x, nx, case.spacing_m[0]),
            centred(y, ny, case.spacing_m[1]),
            case.first_depth_m + z as f64 * case.spacing_m[2],
        ]
    };
    let n_voxels = nx * ny * nz;
    let positions: Vec<[f64; 3]> = (0..n_voxels)
        .into_par_iter()
        .map(|voxel| metres(voxel).map(round))
        .collect();
    let mut offsets = Vec::with_capacity(case.n_transmits * n_voxels);
    for angle in case.angles_rad() {
        let (sine, cosine) = angle.sin_cos();
        offsets.par_extend((0..n_voxels).into_par_iter().map(|voxel| {
            let [x, _, z] = metres(voxel);
            round(z * cosine + x * sine)
        }));
    }
    let transmit_offsets = ArrayD::from_shape_vec(vec![case.n_transmits, nz, ny, nx], offsets)?;
    Ok(DasGeometry {
        element_positions,
        voxel_positions: ArrayD::from_shape_vec(vec![nz, ny, nx, 3], positions.into_flattened())?,
        transmit_weights: ArrayD::ones(transmit_offsets.raw_dim()),
        transmit_offsets,
        ..DasGeometry::default()
    })
}

fn centred(index: usize, count: usize, step: f64) -> f64 {
    (index as f64 - (count as f64 - 1.0) / 2.0) * step
}

// What is compared is exact.
#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn voxels_and_waves_are_where_they_belong() {
        let case = Case {
            grid: [3, 1, 2],
            spacing_m: [1e-3, 0.0, 2e-3],
            first_depth_m: 10e-3,
            n_transmits: 3,
            largest_angle_rad: 0.2,
            sampling_frequency_hz: 1.54e6,
            ..crate::cases::EX16
        };
        let geometry = of(&case).unwrap();
        let [x, y, z] = [0, 1, 2].map(|axis| geometry.voxel_positions[[1, 0, 2, axis]]);
        assert_eq!([x, y, z], [1.0, 0.0, 12.0]);
        let expected = (12.0 * 0.2_f64.cos() + 0.2_f64.sin()) as f32;
        assert!((geometry.transmit_offsets[[2, 1, 0, 2]] - f64::from(expected)).abs() < 1e-6);
        assert_eq!(geometry.transmit_offsets[[1, 0, 0, 0]], 10.0);
        geometry.validate().unwrap();
    }
}
