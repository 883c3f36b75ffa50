//! A product of few components with all columns of a matrix: `Y = U (W A)`, or `A + U (W A)`.
//!
//! A block has 64 columns. The products `W A` of its columns, [`FEW`] rows, stay in shared memory in double precision, where
//! the matrix's tiles were; then all rows of Y follow, tile by tile.

use super::number::Number;
use super::product::{Engine, Operands, WARP_COLUMNS, WARP_ROWS, zero};
use super::project::{Tiles, left_bytes};
use super::{FEW, Few, SIDE};
use cuda_std::{Shared, thread};

cuda_std::on_host! {
    /// Bytes of shared memory: of the products of the block's columns where they are more than the matrix's tiles.
    pub(super) const fn shared_bytes<N: Number>() -> u32 {
        let (tiles, products) = (right_bytes::<N>(), FEW * N::WIDE_PITCH * size_of::<N::Wide>() as u32);
        left_bytes::<N>() + if tiles > products { tiles } else { products }
    }

    use super::project::right_bytes;
}

/// The body of the kernels.
///
/// # Safety
///
/// The slices hold what the counts say; the grid, the threads and the shared memory are those of the module's documentation.
#[inline(always)]
pub(super) unsafe fn few<N: Number, E: Engine>(p: &Few) {
    const { assert!(FEW == WARP_ROWS) };
    let first_column = u64::from(thread::block_idx_x()) * u64::from(SIDE);
    let end = p.matrix.n_columns;
    let warp = thread::thread_idx_x() / 32;
    let (group, place) = (thread::lane() / 4, thread::lane() % 4);
    // SAFETY: the caller's promise; all threads go through the loops alike, warps by turns as one, and shared memory is
    // overwritten behind a barrier that follows its last use.
    unsafe {
        let tiles = Tiles::<N>::new();
        let products = Shared::<N::Wide>::new(left_bytes::<N>(), FEW * N::WIDE_PITCH);
        // All rows and eight columns a warp.
        let own_column = 8 * warp;
        let sums = tiles.multiply::<E, FEW, 1>(
            &p.matrix,
            (p.rows, p.padded_rows, 0),
            (first_column, end),
            [0, own_column],
            first_column + u64::from(own_column) < end,
        );
        thread::sync_threads();
        cuda_std::unroll!(ROW in [0, 1, 2, 3] {
            let at = (8 * ROW as u32 + group) * N::WIDE_PITCH + own_column + 2 * place;
            let [a, b, c] = sums[ROW][0];
            products.store(at, N::from_products([a[0], b[0], c[0]]));
            products.store(at + 1, N::from_products([a[1], b[1], c[1]]));
        });

        let (warp_row, warp_column) = (warp / 4 * WARP_ROWS, warp % 4 * WARP_COLUMNS);
        let own_pair = first_column + u64::from(warp_column + 2 * place);
        let n_rows = p.matrix.n_rows;
        let input = p.matrix.words.cast::<N>();
        let n_chunks = p.n_few.div_ceil(N::DEPTH);
        let n_tiles = p.padded_rows / SIDE;
        let bring = |tile: u32, chunk: u32| {
            if tile < n_tiles && chunk < n_chunks {
                tiles.load_left::<SIDE>(p.columns, FEW, tile * SIDE, chunk * N::DEPTH)
            } else {
                [[0; 4]; 4]
            }
        };
        let mut ahead = bring(0, 0);
        let (mut tile, mut buffer) = (0, 0);
        while tile < n_tiles {
            let is_needed = tile * SIDE + warp_row < n_rows && first_column + u64::from(warp_column) < end;
            let first_row = tile * SIDE + warp_row + group;
            // All of them before the products, behind which they arrive.
            let mut own = [[[N::narrow(N::from_products([0.0; 3])); 2]; 2]; 4];
            if p.is_added != 0 {
                cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                    cuda_std::unroll!(COLUMN in [0, 1] {
                        cuda_std::unroll!(WHICH in [0, 1] {
                            let (row, column) = (first_row + 8 * ROW as u32, own_pair + 8 * COLUMN as u64 + WHICH as u64);
                            if row < n_rows && column < end {
                                own[ROW][COLUMN][WHICH] = input.load(u64::from(row) * end + column);
                            }
                        });
                    });
                });
            }
            let mut sums = zero::<2>();
            let mut chunk = 0;
            while chunk < n_chunks {
                tiles.store_left::<SIDE>(buffer, &ahead);
                thread::sync_threads();
                let is_last = chunk + 1 == n_chunks;
                ahead = bring(tile + u32::from(is_last), if is_last { 0 } else { chunk + 1 });
                if is_needed {
                    let operands: Operands<N::Wide, N::Wide, false> = Operands {
                        left: tiles.left,
                        left_first: (buffer * SIDE + warp_row) * N::LEFT_PITCH,
                        left_pitch: N::LEFT_PITCH,
                        right: products,
                        right_first: chunk * N::DEPTH * N::WIDE_PITCH + warp_column,
                        right_column: 1,
                        right_depth: N::WIDE_PITCH,
                    };
                    cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                        if (STEP as u32) < N::DEPTH / 4 {
                            E::step(&operands, 4 * STEP as u32, &mut sums);
                        }
                    });
                }
                buffer = 1 - buffer;
                chunk += 1;
            }
            let output = p.output.cast::<N>();
            cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                cuda_std::unroll!(COLUMN in [0, 1] {
                    cuda_std::unroll!(WHICH in [0, 1] {
                        let (row, column) = (first_row + 8 * ROW as u32, own_pair + 8 * COLUMN as u64 + WHICH as u64);
                        if row < n_rows && column < end {
                            let [a, b, c] = sums[ROW][COLUMN];
                            let sum = N::from_products([a[WHICH], b[WHICH], c[WHICH]]);
                            let sum = own[ROW][COLUMN][WHICH].added_to(sum);
                            output.store(u64::from(row) * end + column, N::narrow(sum));
                        }
                    });
                });
            });
            tile += 1;
        }
    }
}
