//! Real data that lie beside the workspace.

use std::path::{Path, PathBuf};

/// A data file, if it is there: in the folder that `WARPBEAM_TEST_DATA` names, or in `shared/data` beside the
/// workspace. Says so where it is not.
pub fn find(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folders = std::env::var_os("WARPBEAM_TEST_DATA")
        .map(PathBuf::from)
        .into_iter()
        .chain([beside]);
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no {name} in the folder that WARPBEAM_TEST_DATA names or in ../shared/data");
    }
    found
}
