//! The voxels of a piece of a run: their geometry, and where their results belong.

use crate::device::Element;
use ndarray::{Array2, ArrayView2, ArrayView3, ArrayViewMut3, Zip};
use std::ops::Range;

/// Voxels of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Voxels<'a> {
    /// Consecutive ones.
    Range(Range<usize>),
    /// Those of consecutive places of an order.
    List(&'a [u32]),
}

impl<'a> Voxels<'a> {
    /// Those at the places `range` of an order; where it is empty, those with these numbers.
    pub(super) fn at(order: &'a [u32], range: Range<usize>) -> Self {
        order.get(range.clone()).map_or(Self::Range(range), Self::List)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::List(list) => list.len(),
        }
    }
}

/// The columns of a list.
pub(super) fn columns<E: Element>(planes: &ArrayView2<'_, E>, list: &[u32]) -> Array2<E> {
    let mut columns = Array2::from_elem((planes.nrows(), list.len()), E::zeroed());
    Zip::from(columns.rows_mut())
        .and(planes.rows())
        .par_for_each(|mut columns, plane| {
            for (value, voxel) in columns.iter_mut().zip(list) {
                *value = plane[*voxel as usize];
            }
        });
    columns
}

/// Writes `values`, `(batch, part, place of the list)`, to the voxels of a list in `output`, `(batch, part, voxel)`.
pub(super) fn put<E: Element>(values: &ArrayView3<'_, E>, list: &[u32], output: &mut ArrayViewMut3<'_, E>) {
    Zip::from(output.rows_mut())
        .and(values.rows())
        .par_for_each(|mut output, values| {
            for (value, voxel) in values.iter().zip(list) {
                output[*voxel as usize] = *value;
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array3, s};

    #[test]
    fn places_are_voxels_where_there_is_no_order() {
        assert_eq!(Voxels::at(&[], 3..7), Voxels::Range(3..7));
        assert_eq!(Voxels::at(&[4, 0, 3, 1, 2], 1..4), Voxels::List(&[0, 3, 1]));
        assert_eq!(Voxels::at(&[], 3..7).len(), 4);
        assert_eq!(Voxels::at(&[4, 0, 3, 1, 2], 1..5).len(), 4);
    }

    /// Columns taken piece by piece and put back are the whole, wherever the cuts are.
    #[test]
    fn what_was_taken_comes_back() {
        let mut rng = fastrand::Rng::with_seed(11);
        let n_voxels = 1000;
        let mut order: Vec<u32> = (0..n_voxels as u32).collect();
        rng.shuffle(&mut order);
        let planes = Array2::from_shape_fn((6, n_voxels), |_| rng.f32());
        for size in [1, 256, 768, 999, 1000] {
            // A batch of one more stays as it is.
            let mut output = Array3::from_elem((4, 2, n_voxels), f32::NAN);
            for first in (0..n_voxels).step_by(size) {
                let Voxels::List(list) = Voxels::at(&order, first..n_voxels.min(first + size)) else {
                    panic!("there is an order");
                };
                let columns = columns(&planes.view(), list);
                assert_eq!(columns.dim(), (6, list.len()));
                let values = columns.into_shape_with_order((3, 2, list.len())).unwrap();
                put(&values.view(), list, &mut output.slice_mut(s![..3, .., ..]));
            }
            assert!(
                output.slice(s![..3, .., ..]).iter().eq(planes.iter()),
                "pieces of {size}"
            );
            assert!(output.slice(s![3, .., ..]).iter().all(|value| value.is_nan()));
        }
    }
}
