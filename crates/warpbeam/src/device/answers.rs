//! What was measured on this machine, kept from program to program: a line a question in the user's cache folder.
//!
//! The file is `warpbeam/measured.txt` in the folder that `WARPBEAM_CACHE` names, or else in the system's folder for caches.
//! What cannot be read is as if it had not been measured; a broken line is left out.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const BETWEEN: &str = " = ";

fn file() -> Option<PathBuf> {
    let folder = std::env::var_os("WARPBEAM_CACHE")
        .map(PathBuf::from)
        .or_else(dirs::cache_dir)?;
    Some(folder.join("warpbeam").join("measured.txt"))
}

fn lines(file: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let pair = |line: &str| {
        line.split_once(BETWEEN)
            .map(|(key, answer)| (key.to_owned(), answer.to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

/// The answer to a question.
pub(crate) fn find(key: &str) -> Option<String> {
    find_in(&file()?, key)
}

fn find_in(file: &Path, key: &str) -> Option<String> {
    let is_it = |(asked, _): &(String, String)| asked == key;
    lines(file).into_iter().find(is_it).map(|(_, answer)| answer)
}

/// Keeps an answer, in the place of an older one.
pub(crate) fn keep(key: &str, answer: &str) -> io::Result<()> {
    keep_in(&file().ok_or(io::ErrorKind::NotFound)?, key, answer)
}

fn keep_in(file: &Path, key: &str, answer: &str) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(folder)?;
    let mut lines = lines(file);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper").join("measured.txt");
        assert_eq!(find_in(&file, "a"), None);
        keep_in(&file, "b x = y", "no").unwrap();
        keep_in(&file, "a", "one").unwrap();
        keep_in(&file, "c", "three").unwrap();
        keep_in(&file, "a", "two").unwrap();
        assert_eq!(find_in(&file, "a").as_deref(), Some("two"));
        assert_eq!(find_in(&file, "c").as_deref(), Some("three"));
        assert_eq!(lines(&file).len(), 3);
    }

    #[test]
    fn a_broken_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("measured.txt");
        fs::write(&file, b"no answer here\n\xff\xfe").unwrap();
        assert_eq!(find_in(&file, "no"), None);
        keep_in(&file, "a", "one").unwrap();
        assert_eq!(find_in(&file, "a").as_deref(), Some("one"));
    }
}
