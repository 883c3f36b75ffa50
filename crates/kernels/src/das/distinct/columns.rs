//! The ring of columns in a warp's shared memory: a weight for each voxel, and where the column's samples are.

use super::{COLUMNS, RING, VOXELS, WARP};
use cuda_std::half::F16;
use cuda_std::{Element, Global, Shared, copy, matrix, thread, warp};

/// Weights, a plane of all voxels for each of `PARTS` numbers, column after column.
#[derive(Clone, Copy)]
pub(super) struct Weights<E, const PARTS: usize> {
    memory: Shared<E>,
    /// The same memory.
    vectors: Shared<[u32; 4]>,
}

impl<E: Element, const PARTS: usize> Weights<E, PARTS> {
    /// Numbers from column to column: 16 bytes more than there are weights, so that the same 16 bytes of eight columns lie
    /// in different banks.
    pub(super) const PITCH: u32 = PARTS as u32 * VOXELS + 16 / size_of::<E>() as u32;

    /// Bytes of shared memory.
    pub(super) const BYTES: u32 = RING * Self::PITCH * size_of::<E>() as u32;

    /// # Safety
    ///
    /// The block has [`Self::BYTES`] of shared memory from `offset`, a multiple of 32, on.
    #[inline(always)]
    pub(super) unsafe fn new(offset: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                memory: Shared::new(offset, RING * Self::PITCH),
                vectors: Shared::new(offset, Self::BYTES / 16),
            }
        }
    }

    /// The memory.
    #[inline(always)]
    pub(super) fn memory(&self) -> Shared<E> {
        self.memory
    }

    /// Sets half of the ring to 0.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, between two meetings.
    #[inline(always)]
    pub(super) unsafe fn clear(&self, half: u32) {
        const MOST: usize = 8;
        let (of_column, lane) = (PARTS as u32 * VOXELS * size_of::<E>() as u32 / 16, thread::lane());
        let first = half * COLUMNS * (Self::BYTES / RING / 16);
        cuda_std::unroll!(STEP in 0..MOST {
            if (STEP as u32) < COLUMNS * of_column / WARP {
                let vector = lane + STEP as u32 * WARP;
                let at = vector / of_column * (Self::BYTES / RING / 16) + vector % of_column;
                // SAFETY: in range, and every vector is one lane's.
                unsafe { self.vectors.store(first + at, [0; 4]) };
            }
        });
    }

    /// Sets the weight of this lane's voxel in a column.
    ///
    /// # Safety
    ///
    /// No other lane touches it before the next meeting.
    #[inline(always)]
    pub(super) unsafe fn place(&self, column: u32, weight: [E; PARTS]) {
        // SAFETY: the caller's promise.
        unsafe { self.place_at(column, thread::lane(), weight) };
    }

    /// As [`Self::place`], where the lane's voxel has another place.
    ///
    /// # Safety
    ///
    /// No other lane touches it before the next meeting.
    #[inline(always)]
    pub(super) unsafe fn place_at(&self, column: u32, place: u32, weight: [E; PARTS]) {
        let at = column * Self::PITCH + place;
        cuda_std::unroll!(PART in 0..PARTS {
            // SAFETY: the column is one of the ring's.
            unsafe { self.memory.store(at + PART as u32 * VOXELS, weight[PART]) };
        });
    }
}

impl<const PARTS: usize> Weights<F16, PARTS> {
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
///
/// Eight rows' vectors of a chunk must lie in different banks. Rows that are copied past the registers have no `GAP`: a
/// row exchanges its vectors instead. With a gap of one vector, the sectors of every other row would be brought twice, because
/// what arrives is written by 32 aligned bytes. Rows that a matrix is loaded from by pitch have that gap.
#[derive(Clone, Copy)]
pub(super) struct Rows<const CHUNKS: u32, const GAP: u32> {
    memory: Shared<[u32; 4]>,
    vectors: Shared<u32>,
    /// The same memory.
    four_vectors: Shared<[u32; 4]>,
    /// The vector of each row that this lane copies.
    vector: u32,
}

impl<const CHUNKS: u32, const GAP: u32> Rows<CHUNKS, GAP> {
    /// Vectors from row to row.
    pub(super) const PITCH: u32 = CHUNKS + GAP;

    /// Where a row's vector of a chunk is.
    #[inline(always)]
    fn at(row: u32, chunk: u32) -> u32 {
        row * Self::PITCH
            + if GAP == 0 {
                chunk / 8 * 8 + ((chunk % 8) ^ (row % 8))
            } else {
                chunk
            }
    }

    /// Bytes of shared memory.
    pub(super) const BYTES: u32 = COLUMNS * Self::PITCH * 16 + RING * 4;

    /// For a tile of each of a sample's `planes` of `n_vectors`; the last vector stands for all behind it.
    ///
    /// # Safety
    ///
    /// The block has [`Self::BYTES`] of shared memory from `offset`, a multiple of 32, on.
    #[inline(always)]
    pub(super) unsafe fn new(offset: u32, tile: u32, planes: u32, n_vectors: u32) -> Self {
        const { assert!(CHUNKS.is_multiple_of(8) && CHUNKS <= WARP / 2) };
        let (chunk, of_plane) = (thread::lane() % CHUNKS, CHUNKS / planes);
        let vector = (tile * of_plane + chunk % of_plane).min(n_vectors - 1) + chunk / of_plane * n_vectors;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                memory: Shared::new(offset, COLUMNS * Self::PITCH),
                vectors: Shared::new(offset + COLUMNS * Self::PITCH * 16, RING),
                four_vectors: Shared::new(offset + COLUMNS * Self::PITCH * 16, RING / 4),
                vector,
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

    /// Rows that this lane copies a vector of: the first, and how many. Groups of lanes share a row.
    #[inline(always)]
    fn rows_of_lane() -> (u32, u32) {
        let count = COLUMNS * CHUNKS / WARP;
        (thread::lane() / CHUNKS * count, count)
    }

    /// The vectors of the transmit that this lane copies for half the ring, as many as [`Self::rows_of_lane`] says.
    ///
    /// # Safety
    ///
    /// All columns of the half were assigned before the last meeting.
    #[inline(always)]
    unsafe fn sources(&self, half: u32) -> [[u32; 4]; 2] {
        let (first_row, count) = Self::rows_of_lane();
        let first = (half * COLUMNS + first_row) / 4;
        // SAFETY: the caller's promise.
        unsafe {
            let low = self.four_vectors.load(first);
            let high = if count > 4 {
                self.four_vectors.load(first + 1)
            } else {
                low
            };
            [
                low.map(|vector| vector + self.vector),
                high.map(|vector| vector + self.vector),
            ]
        }
    }

    /// Starts to copy the samples of half the ring's columns.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, after a meeting that follows the assignments and the last use of the rows; the
    /// transmit holds the vectors.
    #[inline(always)]
    pub(super) unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
        let (first_row, count) = Self::rows_of_lane();
        let chunk = thread::lane() % CHUNKS;
        // SAFETY: the caller's promise; rows and vectors are in range.
        unsafe {
            let from = self.sources(half);
            cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
                if (ROW as u32) < count {
                    let vector = u64::from(from[ROW / 4][ROW % 4]);
                    copy::start::<[u32; 4], 16>(self.memory, Self::at(first_row + ROW as u32, chunk), transmit, vector);
                }
            });
        }
        copy::commit();
    }

    /// Copies the samples of half the ring's columns through registers.
    ///
    /// # Safety
    ///
    /// As [`Self::request`].
    #[inline(always)]
    pub(super) unsafe fn copy(&self, half: u32, transmit: Global<[u32; 4]>) {
        let (first_row, count) = Self::rows_of_lane();
        let chunk = thread::lane() % CHUNKS;
        // SAFETY: the caller's promise; rows and vectors are in range.
        unsafe {
            let from = self.sources(half);
            let mut samples = [[0_u32; 4]; 8];
            cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
                if (ROW as u32) < count {
                    samples[ROW] = transmit.load(u64::from(from[ROW / 4][ROW % 4]));
                }
            });
            cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
                if (ROW as u32) < count {
                    self.memory.store(Self::at(first_row + ROW as u32, chunk), samples[ROW]);
                }
            });
        }
    }

    /// A vector of a row.
    ///
    /// # Safety
    ///
    /// Row and vector are in range, and were waited for.
    #[inline(always)]
    pub(super) unsafe fn vector(&self, row: u32, vector: u32) -> [u32; 4] {
        // SAFETY: the caller's promise.
        unsafe { self.memory.load(Self::at(row, vector)) }
    }

    /// Eight batch items of half precision in each of two chunks, `chunk` and the one `step` behind it, as two operands.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call; the chunks are in range, and were waited for.
    #[inline(always)]
    pub(super) unsafe fn operands(&self, chunk: u32, step: u32) -> [[u32; 2]; 2] {
        let lane = thread::lane();
        // Matrices: columns 0 to 7 and 8 to 15 of one chunk, then of the other.
        let row = lane % 8 + lane / 8 % 2 * 8;
        // SAFETY: the rows are in range.
        let [a, b, c, d] =
            unsafe { matrix::ldmatrix_transposed::<_, 4>(self.memory, Self::at(row, chunk + lane / 16 * step)) };
        [[a, b], [c, d]]
    }
}

/// Waits for the samples that were requested, and meets.
///
/// # Safety
///
/// All lanes of the warp make this call.
#[inline(always)]
pub(super) unsafe fn wait() {
    copy::wait::<0>();
    // SAFETY: the caller's promise.
    unsafe { warp::sync_warp() };
}
