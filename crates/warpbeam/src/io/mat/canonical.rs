//! A variable's bytes, checked and rewritten in the one form that the decoder reads without surprises.
//!
//! `matrw` takes lengths and dimensions on trust and panics where they lie, reads numbers as little-endian whatever
//! the header says, and knows one of the two encodings of field names and two of the five of text. So each element is
//! walked here first: everything that must fit together is compared, then written again, little-endian, with 8-byte
//! tags, text as UTF-8.

use std::ops::RangeInclusive;

use super::frame::{Endian, HEADER_BYTES};

// Types of elements.
const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT16: u32 = 3;
const UINT16: u32 = 4;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const SINGLE: u32 = 7;
const DOUBLE: u32 = 9;
const INT64: u32 = 12;
const UINT64: u32 = 13;
const MATRIX: u32 = 14;
const UTF8: u32 = 16;
const UTF16: u32 = 17;

// Classes of arrays, and the flags beside them.
const CLASS_CELL: u32 = 1;
const CLASS_STRUCT: u32 = 2;
const CLASS_CHAR: u32 = 4;
const CLASS_SPARSE: u32 = 5;
const CLASS_DOUBLE: u32 = 6;
const CLASS_FUNCTION: u32 = 16;
const CLASS_OPAQUE: u32 = 17;
const NUMERIC: RangeInclusive<u32> = CLASS_DOUBLE..=15;
const LOGICAL: u32 = 0x0200;
const COMPLEX: u32 = 0x0800;

/// Deeper than any structure that a person nests; bounds the recursion.
const MAX_DEPTH: usize = 64;
/// Structures without fields take no room in the file, so that nothing else bounds their number.
const MAX_BARE_STRUCTURES: u32 = 1 << 16;
/// Longest field name that the format allows, with its terminator.
const FIELD_NAME_BYTES: usize = 64;

/// A file of one variable for the decoder.
pub(super) struct Canonical {
    pub(super) file: Vec<u8>,
    /// Values of classes that are not read, an empty matrix in their place: which of the variable's values, counted in
    /// the file's order from the variable itself, and what it is.
    pub(super) set_aside: Vec<(usize, &'static str)>,
}

/// Rewrites a variable; `body` is its matrix element without the tag. Says what contradicts itself.
pub(super) fn rewrite(body: &[u8], endian: Endian) -> Result<Canonical, String> {
    let mut file = Vec::with_capacity(HEADER_BYTES + body.len() + 64);
    // The decoder refuses the header texts of others, SciPy's among them, for a missing comma.
    file.extend(b"MATLAB 5.0 MAT-file, ");
    file.resize(HEADER_BYTES - 12, b' ');
    file.extend(b"\0\0\0\0\0\0\0\0\0\x01IM");
    let canonical = Canonical {
        file,
        set_aside: Vec::new(),
    };
    let mut writer = Writer { canonical, values: 0 };
    writer.matrix(Elements { bytes: body, endian }, 0)?;
    Ok(writer.canonical)
}

/// The elements that follow each other in a stretch of the file.
#[derive(Clone, Copy)]
struct Elements<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Elements<'a> {
    /// The next element's type and data. A tag whose upper half is not zero packs length and up to four bytes.
    fn next(&mut self, what: &str) -> Result<(u32, &'a [u8]), String> {
        let (tag, rest) = self
            .bytes
            .split_at_checked(8)
            .ok_or_else(|| format!("{what} missing"))?;
        let word = self.endian.u32(tag);
        if word >> 16 != 0 {
            let length = (word >> 16) as usize;
            if length > 4 {
                return Err(format!("{what}: {length} bytes packed where 4 fit"));
            }
            self.bytes = rest;
            return Ok((word & 0xffff, &tag[4..4 + length]));
        }
        let length = self.endian.u32(&tag[4..]) as usize;
        let too_short = || format!("{what}: {length} bytes announced, {} follow", rest.len());
        let data = rest.get(..length).ok_or_else(too_short)?;
        self.bytes = &rest[length.next_multiple_of(8).min(rest.len())..];
        Ok((word, data))
    }

    /// The next element's data, which must be of type `kind`.
    fn expect(&mut self, kind: u32, what: &str) -> Result<&'a [u8], String> {
        match self.next(what)? {
            (got, data) if got == kind => Ok(data),
            (got, _) => Err(format!("{what}: an element of type {got}, where {kind} must stand")),
        }
    }

    /// The next element's 32-bit words.
    fn words(&mut self, kind: u32, what: &str) -> Result<Vec<u32>, String> {
        let data = self.expect(kind, what)?;
        Ok(data.chunks_exact(4).map(|word| self.endian.u32(word)).collect())
    }
}

struct Writer {
    canonical: Canonical,
    /// Matrix elements written so far.
    values: usize,
}

impl Writer {
    fn element(&mut self, kind: u32, data: &[u8]) {
        let out = &mut self.canonical.file;
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
    }

    fn words(&mut self, kind: u32, words: &[u32]) {
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.element(kind, &data);
    }

    /// A matrix element whose contents are `body`, with its tag.
    fn matrix(&mut self, mut body: Elements, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        let value = self.values;
        self.values += 1;
        let tag = self.canonical.file.len();
        self.element(MATRIX, &[]);
        let [flags, _] = body.words(UINT32, "array flags")?[..] else {
            return Err("the array flags are not 8 bytes".to_owned());
        };
        let class = flags & 0xff;
        if let Some(kind) = unsupported(class) {
            self.canonical.set_aside.push((value, kind));
            // Objects of MATLAB's own classes have no dimensions.
            if class != CLASS_OPAQUE {
                body.expect(INT32, "dimensions")?;
            }
            self.head(CLASS_DOUBLE, &[0, 0], body.expect(INT8, "name")?)?;
            self.element(UINT8, &[]);
        } else {
            let dimensions = body.words(INT32, "dimensions")?;
            let count = dimensions
                .iter()
                .try_fold(1_u32, |count, &length| count.checked_mul(length));
            let (true, Some(count)) = (dimensions.len() >= 2, count) else {
                return Err(format!("its dimensions are {dimensions:?}"));
            };
            let kept = if NUMERIC.contains(&class) { COMPLEX | LOGICAL } else { 0 };
            let flags = class | flags & kept;
            self.head(flags, &dimensions, body.expect(INT8, "name")?)?;
            self.contents(flags, count, &mut body, depth)?;
        }
        let out = &mut self.canonical.file;
        let length = u32::try_from(out.len() - tag - 8).map_err(|_| "it is longer than 4 GB")?;
        out[tag + 4..tag + 8].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }

    fn head(&mut self, flags: u32, dimensions: &[u32], name: &[u8]) -> Result<(), String> {
        if !name.is_ascii() {
            return Err("its name is not ASCII".to_owned());
        }
        self.words(UINT32, &[flags, 0]);
        self.words(INT32, dimensions);
        self.element(INT8, name);
        Ok(())
    }

    fn contents(&mut self, flags: u32, count: u32, body: &mut Elements, depth: usize) -> Result<(), String> {
        match flags & 0xff {
            CLASS_CELL => self.children(body, u64::from(count), depth),
            CLASS_STRUCT => {
                let fields = self.field_names(body)?;
                if fields == 0 && count > MAX_BARE_STRUCTURES {
                    return Err(format!("it announces {count} structures without fields"));
                }
                self.children(body, u64::from(count) * fields as u64, depth)
            }
            CLASS_CHAR => self.text(body, count),
            _ => {
                self.numbers(body, count, "real part")?;
                if flags & COMPLEX != 0 {
                    self.numbers(body, count, "imaginary part")?;
                }
                Ok(())
            }
        }
    }

    fn children(&mut self, body: &mut Elements, count: u64, depth: usize) -> Result<(), String> {
        for _ in 0..count {
            let bytes = body.expect(MATRIX, "cell or field")?;
            if bytes.is_empty() {
                self.values += 1;
                self.element(MATRIX, &[]);
            } else {
                self.matrix(Elements { bytes, ..*body }, depth + 1)?;
            }
        }
        Ok(())
    }

    fn field_names(&mut self, body: &mut Elements) -> Result<usize, String> {
        let [width] = body.words(INT32, "length of the field names")?[..] else {
            return Err("the length of the field names is not one number".to_owned());
        };
        let names = body.expect(INT8, "field names")?;
        let length = width as usize;
        if !(1..=FIELD_NAME_BYTES).contains(&length) || !names.len().is_multiple_of(length) || !names.is_ascii() {
            return Err(format!("{} bytes of field names, {width} each", names.len()));
        }
        let mut clean = names.to_vec();
        for name in clean.chunks_exact_mut(length) {
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(length);
            name[end..].fill(0);
        }
        // The only place where the decoder wants the packed tag.
        self.canonical.file.extend((4 << 16 | INT32).to_le_bytes());
        self.canonical.file.extend(width.to_le_bytes());
        self.element(INT8, &clean);
        Ok(names.len() / length)
    }

    /// Text: UTF-8 or, from before Unicode, Latin-1; or an element for each 16-bit unit, in which half of a pair of
    /// units is no character by itself and becomes the replacement character.
    fn text(&mut self, body: &mut Elements, count: u32) -> Result<(), String> {
        let (kind, data) = body.next("text")?;
        let text: String = match kind {
            INT8 | UINT8 | UTF8 => match std::str::from_utf8(data) {
                Ok(text) => text.to_owned(),
                Err(_) => data.iter().map(|&byte| char::from(byte)).collect(),
            },
            UINT16 | UTF16 => {
                let unit = |bytes: &[u8]| match body.endian {
                    Endian::Little => u16::from_le_bytes([bytes[0], bytes[1]]),
                    Endian::Big => u16::from_be_bytes([bytes[0], bytes[1]]),
                };
                let units = data.chunks_exact(2).map(|bytes| char::from_u32(unit(bytes).into()));
                units
                    .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            _ => return Err(format!("its text is stored as elements of type {kind}")),
        };
        let characters = text.chars().count();
        if characters != count as usize {
            return Err(format!("its dimensions hold {count} characters, its text {characters}"));
        }
        self.element(UTF8, text.as_bytes());
        Ok(())
    }

    fn numbers(&mut self, body: &mut Elements, count: u32, what: &str) -> Result<(), String> {
        let (kind, data) = body.next(what)?;
        let size = match kind {
            INT8 | UINT8 => 1,
            INT16 | UINT16 => 2,
            INT32 | UINT32 | SINGLE => 4,
            DOUBLE | INT64 | UINT64 => 8,
            _ => return Err(format!("{what}: stored as elements of type {kind}")),
        };
        if data.len() as u64 != u64::from(count) * size as u64 {
            let bytes = data.len();
            return Err(format!(
                "its dimensions hold {count} numbers, its {what} {bytes} bytes, {size} each"
            ));
        }
        let start = self.canonical.file.len() + 8;
        self.element(kind, data);
        if body.endian == Endian::Big {
            let written = &mut self.canonical.file[start..start + data.len()];
            written.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(())
    }
}

/// What a value of a class that is not read is called.
fn unsupported(class: u32) -> Option<&'static str> {
    match class {
        CLASS_CELL | CLASS_STRUCT | CLASS_CHAR => None,
        class if NUMERIC.contains(&class) => None,
        CLASS_SPARSE => Some("a sparse matrix"),
        CLASS_FUNCTION => Some("a function handle"),
        CLASS_OPAQUE => Some("an object of a MATLAB class, as text in double quotes is"),
        _ => Some("an object"),
    }
}
