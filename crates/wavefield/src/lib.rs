//! The math that kernels and host share: geometry, delays, interpolation weights, windows and phases.
//!
//! One source for both, so that a GPU and a CPU compute the same image. Nothing here knows of arrays, devices or
//! files.
//!
//! # Conventions
//!
//! Each of them is held by a test in the module named.
//!
//! | what | rule | module |
//! |---|---|---|
//! | t = 0 | the transmitted wave crosses the transmit's origin (by default the probe's) | [`transmit`] |
//! | start time | sample k was taken at `start_time + k / f_s`; a pulse whose centre comes `pulse_centre` after its start is found at `τ + pulse_centre` | [`sampling`] |
//! | phase sign | demodulated data carry e^{−iωτ}; the sum multiplies by e^{+iω·t}, t counted from the transmit | [`phase`] |
//! | f-number | depth along the element's normal over the aperture's width: half-width `depth / (2 F)`; 0 uses all elements | [`aperture`] |
//! | window's edge | an element exactly on the edge belongs to the aperture | [`aperture`] |
//! | range | a delay d counts where 0 ≤ d < K − 1, whatever the interpolation; elsewhere it adds exactly 0 | [`sampling`] |
//! | edge of a grid | a point within 10⁻⁶ of a cell belongs to it | [`interpolation`] |
//! | sector | azimuth from z towards x, elevation towards y, range from the apex | [`interpolation::axes`] |
//! | focus | before and at the focal plane the wave converges, behind it diverges | [`transmit`] |

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "edges, ends and zeros are exact"))]

pub mod aperture;
pub mod curve;
pub mod geometry;
pub mod interpolation;
pub mod phase;
pub mod sampling;
pub mod transmit;

pub use cuda_std::math::Real;
