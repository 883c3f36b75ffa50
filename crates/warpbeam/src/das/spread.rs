//! How far apart the delays of neighbouring voxels are, and the order of blocks that follows from it.

use super::prepared::Prepared;
use cuda_std::math::Real;
use rayon::prelude::*;

/// Channels that are looked at, of all evenly.
const CHANNELS: usize = 8;

/// The mean over channels of the samples between the earliest and the latest delay of each tile of `tile_voxels` voxels, in the
/// order that a GPU takes them in, for the first transmit of each voxel.
pub(super) fn spreads<R: Real + Sync>(prepared: &Prepared<R>, order: Option<&[u32]>, tile_voxels: usize) -> Vec<f64> {
    let (n_voxels, n_channels) = (prepared.n_voxels, prepared.elements.len() / 2);
    let channels = n_channels.min(CHANNELS);
    if channels == 0 || prepared.n_entries == 0 {
        return Vec::new();
    }
    let voxel_at = |place: usize| order.map_or(place, |order| order[place] as usize);
    (0..n_voxels.div_ceil(tile_voxels))
        .into_par_iter()
        .map(|tile| {
            let places = tile * tile_voxels..n_voxels.min((tile + 1) * tile_voxels);
            let of_channels = (0..channels).map(|channel| {
                // Not the channels at the ends, where there are others.
                let channel = (2 * channel + 1) * n_channels / (2 * channels);
                let delays = places.clone().map(|place| delay(prepared, channel, voxel_at(place)));
                let (earliest, latest) = delays.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), delay| {
                    (low.min(delay), high.max(delay))
                });
                (latest - earliest).max(0.0)
            });
            of_channels.sum::<f64>() / channels as f64
        })
        .collect()
}

/// The mean spread of a tile.
pub(super) fn mean(spreads: &[f64]) -> f64 {
    spreads.iter().sum::<f64>() / spreads.len().max(1) as f64
}

/// The order in which tiles of `tile_voxels` voxels come by their spreads, the widest first; within a tile and between tiles as
/// wide as each other nothing changes, and a last tile that is not whole stays the last.
///
/// Wide tiles take longest. Where few waves of blocks do all the work, a device that begins with them is soonest done.
pub(super) fn widest_first(order: &[u32], tile_voxels: usize, spreads: &[f64]) -> Vec<u32> {
    let (tiles, rest) = order.split_at(order.len().min(spreads.len() * tile_voxels) / tile_voxels * tile_voxels);
    let mut tiles: Vec<_> = tiles.chunks(tile_voxels).zip(spreads).collect();
    tiles.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let widest_first = tiles.into_iter().flat_map(|(tile, _)| tile);
    widest_first.chain(rest).copied().collect()
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
        let spreads = spreads(&prepared, None, 25);
        assert_eq!(spreads.len(), 4);
        assert!(spreads.iter().all(|spread| (spread - 24.0).abs() < 1e-4), "{spreads:?}");
        assert!((mean(&spreads) - 24.0).abs() < 1e-4);
        // The last of these has two voxels.
        let spreads = super::spreads(&prepared, None, 98);
        assert!((spreads[1] - 1.0).abs() < 1e-4, "{spreads:?}");
        assert!(mean(&[]).abs() < 1e-12);
    }

    #[test]
    fn wide_tiles_come_first_and_whole() {
        let order: Vec<u32> = (0..11).rev().collect();
        let widest_first = widest_first(&order, 2, &[1.0, 3.0, 2.0, 3.0, 0.5, 9.0]);
        assert_eq!(widest_first, [8, 7, 4, 3, 6, 5, 10, 9, 2, 1, 0]);
    }

    #[test]
    fn tiles_without_channels_stay() {
        assert_eq!(widest_first(&[3, 2, 1, 0], 2, &[]), [3, 2, 1, 0]);
    }
}
