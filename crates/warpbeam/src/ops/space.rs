//! What all operations ask of their tensors.

use crate::device::{Backend, Stream};
use crate::{Error, Result};

/// Axes that a tensor may have in the operations of this module.
pub const MOST_AXES: usize = 8;

/// Refuses shapes of too many axes.
pub(super) fn expect_axes(what: &'static str, shape: &[usize]) -> Result<()> {
    if shape.len() <= MOST_AXES {
        return Ok(());
    }
    Err(Error::WrongAxes {
        what,
        expected: "at most 8 axes",
        got: shape.to_vec(),
    })
}

/// Refuses another shape than the one expected.
pub(super) fn expect_shape(what: &'static str, expected: &[usize], got: &[usize]) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::ShapeMismatch {
        what,
        expected: expected.to_vec(),
        got: got.to_vec(),
    })
}

/// Refuses an output or a stream that is elsewhere than the input.
pub(super) fn expect_backend(backend: &Backend, output: &Backend, stream: &Stream) -> Result<()> {
    backend.expect("the output", output)?;
    backend.expect("the stream", stream.backend())
}
