//! Which algorithm and which tile suit a shape.

use super::Algorithm;
use kernels::das::batch::Tile;

/// Batch items from which on lanes that share a voxel are busy enough.
const LEAST_ITEMS: usize = 16;

/// Voxels for each sample of a channel from which on the copy of the samples is worth its time: a sample is moved twice,
/// a voxel saves about half of its reads.
const VOXELS_PER_SAMPLE: usize = 8;

/// How the work is done: [`Algorithm`] without the open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Voxel,
    Batch,
}

/// What a run is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Whether there are batch kernels for the sample type.
    pub(super) has_batch_kernels: bool,
    pub(super) n_batch: usize,
    pub(super) n_samples: usize,
    pub(super) n_voxels: usize,
}

/// The algorithm for a shape.
pub(super) fn choose(algorithm: Algorithm, shape: Shape) -> Choice {
    let pays = shape.n_batch >= LEAST_ITEMS && shape.n_voxels / VOXELS_PER_SAMPLE >= shape.n_samples;
    match algorithm {
        Algorithm::Auto if pays && shape.has_batch_kernels => Choice::Batch,
        Algorithm::Batch if shape.has_batch_kernels => Choice::Batch,
        _ => Choice::Voxel,
    }
}

/// The tile that wastes least: items cost most in a narrow one, least in a broad one, but it may stay half empty.
pub(super) fn tile(n_batch: usize, has_broad_kernels: bool) -> Tile {
    // Instructions an item, in eighths.
    let cost = |(tile, eighths): &(Tile, usize)| eighths * n_batch.next_multiple_of(tile.items() as usize);
    let tiles = [(Tile::Broad, 7), (Tile::Wide, 8), (Tile::Narrow, 9)];
    let possible = &tiles[usize::from(!has_broad_kernels)..];
    possible
        .iter()
        .min_by_key(|tile| cost(tile))
        .map_or(Tile::Wide, |&(tile, _)| tile)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOLUME: Shape = Shape {
        has_batch_kernels: true,
        n_batch: 64,
        n_samples: 256,
        n_voxels: 64 * 64 * 64,
    };

    #[test]
    fn many_frames_of_many_voxels_take_the_batch() {
        let choose = |shape| choose(Algorithm::Auto, shape);
        assert_eq!(choose(VOLUME), Choice::Batch);
        assert_eq!(choose(Shape { n_batch: 16, ..VOLUME }), Choice::Batch);
        assert_eq!(choose(Shape { n_batch: 15, ..VOLUME }), Choice::Voxel);
        assert_eq!(
            choose(Shape {
                n_voxels: 2047,
                ..VOLUME
            }),
            Choice::Voxel
        );
        let double = Shape {
            has_batch_kernels: false,
            ..VOLUME
        };
        assert_eq!(choose(double), Choice::Voxel);
    }

    #[test]
    fn what_was_asked_for_is_done_where_it_can_be() {
        let one = Shape { n_batch: 1, ..VOLUME };
        assert_eq!(choose(Algorithm::Batch, one), Choice::Batch);
        assert_eq!(choose(Algorithm::Voxel, VOLUME), Choice::Voxel);
    }

    #[test]
    fn tiles_are_as_full_as_they_can_be() {
        for n_batch in [1, 16, 32, 65, 96, 150] {
            assert_eq!(tile(n_batch, false), Tile::Narrow, "{n_batch} items");
        }
        for n_batch in [33, 64, 100, 128, 192, 1000] {
            assert_eq!(tile(n_batch, false), Tile::Wide, "{n_batch} items");
        }
        for (n_batch, expected) in [
            (32, Tile::Narrow),
            (64, Tile::Wide),
            (96, Tile::Narrow),
            (100, Tile::Broad),
            (128, Tile::Broad),
            (192, Tile::Wide),
            (256, Tile::Broad),
        ] {
            assert_eq!(tile(n_batch, true), expected, "{n_batch} items");
        }
    }
}
