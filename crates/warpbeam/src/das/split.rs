//! How work that does not fit into memory at once is cut into pieces.

use crate::{Error, Result};

/// What the pieces of a reconstruction take, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    /// Channel data of one batch item.
    pub(super) item: u64,
    /// One value of the output.
    pub(super) output: u64,
    /// Geometry of one voxel that has to be brought in with it, where all voxels are taken at once.
    pub(super) voxel_of_all: u64,
    /// The same where not all are.
    pub(super) voxel_of_some: u64,
}

/// Batch items and voxels of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) items: usize,
    pub(super) voxels: usize,
}

/// The largest pieces of `whole` within `budget` bytes: all voxels with as many items as fit if those are a unit's at least,
/// else a unit's items with as many voxels as fit, else one item.
///
/// Pieces of a part of the voxels are of whole units of these, all but the last one.
pub(super) fn pieces(footprint: Footprint, whole: Piece, unit: Piece, budget: u64) -> Result<Piece> {
    let Footprint {
        item,
        output,
        voxel_of_all,
        voxel_of_some,
    } = footprint;
    let (all_items, all_voxels) = (whole.items as u64, whole.voxels as u64);
    let (tile, block) = (all_items.min(unit.items as u64), unit.voxels as u64);
    let items_for = |voxels: u64| {
        let left = budget.checked_sub(voxel_of_all.saturating_mul(voxels))?;
        left.checked_div(item.saturating_add(output.saturating_mul(voxels)))
    };
    let voxels_for = |items: u64| {
        let left = budget.checked_sub(item.saturating_mul(items))?;
        left.checked_div(voxel_of_some.saturating_add(output.saturating_mul(items)))
    };
    let piece = |items: u64, voxels: u64| Piece {
        items: items as usize,
        voxels: voxels as usize,
    };
    let items_of_all = items_for(all_voxels).map_or(0, |items| items.min(all_items));
    if items_of_all >= tile {
        let whole_tiles = items_of_all - items_of_all % tile.max(1);
        let is_all = items_of_all == all_items;
        return Ok(piece(if is_all { items_of_all } else { whole_tiles }, all_voxels));
    }
    for items in [tile, 1] {
        let whole_blocks = |voxels: u64| {
            if voxels < all_voxels {
                voxels - voxels % block
            } else {
                all_voxels
            }
        };
        let voxels = if items <= items_of_all {
            Some(all_voxels)
        } else {
            voxels_for(items).map(whole_blocks)
        };
        if let Some(voxels) = voxels.filter(|voxels| *voxels > 0) {
            return Ok(piece(items, voxels));
        }
    }
    let least = all_voxels.min(block);
    Err(Error::OutOfMemory {
        what: if least > 1 {
            "one batch item and a block of voxels"
        } else {
            "one batch item and one voxel"
        },
        needed_bytes: item.saturating_add(output.saturating_add(voxel_of_some).saturating_mul(least)),
        available_bytes: Some(budget),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOOTPRINT: Footprint = Footprint {
        item: 1000,
        output: 8,
        voxel_of_all: 4,
        voxel_of_some: 4,
    };

    const WHOLE: Piece = Piece { items: 30, voxels: 100 };

    fn split(budget: u64) -> Option<Piece> {
        pieces(FOOTPRINT, WHOLE, Piece { items: 8, voxels: 1 }, budget).ok()
    }

    #[test]
    fn pieces_fit_and_shrink_with_the_budget() {
        for budget in 0..60_000 {
            let Some(Piece { items, voxels }) = split(budget) else {
                assert!(budget < 1012, "{budget} bytes are enough for one item and one voxel");
                continue;
            };
            let (items, voxels) = (items as u64, voxels as u64);
            assert!((1..=30).contains(&items) && (1..=100).contains(&voxels));
            let used = items * FOOTPRINT.item + voxels * FOOTPRINT.voxel_of_all + items * voxels * FOOTPRINT.output;
            assert!(used <= budget, "{used} bytes used of {budget}");
        }
        assert_eq!(split(60_000), Some(Piece { items: 30, voxels: 100 }));
        assert_eq!(split(30_000), Some(Piece { items: 16, voxels: 100 }));
        assert_eq!(split(9_000), Some(Piece { items: 8, voxels: 14 }));
        assert_eq!(split(5_000), Some(Piece { items: 1, voxels: 100 }));
    }

    /// Geometry that is there as a whole is copied for the pieces of a part of the voxels.
    #[test]
    fn parts_of_the_voxels_are_whole_blocks() {
        let footprint = Footprint {
            voxel_of_all: 0,
            voxel_of_some: 20,
            ..FOOTPRINT
        };
        let mut cuts = 0;
        for budget in 0..40_000 {
            let unit = Piece { items: 8, voxels: 32 };
            let Ok(Piece { items, voxels }) = pieces(footprint, WHOLE, unit, budget) else {
                assert!(
                    budget < 1000 + 8 * 100,
                    "{budget} bytes are enough for an item of all voxels"
                );
                continue;
            };
            let is_cut = voxels < 100;
            cuts += usize::from(is_cut);
            assert!(!is_cut || voxels % 32 == 0, "{voxels} voxels with {budget} bytes");
            let geometry = if is_cut { 20 * voxels } else { 0 };
            let used = 1000 * items + geometry + 8 * items * voxels;
            assert!(used as u64 <= budget, "{used} bytes used of {budget}");
        }
        assert!(cuts > 1000, "{cuts} budgets cut the voxels");
    }

    #[test]
    fn too_little_says_how_much() {
        let message = |voxels| {
            let unit = Piece { items: 8, voxels };
            pieces(FOOTPRINT, WHOLE, unit, 1000).unwrap_err().to_string()
        };
        assert_eq!(
            message(1),
            "one batch item and one voxel needs 1012 bytes; 1000 bytes are available"
        );
        assert_eq!(
            message(32),
            "one batch item and a block of voxels needs 1384 bytes; 1000 bytes are available"
        );
        // Fewer voxels than a block has are all that is asked for.
        assert_eq!(
            message(512),
            "one batch item and a block of voxels needs 2200 bytes; 1000 bytes are available"
        );
    }
}
