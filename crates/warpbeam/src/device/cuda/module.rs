//! The kernels' PTX: which one a device gets, loading it, and the kernels in it.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::io::Read;
use std::sync::PoisonError;

use flate2::read::ZlibDecoder;

use cuda_driver::{CallError, Driver, Function, FunctionAttribute, JitOption, Module};

use super::Cuda;
use super::failure::{checked, failure};
use crate::device::DeviceError;

/// `CUDA_ERROR_INVALID_PTX`: what drivers before CUDA 11.1 call PTX that is too new.
const INVALID_PTX: i32 = 218;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
const UNSUPPORTED_PTX_VERSION: i32 = 222;
/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: i32 = 500;
/// Dynamic shared memory that any kernel may have, in bytes; for more it has to ask.
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

/// PTX and the architecture that it is for.
#[derive(Clone, Copy)]
pub(super) struct Image {
    pub(super) target: &'static str,
    capability: (u32, u32),
    /// Whether it runs on devices of that capability alone, beside the PTX that others run.
    is_exclusive: bool,
    compressed: &'static [u8],
}

impl Image {
    /// The PTX.
    pub(super) fn ptx(self) -> String {
        let mut ptx = String::new();
        // What the build compressed is whole, and was text; without it no kernel is found, which is said by name.
        let _ = ZlibDecoder::new(self.compressed).read_to_string(&mut ptx);
        ptx
    }
}

/// What is compiled in, newest first. PTX runs on its architecture and, unless it is exclusive, on every later one.
pub(super) const IMAGES: [Image; 3] = [
    Image {
        target: "sm_90a",
        capability: (9, 0),
        is_exclusive: true,
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/sm_90a.ptx.zlib")),
    },
    Image {
        target: "sm_80",
        capability: (8, 0),
        is_exclusive: false,
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/sm_80.ptx.zlib")),
    },
    Image {
        target: "sm_70",
        capability: MINIMUM_CAPABILITY,
        is_exclusive: false,
        compressed: include_bytes!(concat!(env!("OUT_DIR"), "/sm_70.ptx.zlib")),
    },
];

/// The oldest devices that there is PTX for: Volta.
const MINIMUM_CAPABILITY: (u32, u32) = (7, 0);

/// The kernels of one device, each compiled when it is first asked for.
pub(super) struct Kernels {
    images: Vec<(Image, Option<String>)>,
    functions: HashMap<&'static str, LoadedKernel>,
}

#[derive(Clone, Copy)]
struct LoadedKernel {
    function: Function,
    /// Dynamic shared memory that the kernel has asked for so far.
    shared_bytes: u32,
}

impl Kernels {
    /// The newest PTX that a device of this compute capability runs, and before it what is for such devices alone.
    pub(super) fn for_device(name: &str, capability: (u32, u32)) -> Result<Self, DeviceError> {
        let exclusive = IMAGES
            .iter()
            .filter(|image| image.is_exclusive && image.capability == capability);
        let newest = IMAGES
            .iter()
            .find(|image| !image.is_exclusive && image.capability <= capability);
        let newest = newest.ok_or_else(|| DeviceError::DeviceTooOld {
            device: name.to_owned(),
            capability,
            minimum: MINIMUM_CAPABILITY,
        })?;
        Ok(Self {
            images: exclusive.chain([newest]).map(|image| (*image, None)).collect(),
            functions: HashMap::new(),
        })
    }

    /// The PTX of a kernel, and what it is for.
    fn find(&mut self, name: &str) -> Option<(String, &'static str)> {
        self.images.iter_mut().find_map(|(image, ptx)| {
            let ptx = ptx.get_or_insert_with(|| image.ptx());
            Some((alone(ptx, name)?, image.target))
        })
    }

    /// A kernel that was not asked for before, in the current context.
    fn load(&mut self, driver: &Driver, name: &'static str) -> Result<LoadedKernel, DeviceError> {
        let target = self.images.last().map_or("", |(image, _)| image.target);
        let (ptx, target) = self.find(name).ok_or(DeviceError::UnknownKernel { name, target })?;
        let function = find(driver, load(driver, &ptx)?, name, target)?;
        Ok(LoadedKernel {
            function,
            shared_bytes: DEFAULT_SHARED_BYTES,
        })
    }
}

impl Cuda {
    /// Whether the device's PTX has a kernel.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.functions.contains_key(name) || kernels.find(name).is_some()
    }

    /// The CUDA version that the driver supports, such as `13.0`; empty if it does not say.
    pub(crate) fn driver_version(&self) -> String {
        cuda_version(self.driver).unwrap_or_default()
    }

    /// A kernel by its name, allowed to use as much dynamic shared memory.
    ///
    /// The first call compiles the kernel, which the driver remembers on disk; later ones look the name up.
    pub(super) fn function(&self, name: &'static str, shared_bytes: u32) -> Result<Function, DeviceError> {
        self.enter()?;
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kernel = match kernels.functions.get(name) {
            Some(&kernel) => kernel,
            None => kernels.load(self.driver, name)?,
        };
        if shared_bytes > kernel.shared_bytes {
            let (attribute, value) = (FunctionAttribute::MaxDynamicSharedBytes, shared_bytes as i32);
            // SAFETY: the function is of a module that stays loaded.
            self.checked(unsafe { self.driver.func_set_attribute(kernel.function, attribute, value) })?;
            kernel.shared_bytes = shared_bytes;
        }
        kernels.functions.insert(name, kernel);
        Ok(kernel.function)
    }
}

/// The PTX of one kernel: the head, which all share, and its own lines. A plan uses a few of hundreds.
fn alone(ptx: &str, name: &str) -> Option<String> {
    const ENTRY: &str = ".visible .entry ";
    let (head, rest) = ptx.split_at(ptx.find(ENTRY)?);
    let is_it = |entry: &&str| {
        let rest = entry.strip_prefix(ENTRY).and_then(|entry| entry.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    let mut starts = rest.match_indices(ENTRY).map(|(start, _)| start).peekable();
    while let Some(start) = starts.next() {
        let entry = &rest[start..starts.peek().copied().unwrap_or(rest.len())];
        if is_it(&entry) {
            return Some([head, entry].concat());
        }
    }
    None
}

/// Compiles PTX in the current context, for good.
pub(super) fn load(driver: &Driver, ptx: &str) -> Result<Module, DeviceError> {
    let mut log = vec![0_u8; 16 * 1024];
    let image = CString::new(ptx).map_err(|error| DeviceError::ModuleLoad {
        code: INVALID_PTX,
        name: "no PTX".to_owned(),
        text: error.to_string(),
        log: String::new(),
    })?;
    let mut module = Module::NULL;
    let mut options = [JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferSizeBytes];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(log.len() - 1),
    ];
    // SAFETY: the image ends with NUL; there are two options and two values; the log is written up to the size given,
    // which leaves its last NUL alone, and only during the call.
    let result = unsafe {
        driver.module_load_data_ex(
            &raw mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let Err(CallError { call, code }) = result else {
        return Ok(module);
    };
    let length = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let log = String::from_utf8_lossy(&log[..length]).trim().to_owned();
    if code == UNSUPPORTED_PTX_VERSION || (code == INVALID_PTX && log.contains("Unsupported .version")) {
        return Err(DeviceError::PtxTooNew {
            ptx_version: ptx_version(ptx).unwrap_or("of an unknown version").to_owned(),
            driver_cuda_version: cuda_version(driver)?,
            log,
        });
    }
    Err(match failure(driver, call, code) {
        DeviceError::Driver { code, name, text, .. } => DeviceError::ModuleLoad { code, name, text, log },
        other => other,
    })
}

/// The kernel `name` of a module for `target`.
pub(super) fn find(
    driver: &Driver,
    module: Module,
    name: &'static str,
    target: &'static str,
) -> Result<Function, DeviceError> {
    let unknown = || DeviceError::UnknownKernel { name, target };
    let symbol = CString::new(name).map_err(|_| unknown())?;
    let mut function = Function::NULL;
    // SAFETY: the module is loaded, the name ends with NUL, and the driver writes one handle.
    match unsafe { driver.module_get_function(&raw mut function, module, symbol.as_ptr()) } {
        Err(CallError { code: NOT_FOUND, .. }) => Err(unknown()),
        result => checked(driver, result).map(|()| function),
    }
}

/// The version in PTX's first directive.
fn ptx_version(ptx: &str) -> Option<&str> {
    ptx.lines()
        .find_map(|line| line.trim().strip_prefix(".version "))
        .map(str::trim)
}

/// The CUDA version that the driver supports, such as `13.0`.
fn cuda_version(driver: &Driver) -> Result<String, DeviceError> {
    let mut version = 0;
    // SAFETY: the driver writes one number.
    checked(driver, unsafe { driver.driver_get_version(&raw mut version) })?;
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_the_newest_ptx_that_it_runs() {
        let targets = |capability| -> Vec<_> {
            let kernels = Kernels::for_device("", capability).unwrap();
            kernels.images.iter().map(|(image, _)| image.target).collect()
        };
        assert_eq!(targets((7, 0)), ["sm_70"]);
        assert_eq!(targets((7, 5)), ["sm_70"]);
        assert_eq!(targets((8, 0)), ["sm_80"]);
        assert_eq!(targets((9, 0)), ["sm_90a", "sm_80"]);
        assert_eq!(targets((12, 1)), ["sm_80"]);
        let error = Kernels::for_device("Tesla P40", (6, 1)).err().unwrap();
        assert_eq!(
            error.to_string(),
            "Tesla P40 has compute capability 6.1; the kernels need 7.0 or newer"
        );
    }

    #[test]
    fn every_kernel_stands_alone() {
        for image in IMAGES {
            let whole = image.ptx();
            let names: Vec<_> = whole.split(".visible .entry ").skip(1).collect();
            let least = if image.is_exclusive { 1 } else { 100 };
            assert!(names.len() > least, "{} kernels", names.len());
            for name in names.iter().filter_map(|entry| entry.split('(').next()) {
                let ptx = alone(&whole, name).unwrap();
                assert_eq!(ptx.matches(".visible .entry ").count(), 1);
                assert!(ptx.contains(&format!(".visible .entry {name}(")));
                assert!(ptx.starts_with(&whole[..100]) && ptx.matches('{').count() == ptx.matches('}').count());
            }
            assert_eq!(alone(&whole, "nothing"), None);
            assert_eq!(alone(&whole, "das"), None);
        }
    }

    #[test]
    fn the_ptx_is_for_the_target_that_it_is_chosen_for() {
        for image in IMAGES {
            let ptx = image.ptx();
            assert!(ptx_version(&ptx).is_some(), "{}", image.target);
            assert!(
                ptx.lines()
                    .any(|line| line.trim() == format!(".target {}", image.target)),
                "{}",
                image.target
            );
        }
        assert_eq!(ptx_version("// head\n.version 7.0\n.target sm_80\n"), Some("7.0"));
    }
}
