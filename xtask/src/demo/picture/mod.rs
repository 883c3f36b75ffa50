//! Pictures of images: panels with axes in millimetres, colour bars, a projection in space, all on a dark ground.
//!
//! `canvas` draws lines and text, `slice` reads an image between its voxels, `colour` turns values into colours, and
//! `panel`, `bar` and `projection` put the three together. Nothing here knows of beamforming.

mod bar;
mod canvas;
pub(super) mod colour;
mod panel;
mod projection;
mod slice;

pub(super) use bar::Bar;
pub(super) use canvas::{Canvas, Place};
pub(super) use panel::{Guide, Panel};
pub(super) use projection::{Box3, Projection};
pub(super) use slice::Slice;
