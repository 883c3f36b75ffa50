//! The library's error: what was wrong, with its values, and what would be right.

/// What can go wrong in warpbeam.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array's shape does not fit the others.
    #[error("{what} has shape {got:?}; expected {expected:?}")]
    ShapeMismatch {
        /// The array.
        what: &'static str,
        /// The shape that would be right.
        expected: Vec<usize>,
        /// The shape given.
        got: Vec<usize>,
    },
    /// An array has the wrong number of axes.
    #[error("{what} has shape {got:?}; expected {expected}")]
    WrongAxes {
        /// The array.
        what: &'static str,
        /// The axes that would be right.
        expected: &'static str,
        /// The shape given.
        got: Vec<usize>,
    },
    /// An array that must hold something is empty.
    #[error("{what} is empty (shape {shape:?}); at least {minimum} needed along every axis")]
    Empty {
        /// The array.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// How many are needed.
        minimum: usize,
    },
    /// A position, delay or weight is NaN or infinite.
    #[error("{what} at {index:?} is {value}; it must be finite")]
    NotFinite {
        /// The array.
        what: &'static str,
        /// Where in it.
        index: Vec<usize>,
        /// What stands there.
        value: f64,
    },
    /// A parameter is outside its range.
    #[error("{what} is {value}; it must be {requirement}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        requirement: &'static str,
    },
    /// A combination that there is no code for.
    #[error("{what} is not supported; {alternatives}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// What there is instead.
        alternatives: &'static str,
    },
    /// A list of transmits names one that the data do not have.
    #[error(
        "transmit_lists at {index:?} is {value}; it must be a transmit, from 0 to below {n_transmits}, or -1 to end the list"
    )]
    NoSuchTransmit {
        /// Where in the indices.
        index: Vec<usize>,
        /// What stands there.
        value: i32,
        /// How many transmits there are.
        n_transmits: usize,
    },
    /// A transmit uses an element that the probe does not have.
    #[error("a transmit fires element {element}; the probe has {n_elements} elements, counted from 0")]
    NoSuchElement {
        /// The element asked for.
        element: usize,
        /// How many there are.
        n_elements: usize,
    },
    /// An index is no position of the axis that it is for.
    #[error(
        "the index at position {position} is {value}; it must be from 0 to below {axis_length}, the length of its axis"
    )]
    NoSuchPosition {
        /// Where among the indices: the first that is wrong.
        position: usize,
        /// What stands there.
        value: i32,
        /// How long the axis is.
        axis_length: usize,
    },
    /// A grid has no cell that a point can be in.
    #[error(
        "all cells of the grid of {shape:?} nodes are flat; neighbours along its axes must lie apart and in different directions"
    )]
    FlatGrid {
        /// Nodes along each axis.
        shape: Vec<usize>,
    },
    /// A source and a target are at one place, where a wave has no value.
    #[error(
        "source {source_index} and target {target_index} are both at {position:?}; a wave has no value at its source"
    )]
    SourceAtTarget {
        /// The source.
        source_index: usize,
        /// The target.
        target_index: usize,
        /// Where they are, as it is rounded.
        position: [f64; 3],
    },
    /// A numerical method did not reach its end.
    #[error("{what} of a matrix of {size} rows did not converge")]
    NoConvergence {
        /// What was looked for.
        what: &'static str,
        /// The size of the problem.
        size: usize,
    },
    /// There is not enough memory.
    #[error("{what} needs {needed_bytes} bytes; {}", available(*available_bytes))]
    OutOfMemory {
        /// What the memory is for.
        what: &'static str,
        /// How much it needs.
        needed_bytes: u64,
        /// How much there is, where that is known.
        available_bytes: Option<u64>,
    },
    /// Two things live on different backends.
    #[error("{what} is on {got}; expected it on {expected}")]
    WrongBackend {
        /// The tensor or stream.
        what: &'static str,
        /// Where it should be.
        expected: String,
        /// Where it is.
        got: String,
    },
    /// The GPU or its driver failed.
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
    /// Subscripts of a product were refused.
    #[error(transparent)]
    Einsum(#[from] crate::ops::EinsumError),
    /// A signal operation was refused.
    #[error(transparent)]
    Signal(#[from] crate::signal::SignalError),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] crate::io::IoError),
}

fn available(bytes: Option<u64>) -> String {
    bytes.map_or_else(
        || "that much is not available".to_owned(),
        |bytes| format!("{bytes} bytes are available"),
    )
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;
