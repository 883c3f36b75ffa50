//! Files that are complete or absent: written under a temporary name in the same folder, then renamed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::IoError;

/// Writes a file through `write` and gives it its name only when everything is on disk.
///
/// A reader of `file` sees the old contents or the new ones, never a part; after an error the old ones stand and the
/// temporary file is gone. The folder must exist.
///
/// # Errors
///
/// [`IoError::Write`] with what the operating system or `write` said.
pub fn atomic_write(
    file: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<(), IoError> {
    let file = file.as_ref();
    replace(file, write).map_err(|source| IoError::Write {
        file: file.to_owned(),
        source,
    })
}

fn replace(file: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partial-");
    // A temporary file is private by default and would stay so under its new name.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let partial = builder.tempfile_in(folder)?;

    let mut writer = BufWriter::new(partial.as_file());
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    partial.as_file().sync_all()?;
    partial.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_what_was_there_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        atomic_write(&file, |out| out.write_all(b"first, and longer")).unwrap();
        atomic_write(&file, |out| out.write_all(b"second")).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "old").unwrap();
        let error = atomic_write(&file, |out| {
            out.write_all(b"half of it")?;
            Err(io::Error::other("out of ink"))
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot write `{}`: out of ink", file.display())
        );
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("missing").join("a.txt");
        let error = atomic_write(&file, |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("cannot write `"), "{error}");
        assert!(matches!(error, IoError::Write { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_as_they_may_read_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        atomic_write(&ours, |_| Ok(())).unwrap();
        std::fs::write(&plain, "").unwrap();
        let mode = |file| std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
