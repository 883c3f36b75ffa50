//! Bad input is refused by name, value and what would be right; nothing panics, and a plan still works afterwards.

mod acquisitions;
mod data;
mod geometry;

use fastrand::Rng;
use integration_tests::case::{Case, Elements};
use integration_tests::sample::Precision;
use warpbeam::{DasGeometry, DasOptions};

/// Two channels, two transmits, three voxels, all sound.
fn good() -> (DasGeometry, DasOptions) {
    let case = Case {
        channels: 2,
        transmits: 2,
        grid: vec![3],
        elements: Elements::Free,
        ..Case::default()
    };
    let case = Case {
        cosine_bound: Some(0.1),
        ..case
    };
    let (geometry, _) = case.geometry(&mut Rng::with_seed(1), Precision::Single);
    (geometry, case.options)
}
