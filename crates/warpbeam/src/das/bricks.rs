//! Voxels in tiles: the order in which a GPU takes the voxels of a grid, so that those of a warp and of a block are close.

/// Voxels of a brick that a warp takes, along z, y and x of a volume.
const VOLUME_WARP: [usize; 3] = [2, 4, 4];

/// Warps of a block along each axis.
const VOLUME_BLOCK: [usize; 3] = [2, 2, 2];

/// The same for a slice, along its two axes.
const SLICE_WARP: [usize; 3] = [1, 4, 8];
const SLICE_BLOCK: [usize; 3] = [1, 4, 2];

/// The row-major index of each voxel of a grid, in the order of bricks; `None` where the grid is a line or has more
/// voxels than 32 bits count.
///
/// The last three axes longer than 1 are a volume's, the last two a slice's; others come one after the other.
pub(super) fn order(grid: &[usize]) -> Option<Vec<u32>> {
    let n_voxels = grid.iter().try_fold(1_usize, |product, n| product.checked_mul(*n))?;
    if n_voxels == 0 || u32::try_from(n_voxels).is_err() {
        return None;
    }
    let mut long: Vec<usize> = grid.iter().copied().filter(|n| *n > 1).collect();
    let ([z, y, x], warp, block) = match long.as_mut_slice() {
        [] | [_] => return None,
        [y, x] => ([1, *y, *x], SLICE_WARP, SLICE_BLOCK),
        [.., z, y, x] => ([*z, *y, *x], VOLUME_WARP, VOLUME_BLOCK),
    };
    let of_volume = z * y * x;
    let mut order = Vec::with_capacity(n_voxels);
    for first in (0..n_voxels).step_by(of_volume) {
        let size = [0, 1, 2].map(|axis| warp[axis] * block[axis]);
        for_each_brick([0; 3], [z, y, x], size, &mut |block_start, block_end| {
            for_each_brick(block_start, block_end, warp, &mut |start, end| {
                for_each_brick(start, end, [1; 3], &mut |[k, j, i], _| {
                    order.push((first + (k * y + j) * x + i) as u32);
                });
            });
        });
    }
    Some(order)
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
}
