//! The math that kernels and host share: geometry, delays, interpolation weights, windows and phases.
