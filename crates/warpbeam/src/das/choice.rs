//! Which algorithm and which tile suit a shape.

use super::Algorithm;
use kernels::das::batch::Tile;
use kernels::das::{distinct, voxel};

/// Batch items from which on lanes that share a voxel are busy enough.
const LEAST_ITEMS: usize = 16;

/// Voxels for each sample of a channel from which on the copy of the samples is worth its time: a sample is moved twice,
/// a voxel saves about half of its reads.
const VOXELS_PER_SAMPLE: usize = 8;

/// Points from which on windows are worth their preparation: on an H200 they win a slice of 0.26·10⁹ by a twentieth.
const LEAST_POINTS_FOR_WINDOWS: u64 = 200_000_000;

/// The same for distinct samples, and for windows of samples that are two halves each: both lost volumes of 0.54·10⁹ and won
/// those of 4.3·10⁹.
const LEAST_POINTS_FOR_DISTINCT: u64 = 2_000_000_000;

/// How the work is done: [`Algorithm`] without the open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Voxel(voxel::Tile),
    Batch,
    Distinct(distinct::Tile),
    /// A window kernel by its number.
    Window(usize),
}

/// The samples that windows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// Halves.
    Halves,
    /// Complex numbers in two halves each.
    SplitComplex,
    /// Numbers in two halves each.
    SplitReal,
}

/// What a run is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Whether there are batch kernels for the sample type.
    pub(super) has_batch_kernels: bool,
    /// The tile of distinct samples that suits the batch, if the device has kernels over those for the plan.
    pub(super) distinct: Option<distinct::Tile>,
    /// The window kernel that suits the batch, if the device has one for the plan.
    pub(super) window: Option<usize>,
    /// What windows are made of.
    pub(super) windows: Windows,
    pub(super) n_channels: usize,
    pub(super) n_batch: usize,
    pub(super) n_samples: usize,
    pub(super) n_voxels: usize,
    /// Entries of a voxel.
    pub(super) n_entries: usize,
    /// Whether samples are stored in another form than they come in.
    pub(super) is_converted: bool,
}

/// The algorithm for a shape.
pub(super) fn choose(algorithm: Algorithm, shape: Shape) -> Choice {
    if let Some(choice) = with_matrix_instructions(algorithm, shape) {
        return choice;
    }
    match algorithm {
        Algorithm::Auto if (shape.pays() || shape.is_converted) && shape.has_batch_kernels => Choice::Batch,
        Algorithm::Batch if shape.has_batch_kernels => Choice::Batch,
        Algorithm::Frame => Choice::Voxel(voxel::Tile::Transmits),
        Algorithm::Auto if shares_distances(shape.n_batch, shape.n_entries) => Choice::Voxel(voxel::Tile::Transmits),
        _ => Choice::Voxel(voxel_tile(shape.n_batch)),
    }
}

/// Windows or distinct samples, where they were asked for or pay and the device has them.
fn with_matrix_instructions(algorithm: Algorithm, shape: Shape) -> Option<Choice> {
    let distinct = shape.distinct.map(Choice::Distinct);
    let window = shape.window.map(Choice::Window);
    match algorithm {
        Algorithm::Distinct => distinct,
        Algorithm::Window => window,
        Algorithm::Auto if shape.pays() => {
            let from = |choice: Option<Choice>, least: u64| choice.filter(|_| shape.points() >= least);
            let distinct = from(distinct, LEAST_POINTS_FOR_DISTINCT);
            let window = match shape.windows {
                Windows::Halves => from(window, LEAST_POINTS_FOR_WINDOWS),
                Windows::SplitComplex => from(window, LEAST_POINTS_FOR_DISTINCT),
                // A tenth slower than distinct samples on an H200.
                Windows::SplitReal => None,
            };
            window.or(distinct)
        }
        _ => None,
    }
}

impl Shape {
    /// Voxels × channels × entries × batch items.
    fn points(&self) -> u64 {
        let counts = [self.n_voxels, self.n_channels, self.n_entries, self.n_batch];
        counts
            .iter()
            .fold(1, |product: u64, count| product.saturating_mul(*count as u64))
    }

    /// Whether a copy of the samples is worth its time.
    fn pays(&self) -> bool {
        self.n_batch >= LEAST_ITEMS && self.n_voxels / VOXELS_PER_SAMPLE >= self.n_samples
    }
}

/// Instructions of a voxel and channel for a thread that takes a tile of batch items, one, and a tile of transmits.
const ITEMS_COST: usize = 125;
const ITEM_COST: usize = 50;
const TRANSMITS_COST: usize = 115;

/// The tile of [`Algorithm::Voxel`] with the fewer instructions; both give the same bits.
fn voxel_tile(n_batch: usize) -> voxel::Tile {
    if ITEM_COST * n_batch <= ITEMS_COST * n_batch.div_ceil(voxel::ITEMS as usize) {
        voxel::Tile::Item
    } else {
        voxel::Tile::Items
    }
}

/// Whether transmits in tiles take fewer instructions than batch items in tiles.
fn shares_distances(n_batch: usize, n_entries: usize) -> bool {
    let of_transmits = TRANSMITS_COST * n_batch * n_entries.div_ceil(voxel::TRANSMITS as usize);
    let items = ITEMS_COST * n_batch.div_ceil(voxel::ITEMS as usize);
    of_transmits < n_entries * items.min(ITEM_COST * n_batch)
}

/// Of the tiles that there are, the one that wastes least: items cost most in a narrow one, least in a broad one, but it may
/// stay half empty.
pub(super) fn tile(n_batch: usize, is_there: impl Fn(Tile) -> bool) -> Option<Tile> {
    // Instructions an item, in eighths.
    let cost = |(tile, eighths): &(Tile, usize)| eighths * n_batch.next_multiple_of(tile.items() as usize);
    let tiles = [(Tile::Broad, 7), (Tile::Wide, 8), (Tile::Narrow, 9)];
    let possible = tiles.into_iter().filter(|(tile, _)| is_there(*tile));
    possible.min_by_key(cost).map(|(tile, _)| tile)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOLUME: Shape = Shape {
        has_batch_kernels: true,
        distinct: None,
        window: None,
        windows: Windows::Halves,
        n_channels: 1024,
        n_batch: 64,
        n_samples: 256,
        n_voxels: 64 * 64 * 64,
        n_entries: 8,
        is_converted: false,
    };

    #[test]
    fn many_frames_of_many_voxels_take_the_batch() {
        let choose = |shape| choose(Algorithm::Auto, shape);
        assert_eq!(choose(VOLUME), Choice::Batch);
        assert_eq!(choose(Shape { n_batch: 16, ..VOLUME }), Choice::Batch);
        assert_eq!(
            choose(Shape { n_batch: 15, ..VOLUME }),
            Choice::Voxel(voxel::Tile::Items)
        );
        assert_eq!(
            choose(Shape {
                n_voxels: 2047,
                ..VOLUME
            }),
            Choice::Voxel(voxel::Tile::Items)
        );
        let double = Shape {
            has_batch_kernels: false,
            ..VOLUME
        };
        assert_eq!(choose(double), Choice::Voxel(voxel::Tile::Items));
        let rounded = Shape {
            n_batch: 1,
            is_converted: true,
            ..VOLUME
        };
        assert_eq!(choose(rounded), Choice::Batch);
    }

    #[test]
    fn matrix_instructions_where_the_device_has_them() {
        let device = Shape {
            distinct: Some(distinct::Tile::Wide),
            window: Some(3),
            ..VOLUME
        };
        let choose = |shape| choose(Algorithm::Auto, shape);
        assert_eq!(choose(device), Choice::Window(3));
        let single = Shape { window: None, ..device };
        assert_eq!(choose(single), Choice::Distinct(distinct::Tile::Wide));
        let small = |shape| Shape {
            n_batch: 128,
            n_voxels: 4096,
            n_entries: 1,
            ..shape
        };
        assert_eq!(choose(small(device)), Choice::Window(3));
        assert_eq!(choose(small(single)), Choice::Batch);
        let split = Shape {
            windows: Windows::SplitComplex,
            ..device
        };
        assert_eq!(choose(split), Choice::Window(3));
        assert_eq!(choose(small(split)), Choice::Batch);
        let split = Shape {
            windows: Windows::SplitReal,
            ..device
        };
        assert_eq!(choose(split), Choice::Distinct(distinct::Tile::Wide));
        assert_eq!(
            choose(Shape { n_batch: 1, ..device }),
            Choice::Voxel(voxel::Tile::Transmits)
        );
    }

    #[test]
    fn what_was_asked_for_is_done_where_it_can_be() {
        let one = Shape { n_batch: 1, ..VOLUME };
        assert_eq!(choose(Algorithm::Batch, one), Choice::Batch);
        assert_eq!(choose(Algorithm::Voxel, VOLUME), Choice::Voxel(voxel::Tile::Items));
    }

    #[test]
    fn few_frames_share_distances_among_transmits() {
        assert!(shares_distances(1, 75) && shares_distances(4, 8) && shares_distances(1, 3));
        assert!(!shares_distances(5, 8) && !shares_distances(1, 1) && !shares_distances(16, 8));
        assert_eq!(voxel_tile(2), voxel::Tile::Item);
        assert_eq!(voxel_tile(3), voxel::Tile::Items);
        let one = Shape { n_batch: 1, ..VOLUME };
        assert_eq!(choose(Algorithm::Auto, one), Choice::Voxel(voxel::Tile::Transmits));
        assert_eq!(choose(Algorithm::Voxel, one), Choice::Voxel(voxel::Tile::Item));
        assert_eq!(choose(Algorithm::Frame, VOLUME), Choice::Voxel(voxel::Tile::Transmits));
    }

    #[test]
    fn a_tile_that_is_not_there_is_not_taken() {
        assert_eq!(tile(64, |tile| tile == Tile::Narrow), Some(Tile::Narrow));
        assert_eq!(tile(64, |_| false), None);
    }

    #[test]
    fn tiles_are_as_full_as_they_can_be() {
        for n_batch in [1, 16, 32, 65, 96, 150] {
            assert_eq!(
                tile(n_batch, |tile| tile != Tile::Broad),
                Some(Tile::Narrow),
                "{n_batch} items"
            );
        }
        for n_batch in [33, 64, 100, 128, 192, 1000] {
            assert_eq!(
                tile(n_batch, |tile| tile != Tile::Broad),
                Some(Tile::Wide),
                "{n_batch} items"
            );
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
            assert_eq!(tile(n_batch, |_| true), Some(expected), "{n_batch} items");
        }
    }
}
