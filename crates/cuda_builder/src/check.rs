//! Whether a PTX file belongs to the sources at hand.

use std::{fmt, fs, path::Path};

use crate::{CudaBuilder, DeviceCompiler, Error, PtxHeader, SearchList};

/// How a PTX file stands to the sources and the compiler at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// The sources are those of the header, and the header's compiler makes these bytes of them.
    Fresh,
    /// The sources are those of the header; the header's compiler is not here to make the text again.
    SourcesUnchanged {
        /// The compiler that the header names.
        recorded: String,
        /// The compiler that is here, if there is one.
        at_hand: Option<String>,
    },
    /// The file was made from other sources or with other options.
    SourcesChanged {
        /// The hash in the header.
        recorded: String,
        /// The hash of the sources now.
        current: String,
    },
    /// The text was changed after it was built.
    Edited,
    /// The sources are those of the header, but the header's compiler makes another text of them.
    BytesDiffer {
        /// The first line that differs, counted from 1.
        line: usize,
        /// That line in the file.
        recorded: String,
        /// That line as it is built now.
        built: String,
    },
}

impl Freshness {
    /// Whether nothing that could be checked speaks against the file.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Fresh | Self::SourcesUnchanged { .. })
    }
}

impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => write!(f, "fresh: the sources give the same bytes"),
            Self::SourcesUnchanged { recorded, at_hand } => {
                write!(
                    f,
                    "the sources are unchanged; the bytes were not compared, because they were made by {recorded} and "
                )?;
                match at_hand {
                    Some(compiler) => write!(f, "only {compiler} is here"),
                    None => write!(f, "no device compiler is here"),
                }
            }
            Self::SourcesChanged { recorded, current } => {
                write!(
                    f,
                    "the sources have changed: their hash was {recorded} and is {current}"
                )
            }
            Self::Edited => write!(f, "the text was changed after it was built"),
            Self::BytesDiffer { line, recorded, built } => {
                write!(
                    f,
                    "the same compiler makes another text of the same sources: line {line} is `{recorded}`, built now `{built}`"
                )
            }
        }
    }
}

impl CudaBuilder {
    /// Compares a PTX file with what this builder would write there.
    ///
    /// The hashes in the file's header are compared first. If they agree and the compiler that made the file is among
    /// those of this system, the file is built again (not written) and compared byte by byte, line endings apart.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Header`] if the file cannot be read as PTX of this crate, and what
    /// [`build`](Self::build) gives, a missing compiler apart.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<Freshness, Error> {
        self.check_in(path.as_ref(), &SearchList::of_this_system())
    }

    /// [`check`](Self::check) with the compilers of that list.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_in(&self, path: &Path, list: &SearchList) -> Result<Freshness, Error> {
        let text = fs::read_to_string(path)
            .map_err(Error::io("read", path))?
            .replace("\r\n", "\n");
        let recorded = PtxHeader::parse(&text)?;
        if !recorded.matches_content_of(&text) {
            return Ok(Freshness::Edited);
        }
        let kernels = self.kernels()?;
        let current = self.source_hash_of(&kernels)?;
        if current != recorded.sources {
            return Ok(Freshness::SourcesChanged {
                recorded: recorded.sources,
                current,
            });
        }
        let made_it = |compiler: &DeviceCompiler| compiler.version() == recorded.compiler;
        let compiler = match &self.compiler {
            Some(compiler) => Some(compiler.clone()).filter(made_it),
            None => DeviceCompiler::find_where(list, made_it).ok(),
        };
        let Some(compiler) = compiler else {
            let at_hand = self.compiler.clone().or_else(|| DeviceCompiler::find_in(list).ok());
            let at_hand = at_hand.map(|compiler| compiler.version().to_owned());
            return Ok(Freshness::SourcesUnchanged {
                recorded: recorded.compiler,
                at_hand,
            });
        };
        Ok(compare(&text, self.build_with(&compiler, &kernels)?.text()))
    }
}

fn compare(recorded: &str, built: &str) -> Freshness {
    let (mut old, mut new) = (recorded.split('\n'), built.split('\n'));
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let shown = |text: Option<&str>| text.unwrap_or("(the end)").to_owned();
                return Freshness::BytesDiffer {
                    line,
                    recorded: shown(a),
                    built: shown(b),
                };
            }
        }
    }
    Freshness::Fresh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_different_line_is_shown() {
        let differ = |line, recorded: &str, built: &str| Freshness::BytesDiffer {
            line,
            recorded: recorded.into(),
            built: built.into(),
        };
        assert_eq!(compare("a\nb\n", "a\nb\n"), Freshness::Fresh);
        assert_eq!(compare("a\nb\nc\n", "a\nx\nc\n"), differ(2, "b", "x"));
        assert_eq!(compare("a\n", "a\nb"), differ(2, "", "b"));
        assert_eq!(compare("a\n", "a"), differ(2, "", "(the end)"));
    }
}
