//! What a signal operation refuses.

/// Parameters or arrays with which nothing can be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// A parameter outside its range.
    #[error("{what} is {value}; it must be {requirement}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        requirement: &'static str,
    },

    /// A frame sequence too short for a phase difference.
    #[error("colour Doppler needs at least 2 frames along the first axis; the array has shape {got:?}")]
    TooFewFrames {
        /// The array's shape.
        got: Vec<usize>,
    },

    /// An array without axes where the last one holds the samples.
    #[error("RF data needs at least one axis, the samples; the array has none")]
    NoSampleAxis,
}

/// Refuses what is not positive and finite.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), SignalError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(SignalError::OutOfRange {
            what,
            value,
            requirement: "positive and finite",
        })
    }
}
