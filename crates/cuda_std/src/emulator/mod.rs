//! The host's backend: every operation acts on the lane that is running.

mod lane;
mod number;

pub(crate) use lane::*;
pub(crate) use number::*;
