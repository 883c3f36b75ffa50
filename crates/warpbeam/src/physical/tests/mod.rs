//! The physical level against formulas written out by hand, and what it refuses.

#![allow(clippy::float_cmp, reason = "numbers that must come through exactly")]

mod beams;
mod probes;
mod properties;
mod refused;

use super::*;
use crate::DasGeometry;

/// 1540 m/s, 40 MHz, 128 elements at 0.3 mm pitch, RF.
fn acquisition(transmits: Vec<Transmit>) -> Acquisition {
    Acquisition {
        probe: Probe::linear(128, 0.3e-3).unwrap(),
        transmits,
        medium: Medium {
            sound_speed_m_s: 1540.0,
        },
        sampling_frequency_hz: 40e6,
        demodulation_frequency_hz: None,
        pulse_centre_s: 0.0,
    }
}

fn plane_wave() -> Transmit {
    Transmit::new(Wave::Plane {
        azimuth_rad: 0.0,
        elevation_rad: 0.0,
    })
}

fn one_voxel(point_m: [f64; 3]) -> Grid {
    Grid::cartesian(&[point_m[0]], &[point_m[1]], &[point_m[2]]).unwrap()
}

/// The sample in which `geometry` looks for voxel `voxel` of transmit `transmit` on `channel`.
fn sample(geometry: &DasGeometry, transmit: usize, voxel: usize, channel: usize) -> f64 {
    let n_voxels = geometry.n_voxels();
    let offsets = geometry
        .transmit_offsets
        .to_shape((geometry.n_transmits(), n_voxels))
        .unwrap();
    let voxels = geometry.voxel_positions.to_shape((n_voxels, 3)).unwrap();
    let way = &voxels.row(voxel) - &geometry.element_positions.row(channel);
    offsets[[transmit, voxel]] + way.dot(&way).sqrt()
}

/// Largest difference between two geometries, relative to the largest number in each array.
fn difference(a: &DasGeometry, b: &DasGeometry) -> f64 {
    let relative = |a: ndarray::ArrayViewD<'_, f64>, b: ndarray::ArrayViewD<'_, f64>| {
        assert_eq!(a.shape(), b.shape());
        let largest = a.fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        a.iter().zip(b).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs())) / largest
    };
    relative(
        a.element_positions.view().into_dyn(),
        b.element_positions.view().into_dyn(),
    )
    .max(relative(a.voxel_positions.view(), b.voxel_positions.view()))
    .max(relative(a.transmit_offsets.view(), b.transmit_offsets.view()))
    .max(relative(a.transmit_weights.view(), b.transmit_weights.view()))
}

/// Numbers in [−1, 1) from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn point(&mut self, scale: f64) -> [f64; 3] {
        [scale * self.next(), scale * self.next(), scale * self.next()]
    }
}
