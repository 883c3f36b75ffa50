//! Voxels in tiles: the order in which a GPU takes the voxels of a grid, so that those of a warp and of a block are close.

/// Voxels of a brick that a warp takes, along z, y and x of a volume, and of a strip along z and y.
const VOLUME_BRICK: [usize; 3] = [2, 4, 4];
const VOLUME_STRIP: [usize; 2] = [4, 8];

/// The same for a slice, along its two axes.
const SLICE_BRICK: [usize; 3] = [1, 4, 8];
const SLICE_STRIP: [usize; 2] = [1, 8];

/// The row-major index of each voxel of a grid, in the order of bricks; `None` where the grid is a line or has more
/// voxels than 32 bits count.
///
/// Bricks follow each other along strips, whose ends meet: forth and back. So blocks are compact also where they
/// begin within a brick, as they do behind the first end of a grid that is no multiple of bricks.
///
/// The last three axes longer than 1 are a volume's, the last two a slice's; others come one after the other.
pub(super) fn order(grid: &[usize]) -> Option<Vec<u32>> {
    let n_voxels = grid.iter().try_fold(1_usize, |product, n| product.checked_mul(*n))?;
    if n_voxels == 0 || u32::try_from(n_voxels).is_err() {
        return None;
    }
    let mut long: Vec<usize> = grid.iter().copied().filter(|n| *n > 1).collect();
    let ([z, y, x], brick, [strip_z, strip_y]) = match long.as_mut_slice() {
        [] | [_] => return None,
        [y, x] => ([1, *y, *x], SLICE_BRICK, SLICE_STRIP),
        [.., z, y, x] => ([*z, *y, *x], VOLUME_BRICK, VOLUME_STRIP),
    };
    let of_volume = z * y * x;
    let mut order = Vec::with_capacity(n_voxels);
    for first in (0..n_voxels).step_by(of_volume) {
        let mut goes_back_along_x = false;
        for (layer, k) in starts(z, strip_z, false).enumerate() {
            for j in starts(y, strip_y, layer % 2 == 1) {
                for i in starts(x, brick[2], goes_back_along_x) {
                    let end = [(k + strip_z).min(z), (j + strip_y).min(y), (i + brick[2]).min(x)];
                    for_each_brick([k, j, i], end, brick, &mut |start, end| {
                        for_each_brick(start, end, [1; 3], &mut |[k, j, i], _| {
                            order.push((first + (k * y + j) * x + i) as u32);
                        });
                    });
                }
                goes_back_along_x = !goes_back_along_x;
            }
        }
    }
    Some(order)
}

/// Where pieces of `size` of an axis begin, from its end on if `goes_back`.
fn starts(length: usize, size: usize, goes_back: bool) -> impl Iterator<Item = usize> {
    let count = length.div_ceil(size);
    (0..count).map(move |piece| size * if goes_back { count - 1 - piece } else { piece })
}

/// Every brick of a box, row-major, cut off at the box's end.
fn for_each_brick(start: [usize; 3], end: [usize; 3], size: [usize; 3], visit: &mut dyn FnMut([usize; 3], [usize; 3])) {
    for k in (start[0]..end[0]).step_by(size[0]) {
        for j in (start[1]..end[1]).step_by(size[1]) {
            for i in (start[2]..end[2]).step_by(size[2]) {
                let to = [k + size[0], j + size[1], i + size[2]];
                visit([k, j, i], [0, 1, 2].map(|axis| to[axis].min(end[axis])));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voxel_comes_once() {
        for grid in [&[5, 9, 13][..], &[7, 11], &[3, 1, 6, 10], &[2, 3, 4, 5], &[64, 1, 48]] {
            let mut order = order(grid).unwrap();
            order.sort_unstable();
            let n_voxels: usize = grid.iter().product();
            assert!(order.iter().copied().eq(0..n_voxels as u32), "{grid:?}");
        }
    }

    #[test]
    fn lines_stay_as_they_are() {
        assert_eq!(order(&[]), None);
        assert_eq!(order(&[17]), None);
        assert_eq!(order(&[1, 17, 1]), None);
        assert_eq!(order(&[0, 5]), None);
    }

    #[test]
    fn a_warp_of_a_volume_is_a_brick() {
        let order = order(&[8, 8, 16]).unwrap();
        for warp in order.chunks(32) {
            for (axis, brick) in [(128, 2), (16, 4), (1, 4)] {
                let along =
                    |voxel: &u32| voxel / axis % [8, 8, 16][[128, 16, 1].iter().position(|a| *a == axis).unwrap()];
                let (least, most) = (
                    warp.iter().map(along).min().unwrap(),
                    warp.iter().map(along).max().unwrap(),
                );
                assert_eq!(most - least + 1, brick);
            }
        }
    }

    /// Blocks of 256 voxels span little of a grid whose rows are no multiple of bricks: two strips at most.
    #[test]
    fn blocks_are_compact_wherever_they_begin() {
        for (grid, most) in [([248, 251], [16, 48]), ([64, 64], [16, 48]), ([96, 33], [16, 48])] {
            for block in order(&grid).unwrap().chunks(256) {
                for (axis, most) in most.into_iter().enumerate() {
                    let along = |voxel: &u32| {
                        if axis == 0 {
                            *voxel as usize / grid[1]
                        } else {
                            *voxel as usize % grid[1]
                        }
                    };
                    let (least, largest) = (
                        block.iter().map(along).min().unwrap(),
                        block.iter().map(along).max().unwrap(),
                    );
                    assert!(largest - least < most, "{grid:?}: {least} to {largest} along {axis}");
                }
            }
        }
        let grid = [32, 48, 51];
        for block in order(&grid).unwrap().chunks(256) {
            for (step, length, most) in [(51 * 48, 32, 8), (51, 48, 16), (1, 51, 24)] {
                let along = |voxel: &u32| *voxel as usize / step % length;
                let (least, largest) = (
                    block.iter().map(along).min().unwrap(),
                    block.iter().map(along).max().unwrap(),
                );
                assert!(largest - least < most, "{least} to {largest} at {step}");
            }
        }
    }
}
