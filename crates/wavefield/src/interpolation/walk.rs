//! A walk through boxes, largest first, to the cells that a search enters.

use super::search::{Bounds, Cells, Mesh};

/// What is looked for.
pub(super) trait Search {
    fn enters(&self, bounds: Bounds) -> bool;

    /// Whether what this code and those behind it name may still count.
    fn wants(&self, code: u32) -> bool;

    fn visit(&mut self, node: u32);
}

/// Levels of which the walk keeps, eight bits each, which boxes it will enter. Long grids have more, at whose boxes it looks
/// again.
const KEPT_LEVELS: u32 = 8;

/// Which of the boxes of a level that belong to one of the next a search enters, a bit each.
#[inline(always)]
fn entered<M: Mesh, S: Search>(mesh: &M, search: &S, level: u32, parent: [u32; 3]) -> u32 {
    let here = mesh.level(level);
    let mut bits = 0;
    // Four boxes are under way at a time; those beyond the end are the last one, which does not count again.
    cuda_std::unroll!(HALF in [0, 1] {
        let mut boxes = [Bounds::NOTHING; 4];
        let at = |child: usize, axis: usize| 2 * parent[axis] + ((4 * HALF + child) as u32 >> axis & 1);
        cuda_std::unroll!(CHILD in [0, 1, 2, 3] {
            let along = |axis: usize| at(CHILD, axis).min(here.counts[axis] - 1);
            boxes[CHILD] = mesh.bounds(here.number([along(0), along(1), along(2)]));
        });
        cuda_std::unroll!(CHILD in [0, 1, 2, 3] {
            let is_along = |axis: usize| at(CHILD, axis) < here.counts[axis];
            if is_along(0) & is_along(1) & is_along(2) & search.enters(boxes[CHILD]) {
                bits |= 1 << (4 * HALF + CHILD);
            }
        });
    });
    bits
}

impl Cells {
    /// Shows a search the boxes, largest first, and the cells of those that it enters; nothing to one that wants nothing.
    ///
    /// Points that are looked for together wait for each other before they visit a cell each: the visit is most of the work,
    /// and a warp would do it for one lane at a time.
    #[inline(always)]
    pub(super) fn walk<M: Mesh, S: Search>(&self, mesh: &M, search: &mut S, wants_any: bool) {
        let top = self.n_levels - 1;
        // The boxes looked at are those of `level` within `parent`, of the level above.
        let (mut level, mut parent) = (top, [0_u32; 3]);
        // The one around all is entered unseen.
        let mut bits = u32::from(wants_any);
        let mut kept = 0_u64;
        let mut is_over = false;
        loop {
            let mut found = None;
            while !is_over && found.is_none() {
                let mut looks = false;
                let mut mask = u32::MAX;
                if bits == 0 {
                    if level == top {
                        is_over = true;
                    } else {
                        let child = parent[0] & 1 | (parent[1] & 1) << 1 | (parent[2] & 1) << 2;
                        level += 1;
                        parent = [parent[0] >> 1, parent[1] >> 1, parent[2] >> 1];
                        if level < KEPT_LEVELS {
                            bits = (kept >> (8 * level)) as u32 & 0xff;
                        } else {
                            looks = true;
                            mask = u32::MAX << (child + 1);
                        }
                    }
                } else {
                    let child = bits.trailing_zeros();
                    bits &= bits - 1;
                    let along = |axis: usize| 2 * parent[axis] + (child >> axis & 1);
                    let at = [along(0), along(1), along(2)];
                    if level == 0 {
                        found = Some(self.node(at)).filter(|node| search.wants(node << 3));
                    } else {
                        if level < KEPT_LEVELS {
                            kept = kept & !(0xff << (8 * level)) | u64::from(bits) << (8 * level);
                        }
                        level -= 1;
                        parent = at;
                        looks = true;
                    }
                }
                if looks {
                    bits = entered(mesh, search, level, parent) & mask;
                }
            }
            if !mesh.any(found.is_some()) {
                return;
            }
            if let Some(node) = found {
                search.visit(node);
            }
        }
    }
}
