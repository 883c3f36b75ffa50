//! Shapes and strides, counted in elements: how many there are, in which order, and what span of memory they cover.

/// The number of elements, or `None` where it does not fit into an `isize`.
///
/// Axes of length 0 make the count 0, but the others must still fit: that is what `ndarray` asks of a shape.
pub(super) fn elements(shape: &[usize]) -> Option<usize> {
    let nonzero = shape
        .iter()
        .filter(|&&length| length != 0)
        .try_fold(1_usize, |product, &length| product.checked_mul(length))
        .filter(|&product| isize::try_from(product).is_ok())?;
    Some(if shape.contains(&0) { 0 } else { nonzero })
}

/// Strides of a dense array whose last axis is contiguous; `shape` has a count that fits (see [`elements`]).
pub(super) fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = step as isize;
        step *= length.max(1);
    }
    strides
}

/// Whether the elements lie densely in row-major order; the stride of an axis of length 1 says nothing.
pub(super) fn is_row_major(shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut step = 1;
    for (&length, &stride) in shape.iter().zip(strides).rev() {
        if length != 1 && stride != step {
            return false;
        }
        step *= length as isize;
    }
    true
}

/// Lowest and highest offset of an element from the first one, or `None` where they do not fit into an `isize`.
///
/// `shape` has no axis of length 0.
pub(super) fn span(shape: &[usize], strides: &[isize]) -> Option<(isize, isize)> {
    shape
        .iter()
        .zip(strides)
        .try_fold((0_isize, 0_isize), |(lowest, highest), (&length, &stride)| {
            let reach = stride.checked_mul(isize::try_from(length - 1).ok()?)?;
            Some((lowest.checked_add(reach.min(0))?, highest.checked_add(reach.max(0))?))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_fits() {
        assert_eq!(elements(&[]), Some(1));
        assert_eq!(elements(&[2, 3, 4]), Some(24));
        assert_eq!(elements(&[usize::MAX, 0]), None);
        assert_eq!(elements(&[7, 0, 5]), Some(0));
        assert_eq!(elements(&[1 << 40, 1 << 40]), None);
        assert_eq!(elements(&[1 << 63]), None);
    }

    #[test]
    fn row_major_is_recognised() {
        assert_eq!(row_major(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(row_major(&[2, 0, 4]), [4, 4, 1]);
        assert!(is_row_major(&[2, 3], &[3, 1]));
        assert!(is_row_major(&[1, 3, 1], &[-7, 1, 0]));
        assert!(is_row_major(&[0, 3], &[5, 9]));
        assert!(!is_row_major(&[2, 3], &[1, 2]));
        assert!(!is_row_major(&[2, 3], &[4, 1]));
        assert!(!is_row_major(&[3], &[-1]));
    }

    #[test]
    fn spans_reach_both_ways() {
        assert_eq!(span(&[2, 3], &[3, 1]), Some((0, 5)));
        assert_eq!(span(&[2, 3], &[-3, 1]), Some((-3, 2)));
        assert_eq!(span(&[4, 3], &[0, 2]), Some((0, 4)));
        assert_eq!(span(&[3, 3], &[isize::MAX, 1]), None);
    }
}
