//! From a matrix in global memory to tiles in shared memory, 16 bytes at a time.

use super::Matrix;

/// What a thread moves at once.
pub(super) type Unit = [u32; 4];

/// Bytes of that.
pub(super) const UNIT: u32 = 16;

const NOTHING: Unit = [0; 4];

/// The element at `(row, column)` and those behind it up to 16 bytes; 0 from column `end` and row `n_rows` on.
///
/// # Safety
///
/// The slices hold the matrix; `end` is at most its width; where its rows start at multiples of 16 bytes, so does `column`.
#[inline(always)]
pub(super) unsafe fn load<N>(from: &Matrix, row: u32, column: u64, end: u64) -> Unit {
    let bytes = size_of::<N>() as u64;
    let mut unit = NOTHING;
    if row < from.n_rows && column < end {
        let at = (u64::from(row) * from.n_columns + column) * bytes / 4;
        // SAFETY: row and columns are in range.
        unsafe {
            if from.is_aligned != 0 {
                unit = from.units.load(at / 4);
            } else {
                cuda_std::unroll!(WORD in [0, 1, 2, 3] {
                    if column + WORD as u64 * 4 / bytes < end {
                        unit[WORD] = from.words.load(at + WORD as u64);
                    }
                });
            }
        }
    }
    unit
}
