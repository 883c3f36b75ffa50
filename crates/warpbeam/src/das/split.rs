//! How work that does not fit into memory at once is cut into pieces.

use crate::{Error, Result};

/// What the pieces of a reconstruction take, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    /// Channel data of one batch item.
    pub(super) item: u64,
    /// One value of the output.
    pub(super) output: u64,
    /// Geometry of one voxel that has to be brought in with it.
    pub(super) voxel: u64,
}

/// Batch items and voxels of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) items: usize,
    pub(super) voxels: usize,
}

/// The largest pieces within `budget` bytes: all voxels with as many items as fit if those are `tile` at least, else
/// `tile` items with as many voxels as fit, else one item.
pub(super) fn pieces(footprint: Footprint, n_batch: usize, n_voxels: usize, tile: usize, budget: u64) -> Result<Piece> {
    let Footprint { item, output, voxel } = footprint;
    let (all_items, all_voxels) = (n_batch as u64, n_voxels as u64);
    let tile = all_items.min(tile as u64);
    let items_for = |voxels: u64| {
        let left = budget.checked_sub(voxel.saturating_mul(voxels))?;
        left.checked_div(item.saturating_add(output.saturating_mul(voxels)))
    };
    let voxels_for = |items: u64| {
        let left = budget.checked_sub(item.saturating_mul(items))?;
        left.checked_div(voxel.saturating_add(output.saturating_mul(items)))
    };
    let piece = |items: u64, voxels: u64| Piece {
        items: items as usize,
        voxels: voxels as usize,
    };
    if let Some(items) = items_for(all_voxels)
        .map(|items| items.min(all_items))
        .filter(|items| *items >= tile)
    {
        let whole_tiles = items - items % tile.max(1);
        return Ok(piece(if items == all_items { items } else { whole_tiles }, all_voxels));
    }
    for items in [tile, 1] {
        if let Some(voxels) = voxels_for(items).filter(|voxels| *voxels > 0) {
            return Ok(piece(items, voxels.min(all_voxels)));
        }
    }
    Err(Error::OutOfMemory {
        what: "one batch item and one voxel",
        needed_bytes: item.saturating_add(output).saturating_add(voxel),
        available_bytes: Some(budget),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOOTPRINT: Footprint = Footprint {
        item: 1000,
        output: 8,
        voxel: 4,
    };

    fn split(budget: u64) -> Option<Piece> {
        pieces(FOOTPRINT, 30, 100, 8, budget).ok()
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
            let used = items * FOOTPRINT.item + voxels * FOOTPRINT.voxel + items * voxels * FOOTPRINT.output;
            assert!(used <= budget, "{used} bytes used of {budget}");
        }
        assert_eq!(split(60_000), Some(Piece { items: 30, voxels: 100 }));
        assert_eq!(split(30_000), Some(Piece { items: 16, voxels: 100 }));
        assert_eq!(split(9_000), Some(Piece { items: 8, voxels: 14 }));
        assert_eq!(split(5_000), Some(Piece { items: 1, voxels: 100 }));
    }

    #[test]
    fn too_little_says_how_much() {
        let error = pieces(FOOTPRINT, 30, 100, 8, 1000).unwrap_err().to_string();
        assert_eq!(
            error,
            "one batch item and one voxel needs 1012 bytes; 1000 bytes are available"
        );
    }
}
