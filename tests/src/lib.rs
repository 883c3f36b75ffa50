//! Oracles and helpers that the integration tests share.
//!
//! Nothing here calls the library's arithmetic: the oracle has its own geometry, windows, interpolation and phase.
//! What it shares with the library are the plain data that both are given.

#![forbid(unsafe_code)]

pub mod backends;
pub mod bits;
pub mod case;
pub mod compare;
pub mod das;
pub mod data;
pub mod greens;
pub mod interpolate;
pub mod random;
pub mod rotating_disk;
pub mod run;
pub mod sample;
pub mod simulate;
pub mod svd;
