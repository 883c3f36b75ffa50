//! Named ranges around what the library is asked for, for a timeline.

/// A range from here to the end of the block: a span of `tracing` with the feature of that name, nothing without.
macro_rules! range {
    ($name:literal) => {
        #[cfg(feature = "tracing")]
        let _range = tracing::info_span!(target: "warpbeam", $name).entered();
    };
}
