//! The outside of a MAT-file: which kind it is, where its variables lie, and their bytes, inflated.
//!
//! Level 5 (what MATLAB calls versions 5, 6 and 7): a 128-byte header, then one element a variable, each an 8-byte tag
//! (type, length) and its data; a compressed variable is an element that holds the zlib stream of another one. The
//! format is `MathWorks`' "MAT-File Format".

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::IoError;

pub(super) const HEADER_BYTES: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

impl Endian {
    /// The number in the first four bytes, which must be there.
    pub(super) fn u32(self, bytes: &[u8]) -> u32 {
        let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match self {
            Self::Little => u32::from_le_bytes(word),
            Self::Big => u32::from_be_bytes(word),
        }
    }
}

/// The contents of one variable's matrix element, without its tag.
pub(super) struct Frame<'a> {
    /// Where the variable starts in the file.
    pub(super) offset: usize,
    pub(super) body: Cow<'a, [u8]>,
}

/// Finds out what kind of file the bytes are; only level 5 is let through.
pub(super) fn endian(file: &Path, bytes: &[u8]) -> Result<Endian, IoError> {
    let version = |version| IoError::MatVersion {
        file: file.to_owned(),
        version,
    };
    if bytes.starts_with(HDF5) || bytes.get(512..).is_some_and(|rest| rest.starts_with(HDF5)) {
        return Err(version("a MAT-file of version 7.3 (HDF5)"));
    }
    let endian = match bytes.get(126..HEADER_BYTES) {
        Some(b"IM") => Some(Endian::Little),
        Some(b"MI") => Some(Endian::Big),
        _ => None,
    };
    match (endian, bytes.get(124..126)) {
        (Some(Endian::Little), Some([0, 1])) | (Some(Endian::Big), Some([1, 0])) => {}
        (Some(_), Some([0, 2] | [2, 0])) => {
            return Err(version("a MAT-file of version 7.3 (HDF5)"));
        }
        _ if bytes.starts_with(b"MATLAB ") && bytes.len() < HEADER_BYTES => {
            return Err(truncated(file, "the header", bytes, 0, HEADER_BYTES));
        }
        _ if is_level_4(bytes) => return Err(version("a MAT-file of level 4")),
        _ => {
            return Err(IoError::NotMat {
                file: file.to_owned(),
                found: describe(bytes),
            });
        }
    }
    Ok(endian.unwrap_or(Endian::Little))
}

/// The variables' elements in the file's order.
pub(super) fn frames<'a>(file: &Path, bytes: &'a [u8], endian: Endian) -> Result<Vec<Frame<'a>>, IoError> {
    // Classes of MATLAB's own keep their private data in a nameless element, which the header points to.
    let subsystem = match endian {
        Endian::Little => bytes[116..124].try_into().map(u64::from_le_bytes),
        Endian::Big => bytes[116..124].try_into().map(u64::from_be_bytes),
    }
    .unwrap_or(0);
    let mut frames = Vec::new();
    let mut offset = HEADER_BYTES;
    while offset < bytes.len() {
        let Some(tag) = bytes.get(offset..offset + 8) else {
            return Err(truncated(file, "a variable's tag", bytes, offset, 8));
        };
        let (kind, length) = (endian.u32(tag), endian.u32(&tag[4..]) as usize);
        let Some(data) = bytes[offset + 8..].get(..length) else {
            return Err(truncated(file, "a variable", bytes, offset, length.saturating_add(8)));
        };
        let damaged = |what| IoError::Damaged {
            file: file.to_owned(),
            offset,
            what,
        };
        let body = match kind {
            MATRIX => Cow::Borrowed(data),
            COMPRESSED => Cow::Owned(inflate(data, endian).map_err(damaged)?),
            _ => {
                return Err(damaged(format!("an element of type {kind}, where 14 or 15 must stand")));
            }
        };
        if offset as u64 != subsystem {
            frames.push(Frame { offset, body });
        }
        offset += 8 + length;
    }
    Ok(frames)
}

/// The matrix element inside a zlib stream, without its tag.
fn inflate(data: &[u8], endian: Endian) -> Result<Vec<u8>, String> {
    let mut stream = ZlibDecoder::new(data);
    let broken = |error| format!("its compressed data cannot be read: {error}");
    let mut tag = [0; 8];
    stream.read_exact(&mut tag).map_err(broken)?;
    let (kind, length) = (endian.u32(&tag), endian.u32(&tag[4..]));
    if kind != MATRIX {
        return Err(format!("a compressed element of type {kind}, where 14 must stand"));
    }
    let mut body = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut body).map_err(broken)?;
    if body.len() as u64 != u64::from(length) {
        return Err(format!("{length} bytes announced, {} after decompression", body.len()));
    }
    Ok(body)
}

fn truncated(file: &Path, what: &'static str, bytes: &[u8], offset: usize, needed: usize) -> IoError {
    IoError::Truncated {
        file: file.to_owned(),
        what,
        offset,
        needed,
        available: bytes.len() - offset,
    }
}

/// Level 4 has no signature: five integers within narrow bounds and a terminated name.
fn is_level_4(bytes: &[u8]) -> bool {
    let plausible = |endian: Endian| {
        let word = |index: usize| endian.u32(&bytes[4 * index..]);
        let (kind, complex, name_bytes) = (word(0), word(3), word(4) as usize);
        let digits = (kind / 1000, kind / 100 % 10, kind / 10 % 10, kind % 10);
        matches!(digits, (0..=4, 0, 0..=5, 0..=2))
            && complex <= 1
            && (2..=256).contains(&name_bytes)
            && bytes.get(20..20 + name_bytes).is_some_and(|name| {
                let (text, end) = name.split_at(name_bytes - 1);
                end == [0] && text.iter().all(u8::is_ascii_graphic)
            })
    };
    bytes.len() >= 20 && (plausible(Endian::Little) || plausible(Endian::Big))
}

fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "is empty".to_owned();
    }
    format!("starts with `{}`", bytes[..bytes.len().min(16)].escape_ascii())
}
