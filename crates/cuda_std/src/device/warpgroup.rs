//! Products of warp groups on the device: `wgmma`, which LLVM does not know to be convergent. Kernels keep them where control flow
//! is the same for a group.

use core::arch::asm;

#[inline(always)]
pub(crate) fn group_publish() {
    // SAFETY: touches nothing.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack)) }
}

#[inline(always)]
pub(crate) unsafe fn group_begin() {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { asm!("wgmma.fence.sync.aligned;", options(nostack)) }
}

/// The operand's description, in units of 16 bytes: where it begins and how far the next columns are, how far the next rows are, and
/// that pieces of 16 bytes change places within 128. No address of shared memory exceeds its 14 bits.
#[inline(always)]
fn descriptor(address: u32, [first_and_block, later]: [u32; 2]) -> u64 {
    u64::from(address / 16 + first_and_block) | u64::from(later) << 32
}

// Sums are numbered as the instruction wants them.
#[rustfmt::skip]
#[inline(always)]
pub(crate) unsafe fn group_multiply<const TILES: usize>(
    a: [u32; 4],
    (address, _length): (u32, u32),
    rows: [u32; 2],
    sums: &mut [[f32; 4]; TILES],
) {
    let b = descriptor(address, rows);
    // SAFETY: the operand lies in shared memory and all lanes arrive, by the caller's promise.
    unsafe {
        match TILES {
            8 => asm!(
                "{{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{",
                "{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}, {16}, {17}, {18}, {19}, {20}, {21}, {22}, {23}, {24}, {25}, {26}, {27}, {28}, {29}, {30}, {31}",
                "}}, {{{32}, {33}, {34}, {35}}}, {36}, p, 1, 1, 1; }}",
                inout(reg32) sums[0][0], inout(reg32) sums[0][1], inout(reg32) sums[0][2], inout(reg32) sums[0][3],
                inout(reg32) sums[1][0], inout(reg32) sums[1][1], inout(reg32) sums[1][2], inout(reg32) sums[1][3],
                inout(reg32) sums[2][0], inout(reg32) sums[2][1], inout(reg32) sums[2][2], inout(reg32) sums[2][3],
                inout(reg32) sums[3][0], inout(reg32) sums[3][1], inout(reg32) sums[3][2], inout(reg32) sums[3][3],
                inout(reg32) sums[4][0], inout(reg32) sums[4][1], inout(reg32) sums[4][2], inout(reg32) sums[4][3],
                inout(reg32) sums[5][0], inout(reg32) sums[5][1], inout(reg32) sums[5][2], inout(reg32) sums[5][3],
                inout(reg32) sums[6][0], inout(reg32) sums[6][1], inout(reg32) sums[6][2], inout(reg32) sums[6][3],
                inout(reg32) sums[7][0], inout(reg32) sums[7][1], inout(reg32) sums[7][2], inout(reg32) sums[7][3],
                in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg64) b, options(nostack)
            ),
            _ => asm!(
                "{{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{",
                "{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}, {16}, {17}, {18}, {19}, {20}, {21}, {22}, {23}, {24}, {25}, {26}, {27}, {28}, {29}, {30}, {31}, {32}, {33}, {34}, {35}, {36}, {37}, {38}, {39}, {40}, {41}, {42}, {43}, {44}, {45}, {46}, {47}, {48}, {49}, {50}, {51}, {52}, {53}, {54}, {55}, {56}, {57}, {58}, {59}, {60}, {61}, {62}, {63}",
                "}}, {{{64}, {65}, {66}, {67}}}, {68}, p, 1, 1, 1; }}",
                inout(reg32) sums[0][0], inout(reg32) sums[0][1], inout(reg32) sums[0][2], inout(reg32) sums[0][3],
                inout(reg32) sums[1][0], inout(reg32) sums[1][1], inout(reg32) sums[1][2], inout(reg32) sums[1][3],
                inout(reg32) sums[2][0], inout(reg32) sums[2][1], inout(reg32) sums[2][2], inout(reg32) sums[2][3],
                inout(reg32) sums[3][0], inout(reg32) sums[3][1], inout(reg32) sums[3][2], inout(reg32) sums[3][3],
                inout(reg32) sums[4][0], inout(reg32) sums[4][1], inout(reg32) sums[4][2], inout(reg32) sums[4][3],
                inout(reg32) sums[5][0], inout(reg32) sums[5][1], inout(reg32) sums[5][2], inout(reg32) sums[5][3],
                inout(reg32) sums[6][0], inout(reg32) sums[6][1], inout(reg32) sums[6][2], inout(reg32) sums[6][3],
                inout(reg32) sums[7][0], inout(reg32) sums[7][1], inout(reg32) sums[7][2], inout(reg32) sums[7][3],
                inout(reg32) sums[8][0], inout(reg32) sums[8][1], inout(reg32) sums[8][2], inout(reg32) sums[8][3],
                inout(reg32) sums[9][0], inout(reg32) sums[9][1], inout(reg32) sums[9][2], inout(reg32) sums[9][3],
                inout(reg32) sums[10][0], inout(reg32) sums[10][1], inout(reg32) sums[10][2], inout(reg32) sums[10][3],
                inout(reg32) sums[11][0], inout(reg32) sums[11][1], inout(reg32) sums[11][2], inout(reg32) sums[11][3],
                inout(reg32) sums[12][0], inout(reg32) sums[12][1], inout(reg32) sums[12][2], inout(reg32) sums[12][3],
                inout(reg32) sums[13][0], inout(reg32) sums[13][1], inout(reg32) sums[13][2], inout(reg32) sums[13][3],
                inout(reg32) sums[14][0], inout(reg32) sums[14][1], inout(reg32) sums[14][2], inout(reg32) sums[14][3],
                inout(reg32) sums[15][0], inout(reg32) sums[15][1], inout(reg32) sums[15][2], inout(reg32) sums[15][3],
                in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg64) b, options(nostack)
            ),
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn group_commit() {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { asm!("wgmma.commit_group.sync.aligned;", options(nostack)) }
}

#[inline(always)]
pub(crate) unsafe fn group_wait<const ROWS: usize>() {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { asm!("wgmma.wait_group.sync.aligned {0};", const ROWS, options(nostack)) }
}
