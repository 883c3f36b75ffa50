//! Host memory: how much there is, and allocations that fail with an error instead of ending the process.

use super::Element;
use crate::{Error, Result};

/// Less than this is asked for without a look at what there is, which takes longer than a small array.
const SMALL_BYTES: u64 = 1 << 20;

/// Memory that new work can use without swapping, in bytes, where the system tells.
pub(super) fn available_bytes() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// `length` zeros.
///
/// The size is held against the available memory first: Linux grants more than there is, and ends the process when the
/// pages are touched. The pages come zeroed from the system and are not touched here.
pub(crate) fn zeroed<T: Element>(length: usize, what: &'static str) -> Result<Vec<T>> {
    let needed_bytes = bytes::<T>(length);
    let available_bytes = if needed_bytes < SMALL_BYTES {
        None
    } else {
        available_bytes()
    };
    let out_of_memory = || Error::OutOfMemory {
        what,
        needed_bytes,
        available_bytes,
    };
    if available_bytes.is_some_and(|available| needed_bytes > available) {
        return Err(out_of_memory());
    }
    bytemuck::allocation::try_zeroed_vec(length).map_err(|()| out_of_memory())
}

/// Size of `length` elements; as large as can be said where it is larger.
pub(super) fn bytes<T>(length: usize) -> u64 {
    (length as u64).saturating_mul(size_of::<T>() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_available_memory() {
        let text = "MemTotal:       24592532 kB\nMemFree:  22 kB\nMemAvailable:   23014712 kB\nBuffers: 1 kB\n";
        assert_eq!(available_in(text), Some(23_014_712 * 1024));
        assert_eq!(available_in("MemTotal: 5 kB\n"), None);
        assert_eq!(available_in("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let error = zeroed::<f64>(1 << 60, "the image").unwrap_err();
        let Error::OutOfMemory {
            what: "the image",
            needed_bytes,
            available_bytes,
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(needed_bytes, 1 << 63);
        assert_eq!(available_bytes.is_some(), cfg!(target_os = "linux"));
        assert_eq!(zeroed::<f64>(3, "the image").unwrap(), [0.0; 3]);
    }
}
