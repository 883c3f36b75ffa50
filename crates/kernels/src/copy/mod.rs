//! Elements from one arrangement in memory to another: dense copies of arrays with any strides, rows to and from given
//! places.
//!
//! Kernels that only move know sizes, not types: a unit is 2, 4, 8 or 16 bytes, one element or several neighbours. Those
//! that convert ([`convert`]) know both types, and a unit is one number or a few neighbours. The launching side sorts, joins and cuts the axes (`plan`), until either
//!
//! - both sides have the same fastest axis, or one of them none: [`flat`], a thread a few units, consecutive threads
//!   consecutive units of the output, or [`shifted`], where that axis is long, and its rows are not made of wide units; or
//! - they have different ones: [`tiles`], a tile through shared memory, [`pairs`] for units of 2 bytes of which two
//!   fit into a word on both sides, and [`boxes`] where one of the axes is short.
//!
//! A launch has fewer than 2³¹ units, so that positions along axes are found in 32 bits, without a division; offsets into
//! memory have 64.

pub mod axes;
pub mod boxes;
pub mod convert;
pub mod flat;
pub mod pairs;
pub mod shifted;
pub mod tiles;

cuda_std::on_host! {
    pub mod plan;
}
