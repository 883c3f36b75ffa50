//! The GPU kernels, one module a family.
