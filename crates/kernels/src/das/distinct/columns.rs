//! The ring of columns in a warp's shared memory: a weight for each voxel, and where the column's samples are.

use super::super::sample::Value;
use super::{COLUMNS, RING, VOXELS, WARP};
use cuda_std::half::F16;
use cuda_std::{Global, Shared, copy, matrix, thread, warp};
use num_complex::Complex;

/// A weight in parts: one if it is real, two if it is complex.
pub(super) trait Weight: Value<Real = f32> {
    /// A part.
    fn part(self, part: u32) -> f32;
}

impl Weight for f32 {
    #[inline(always)]
    fn part(self, _: u32) -> f32 {
        self
    }
}

impl Weight for Complex<f32> {
    #[inline(always)]
    fn part(self, part: u32) -> f32 {
        if part == 0 { self.re } else { self.im }
    }
}

/// Weights in halves, a plane of all voxels for each part, column after column.
#[derive(Clone, Copy)]
pub(super) struct Weights<const PARTS: u32> {
    memory: Shared<F16>,
    /// The same memory.
    vectors: Shared<[u32; 4]>,
}

impl<const PARTS: u32> Weights<PARTS> {
    /// Halves from column to column: eight more than there are weights, so that the same eight voxels of eight columns lie
    /// in different banks.
    const PITCH: u32 = PARTS * VOXELS + 8;

    /// Bytes of shared memory.
    pub(super) const BYTES: u32 = RING * Self::PITCH * 2;

    /// # Safety
    ///
    /// The block has [`Self::BYTES`] of shared memory from `offset`, a multiple of 16, on.
    #[inline(always)]
    pub(super) unsafe fn new(offset: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                memory: Shared::new(offset, RING * Self::PITCH),
                vectors: Shared::new(offset, RING * Self::PITCH / 8),
            }
        }
    }

    /// Sets half of the ring to 0.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, between two meetings.
    #[inline(always)]
    pub(super) unsafe fn clear(&self, half: u32) {
        const MOST: usize = 4;
        let vectors_per_column = PARTS * VOXELS / 8;
        let lane = thread::lane();
        cuda_std::unroll!(STEP in 0..MOST {
            let vector = lane + STEP as u32 * WARP;
            if STEP < 2 * PARTS as usize {
                let (column, place) = (vector / vectors_per_column, vector % vectors_per_column);
                // SAFETY: column and place are in range; every vector is one lane's.
                unsafe { self.vectors.store((half * COLUMNS + column) * (Self::PITCH / 8) + place, [0; 4]) };
            }
        });
    }

    /// Sets the weight of this lane's voxel in a column.
    ///
    /// # Safety
    ///
    /// No other lane touches it before the next meeting.
    #[inline(always)]
    pub(super) unsafe fn place<W: Weight>(&self, column: u32, weight: W) {
        let at = column * Self::PITCH + thread::lane();
        // SAFETY: the column is one of the ring's.
        unsafe {
            self.memory.store(at, F16::from_f32(weight.part(0)));
            if PARTS == 2 {
                self.memory.store(at + VOXELS, F16::from_f32(weight.part(1)));
            }
        }
    }

    /// A part of the weights of half the ring's columns for 16 voxels, as an operand.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, after a meeting that follows the last change.
    #[inline(always)]
    pub(super) unsafe fn operand(&self, half: u32, part: u32, rows: u32) -> [u32; 4] {
        let lane = thread::lane();
        // Matrices: voxels 0 to 7 and 8 to 15 of columns 0 to 7, then of columns 8 to 15.
        let column = half * COLUMNS + lane % 8 + lane / 16 * 8;
        let voxel = rows * 16 + lane / 8 % 2 * 8;
        // SAFETY: the rows are in range and aligned.
        unsafe { matrix::ldmatrix_transposed(self.memory, column * Self::PITCH + part * VOXELS + voxel) }
    }
}

/// Samples of half a ring, a row of `CHUNKS` vectors for each column.
#[derive(Clone, Copy)]
pub(super) struct Rows<const CHUNKS: u32> {
    memory: Shared<[u32; 4]>,
    vectors: Shared<u32>,
    /// The vector of each row that this lane copies.
    vector: u32,
}

impl<const CHUNKS: u32> Rows<CHUNKS> {
    /// Vectors from row to row: an odd number and one more than a multiple of four, so that neither eight rows nor four even
    /// ones by two vectors meet in a bank.
    pub(super) const PITCH: u32 = CHUNKS + 1;

    /// Bytes of shared memory.
    pub(super) const BYTES: u32 = COLUMNS * Self::PITCH * 16 + RING * 4;

    /// For the vectors of a sample's `n_vectors` from `first_vector` on; the last one stands for all behind it.
    ///
    /// # Safety
    ///
    /// The block has [`Self::BYTES`] of shared memory from `offset`, a multiple of 16, on.
    #[inline(always)]
    pub(super) unsafe fn new(offset: u32, first_vector: u32, n_vectors: u32) -> Self {
        const { assert!(CHUNKS.is_multiple_of(8) && CHUNKS <= WARP / 2) };
        let vector = first_vector + thread::lane() % CHUNKS;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                memory: Shared::new(offset, COLUMNS * Self::PITCH),
                vectors: Shared::new(offset + COLUMNS * Self::PITCH * 16, RING),
                vector: vector.min(n_vectors - 1),
            }
        }
    }

    /// Says which vector of the transmit a column's samples start at.
    ///
    /// # Safety
    ///
    /// No other lane touches the column's before the next meeting.
    #[inline(always)]
    pub(super) unsafe fn assign(&self, column: u32, vector: u32) {
        // SAFETY: the column is one of the ring's.
        unsafe { self.vectors.store(column, vector) };
    }

    /// Starts to copy the samples of half the ring's columns.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, after a meeting that follows the assignments and the last use of the rows; the
    /// transmit holds the vectors.
    #[inline(always)]
    pub(super) unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
        const MOST: usize = 8;
        // Groups of lanes copy a row at a time, and consecutive rows one after the other.
        let rows_per_group = COLUMNS * CHUNKS / WARP;
        let (group, chunk) = (thread::lane() / CHUNKS, thread::lane() % CHUNKS);
        let first_row = group * rows_per_group;
        // SAFETY: the caller's promise; rows and vectors are in range.
        unsafe {
            cuda_std::unroll!(ROW in 0..MOST {
                if (ROW as u32) < rows_per_group {
                    let row = first_row + ROW as u32;
                    let vector = self.vectors.load(half * COLUMNS + row) + self.vector;
                    copy::start::<[u32; 4], 16>(self.memory, row * Self::PITCH + chunk, transmit, u64::from(vector));
                }
            });
        }
        copy::commit();
    }

    /// Waits for the samples, and meets.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    #[inline(always)]
    pub(super) unsafe fn wait(&self) {
        copy::wait::<0>();
        // SAFETY: the caller's promise.
        unsafe { warp::sync_warp() };
    }

    /// A vector of a row.
    ///
    /// # Safety
    ///
    /// Row and vector are in range, and were waited for.
    #[inline(always)]
    pub(super) unsafe fn vector(&self, row: u32, vector: u32) -> [u32; 4] {
        // SAFETY: the caller's promise.
        unsafe { self.memory.load(row * Self::PITCH + vector) }
    }
}
