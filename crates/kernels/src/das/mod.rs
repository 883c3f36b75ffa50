//! Delay-and-sum kernels: `out[b, n] = Σ_q Σ_m w_tx[q, n] · a_rx[m, n] · e^{i(κ·d + φ_q)} · s(x[b, m, q, ·], d)`.

pub mod batch;
pub mod curve;
pub mod distinct;
pub mod geometry;
pub mod output;
pub mod permute;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod permute_columns;
pub mod permute_rows;
pub mod recorded;
pub mod sample;
pub mod scale;
pub mod voxel;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod window;
