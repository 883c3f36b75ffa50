//! What can go wrong between a file and an array.

use std::io;
use std::path::PathBuf;

/// A file that could not be read, understood or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system did not let the file be read.
    #[error("cannot read `{}`: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },

    /// The file could not be written; what was there before is untouched.
    #[error("cannot write `{}`: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the operating system or the encoder said.
        source: io::Error,
    },

    /// The bytes are those of some other kind of file.
    #[error(
        "`{}` is no MAT-file: it {found}; a MATLAB 5 file starts with a 128-byte header that ends in `IM` or `MI`",
        file.display()
    )]
    NotMat {
        /// The file.
        file: PathBuf,
        /// What stands where the header should be.
        found: String,
    },

    /// A MAT-file of a kind that is not read here.
    #[error(
        "`{}` is {version}; only MATLAB 5 files are read: save it again with `save(file, ..., '-v7')`",
        file.display()
    )]
    MatVersion {
        /// The file.
        file: PathBuf,
        /// The kind that it is.
        version: &'static str,
    },

    /// The file ends in the middle of something.
    #[error(
        "`{}` is truncated: {what} at byte {offset} needs {needed} bytes, the file has {available} more",
        file.display()
    )]
    Truncated {
        /// The file.
        file: PathBuf,
        /// What is cut off.
        what: &'static str,
        /// Where it starts in the file.
        offset: usize,
        /// Its length in bytes.
        needed: usize,
        /// How many of them there are.
        available: usize,
    },

    /// A MAT-file whose contents contradict themselves.
    #[error("`{}` is damaged: the variable stored at byte {offset}: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where the variable starts in the file.
        offset: usize,
        /// What does not fit together.
        what: String,
    },

    /// No variable or field of that name.
    #[error("`{}` has no variable `{name}`; it has {}", file.display(), list(present))]
    MissingVariable {
        /// The file.
        file: PathBuf,
        /// What was asked for; fields are written `structure.field`.
        name: String,
        /// The names that exist in its place.
        present: Vec<String>,
    },

    /// A variable of another class than the one asked for.
    #[error("`{name}` in `{}` is {got}; {expected} was expected", file.display())]
    WrongClass {
        /// The file.
        file: PathBuf,
        /// The variable.
        name: String,
        /// What would be right.
        expected: &'static str,
        /// The class in the file.
        got: &'static str,
    },

    /// A variable of another shape than the one asked for.
    #[error("`{name}` in `{}` has shape {got:?}; {expected} was expected", file.display())]
    WrongShape {
        /// The file.
        file: PathBuf,
        /// The variable.
        name: String,
        /// What would be right.
        expected: String,
        /// The shape in the file.
        got: Vec<usize>,
    },

    /// A number with which nothing can be computed.
    #[error("`{name}` in `{}` is {value}; it must be {expected}", file.display())]
    InvalidValue {
        /// The file.
        file: PathBuf,
        /// The variable.
        name: String,
        /// Its value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },

    /// A pixel buffer that does not hold width × height pixels.
    #[error(
        "a picture of {width} × {height} pixels with {channels} bytes each needs {expected} bytes (at least one pixel), \
         the buffer has {got}"
    )]
    PixelCount {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Bytes a pixel.
        channels: usize,
        /// The buffer's length that would be right.
        expected: u64,
        /// The buffer's length.
        got: usize,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
