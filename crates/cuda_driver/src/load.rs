//! Opening libcuda.

use std::error::Error;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::error::LoadError;
use crate::trampolines;

/// What libcuda is called; the second name is that of development packages.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The loaded driver: proof that the symbols lead somewhere.
#[derive(Debug)]
pub struct Driver {
    /// Never closed: a static holds the driver.
    _library: Library,
}

/// Opens libcuda, once a process, and connects `cust`'s symbols to it.
///
/// # Errors
///
/// [`LoadError`] says what was looked for and where.
pub fn load() -> Result<&'static Driver, LoadError> {
    static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    DRIVER.get_or_init(open).as_ref().map_err(Clone::clone)
}

fn open() -> Result<Driver, LoadError> {
    let mut said = Vec::new();
    for name in NAMES {
        // SAFETY: libcuda's initialisers set up its own state only; every CUDA program runs them at its start.
        match unsafe { Library::new(name) } {
            Ok(library) => {
                // SAFETY: the addresses are libcuda's, and the library is never closed.
                unsafe { trampolines::fill(|symbol| address(&library, symbol)) };
                return Ok(Driver { _library: library });
            }
            Err(error) => said.push(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
        }
    }
    Err(LoadError {
        names: &NAMES,
        search_path: std::env::var("LD_LIBRARY_PATH").ok(),
        said,
    })
}

fn address(library: &Library, symbol: &CStr) -> Option<*mut c_void> {
    // SAFETY: the symbol is read as an address and not used here.
    unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) }
        .ok()
        .map(|address| *address)
}
