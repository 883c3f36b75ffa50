//! How far apart the delays of neighbouring voxels are.

use super::prepared::Prepared;
use cuda_std::math::Real;

/// Tiles and channels that are looked at, of all evenly.
const TILES: usize = 32;
const CHANNELS: usize = 16;

/// The mean over tiles of `tile_voxels` voxels, in the order that a GPU takes them in, and over channels of the samples between the earliest and
/// the latest delay of a tile, for the first transmit of each voxel.
pub(super) fn mean_spread<R: Real>(prepared: &Prepared<R>, order: Option<&[u32]>, tile_voxels: usize) -> f64 {
    let (n_voxels, n_channels) = (prepared.n_voxels, prepared.elements.len() / 2);
    if n_voxels == 0 || n_channels == 0 || prepared.n_entries == 0 {
        return 0.0;
    }
    let voxel_at = |place: usize| order.map_or(place, |order| order[place] as usize);
    let n_tiles = n_voxels.div_ceil(tile_voxels);
    let (tiles, channels) = (n_tiles.min(TILES), n_channels.min(CHANNELS));
    let mut sum = 0.0;
    for tile in 0..tiles {
        // Not the tiles and channels at the ends, where there are others.
        let first = (2 * tile + 1) * n_tiles / (2 * tiles) * tile_voxels;
        let voxels: Vec<_> = (first..n_voxels.min(first + tile_voxels)).map(voxel_at).collect();
        for channel in 0..channels {
            let channel = (2 * channel + 1) * n_channels / (2 * channels);
            let delays = voxels.iter().map(|voxel| delay(prepared, channel, *voxel));
            let (earliest, latest) = delays.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), delay| {
                (low.min(delay), high.max(delay))
            });
            sum += (latest - earliest).max(0.0);
        }
    }
    sum / (tiles * channels) as f64
}

/// The delay of a voxel's first entry in samples.
fn delay<R: Real>(prepared: &Prepared<R>, channel: usize, voxel: usize) -> f64 {
    let ([x, y], [z, _]) = (prepared.elements[2 * channel], prepared.elements[2 * channel + 1]);
    let squares = [x, y, z].into_iter().enumerate().map(|(axis, element)| {
        let from_element = prepared.voxels[axis * prepared.n_voxels + voxel].to_f64() - element.to_f64();
        from_element * from_element
    });
    squares.sum::<f64>().sqrt() + prepared.offsets[voxel].to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::das::{DasGeometry, DasOptions};
    use ndarray::{ArrayD, array};

    #[test]
    fn a_line_of_voxels_below_an_element() {
        let n = 100;
        let geometry = DasGeometry {
            element_positions: array![[0.0, 0.0, 0.0]],
            voxel_positions: ArrayD::from_shape_fn(vec![n, 3], |at| {
                if at[1] == 2 { 10.0 + 0.5 * at[0] as f64 } else { 0.0 }
            }),
            transmit_offsets: ArrayD::from_shape_fn(vec![1, n], |at| 0.5 * at[1] as f64),
            transmit_weights: ArrayD::ones(vec![1, n]),
            ..DasGeometry::default()
        };
        let prepared = Prepared::<f32>::new(&geometry, &DasOptions::default());
        // From one voxel to the next it is a sample there and back: 24 from the first of 25 to the last.
        let spread = mean_spread(&prepared, None, 25);
        assert!((spread - 24.0).abs() < 1e-4, "{spread}");
    }
}
