//! A plane through an image, read at any point.

use ndarray::{Array2, ArrayRef2};

/// Values `(row, column)` on a regular raster, and where its first and last column and row are.
pub(in crate::demo) struct Slice {
    values: Array2<f64>,
    horizontal: [f64; 2],
    vertical: [f64; 2],
}

impl Slice {
    /// A raster from `horizontal[0]` to `horizontal[1]` and `vertical[0]` to `vertical[1]`, both ends included.
    pub(in crate::demo) fn new(values: &ArrayRef2<f64>, horizontal: [f64; 2], vertical: [f64; 2]) -> Self {
        Self {
            values: values.to_owned(),
            horizontal,
            vertical,
        }
    }

    /// The value of the voxel nearest to a point.
    pub(in crate::demo) fn nearest(&self, horizontal: f64, vertical: f64) -> f64 {
        let (row, column) = self.place(horizontal, vertical);
        self.at(row.round() as isize, column.round() as isize)
    }

    /// The value at a point, a cubic through four voxels each way (Catmull and Rom); values stand for amplitudes, and
    /// the result is not negative.
    pub(in crate::demo) fn smooth(&self, horizontal: f64, vertical: f64) -> f64 {
        let (row, column) = self.place(horizontal, vertical);
        let (first_row, first_column) = (row.floor(), column.floor());
        let (rows, columns) = (cubic(row - first_row), cubic(column - first_column));
        let mut sum = 0.0;
        for (i, row_weight) in rows.iter().enumerate() {
            for (j, column_weight) in columns.iter().enumerate() {
                let value = self.at(
                    first_row as isize + i as isize - 1,
                    first_column as isize + j as isize - 1,
                );
                sum += row_weight * column_weight * value;
            }
        }
        sum.max(0.0)
    }

    /// Row and column of a point, in voxels.
    fn place(&self, horizontal: f64, vertical: f64) -> (f64, f64) {
        let place = |value: f64, [first, last]: [f64; 2], n: usize| (value - first) / (last - first) * (n as f64 - 1.0);
        let (rows, columns) = self.values.dim();
        (
            place(vertical, self.vertical, rows),
            place(horizontal, self.horizontal, columns),
        )
    }

    /// A voxel; beyond the edge the one at the edge.
    fn at(&self, row: isize, column: isize) -> f64 {
        let (rows, columns) = self.values.dim();
        self.values[[
            row.clamp(0, rows as isize - 1) as usize,
            column.clamp(0, columns as isize - 1) as usize,
        ]]
    }
}

/// Weights of the voxels at −1, 0, 1 and 2 for a point at `t` between 0 and 1.
fn cubic(t: f64) -> [f64; 4] {
    [
        t * (-0.5 + t * (1.0 - 0.5 * t)),
        1.0 + t * t * (-2.5 + 1.5 * t),
        t * (0.5 + t * (2.0 - 1.5 * t)),
        t * t * (-0.5 + 0.5 * t),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn voxels_come_back_and_a_slope_stays_one() {
        let values = Array2::from_shape_fn((6, 9), |(row, column)| 10.0 + 2.0 * row as f64 + 3.0 * column as f64);
        let slice = Slice::new(&values, [-4.0, 4.0], [10.0, 15.0]);
        for row in 0..6 {
            for column in 0..9 {
                let (h, v) = (-4.0 + column as f64, 10.0 + row as f64);
                assert!((slice.smooth(h, v) - values[[row, column]]).abs() < 1e-12);
                assert!((slice.nearest(h + 0.4, v - 0.4) - values[[row, column]]).abs() < 1e-12);
            }
        }
        assert!((slice.smooth(0.3, 12.6) - (10.0 + 2.0 * 2.6 + 3.0 * 4.3)).abs() < 1e-12);
    }
}
