//! What was measured on this machine, kept from program to program: a line a question in the user's cache folder.
//!
//! The file is `warpbeam/measured.txt` in the folder that `WARPBEAM_CACHE` names, or else in the system's folder for caches.
//! What cannot be read is as if it had not been measured; a broken line is left out.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

const BETWEEN: &str = " = ";

fn file() -> Option<PathBuf> {
    let folder = std::env::var_os("WARPBEAM_CACHE")
        .map(PathBuf::from)
        .or_else(dirs::cache_dir)?;
    Some(folder.join("warpbeam").join("measured.txt"))
}

fn lines() -> Vec<(String, String)> {
    let text = file()
        .and_then(|file| fs::read_to_string(file).ok())
        .unwrap_or_default();
    let pair = |line: &str| {
        line.split_once(BETWEEN)
            .map(|(key, answer)| (key.to_owned(), answer.to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

/// The answer to a question.
pub(crate) fn find(key: &str) -> Option<String> {
    let is_it = |(asked, _): &(String, String)| asked == key;
    lines().into_iter().find(is_it).map(|(_, answer)| answer)
}

/// Keeps an answer, in the place of an older one.
pub(crate) fn keep(key: &str, answer: &str) -> io::Result<()> {
    let file = file().ok_or(io::ErrorKind::NotFound)?;
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(folder)?;
    let mut lines = lines();
    lines.retain(|(asked, _)| asked != key);
    lines.push((key.to_owned(), answer.to_owned()));
    lines.sort();
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    for (key, answer) in lines {
        writeln!(temporary, "{key}{BETWEEN}{answer}")?;
    }
    temporary.persist(file)?;
    Ok(())
}
