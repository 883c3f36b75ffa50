//! Why libcuda could not be opened, and what its functions return.

use std::ffi::{CStr, c_char};
use std::fmt;

use crate::load::Driver;

/// libcuda could not be opened.
#[derive(Clone, Debug)]
pub struct LoadError {
    pub(crate) names: &'static [&'static str],
    pub(crate) search_path: Option<String>,
    pub(crate) said: Vec<String>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let search_path = self
            .search_path
            .as_deref()
            .filter(|path| !path.is_empty())
            .unwrap_or("not set");
        write!(
            formatter,
            "the CUDA driver was not found: looked for {} in LD_LIBRARY_PATH ({search_path}) and in the loader's default \
             folders (those of /etc/ld.so.conf, /lib, /usr/lib); the loader says: {}; install NVIDIA's driver, or use \
             the CPU",
            self.names.join(" and "),
            self.said.join("; ")
        )
    }
}

impl std::error::Error for LoadError {}

/// A function of the driver returned something else than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The function.
    pub call: &'static str,
    /// What it returned: a value of `CUresult`, possibly one that is newer than this crate.
    pub code: i32,
}

impl Driver {
    /// The name of a status, such as `CUDA_ERROR_OUT_OF_MEMORY`; `None` where the driver does not know it.
    pub fn error_name(&self, code: i32) -> Option<&'static str> {
        let mut text = std::ptr::null();
        // SAFETY: the driver writes an address of static text to the place that is given.
        unsafe { self.get_error_name(code, &raw mut text) }.ok()?;
        // SAFETY: as above.
        unsafe { static_text(text) }
    }

    /// What a status means, in the driver's words; `None` where the driver does not know it.
    pub fn error_text(&self, code: i32) -> Option<&'static str> {
        let mut text = std::ptr::null();
        // SAFETY: the driver writes an address of static text to the place that is given.
        unsafe { self.get_error_string(code, &raw mut text) }.ok()?;
        // SAFETY: as above.
        unsafe { static_text(text) }
    }
}

/// # Safety
///
/// `text` is null or static text that ends with NUL.
unsafe fn static_text(text: *const c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
