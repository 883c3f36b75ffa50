//! Compiles a kernels crate to PTX with rustc's own NVPTX backend.
