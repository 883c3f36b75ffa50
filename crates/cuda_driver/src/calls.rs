//! Our own declarations: the functions that return statuses which `cust` may not know, and those that it lacks.
//!
//! They return plain numbers. `cust` declares statuses as a Rust enumeration that ends with CUDA 11.4, where a newer one is
//! undefined behaviour; start-up, module loads, copies, launches and waits are where newer ones appear.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::error::CallError;
use crate::load::Driver;
use crate::trampolines::slots;

/// An address in device memory.
pub type DevicePointer = u64;

macro_rules! handles {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name(pub *mut c_void);

        // SAFETY: the driver's handles may be used from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above; the driver locks what needs it.
        unsafe impl Sync for $name {}

        impl $name {
            /// No object; the driver writes a handle over it.
            pub const NULL: Self = Self(std::ptr::null_mut());
        }
    )* };
}

handles! {
    /// `CUcontext`.
    Context,
    /// `CUmodule`.
    Module,
    /// `CUfunction`.
    Function,
    /// `CUstream`; null is the legacy default stream.
    Stream,
}

/// `CUdevice_attribute`, the ones in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum DeviceAttribute {
    /// Most threads of a block.
    MaxThreadsPerBlock = 1,
    /// Most blocks along x.
    MaxGridX = 5,
    /// Most blocks along y.
    MaxGridY = 6,
    /// Most blocks along z.
    MaxGridZ = 7,
    /// The 8 of compute capability 8.6.
    ComputeCapabilityMajor = 75,
    /// The 6 of compute capability 8.6.
    ComputeCapabilityMinor = 76,
    /// Most shared memory of a block whose kernel asked for more than the default, in bytes.
    MaxSharedMemoryPerBlockOptIn = 97,
}

/// `CUfunction_attribute`, the ones in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum FunctionAttribute {
    /// Most threads of a block, from registers and launch bounds.
    MaxThreadsPerBlock = 0,
    /// Static shared memory, in bytes.
    StaticSharedBytes = 1,
    /// Most dynamic shared memory of a launch, in bytes; may be set.
    MaxDynamicSharedBytes = 8,
}

/// `CUjit_option`, the ones in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum JitOption {
    /// Address of a buffer for the compiler's errors.
    ErrorLogBuffer = 5,
    /// That buffer's size in bytes, passed in place of an address.
    ErrorLogBufferSizeBytes = 6,
}

macro_rules! calls {
    ($($(#[$attribute:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        impl Driver { $(
            $(#[$attribute])*
            ///
            /// # Errors
            ///
            /// The status, where it is not success; possibly that of earlier work which ran asynchronously.
            ///
            /// # Safety
            ///
            /// The driver's documentation of the function says what holds of the arguments.
            #[allow(clippy::too_many_arguments, reason = "the driver's signatures")]
            pub unsafe fn $name(&self, $($argument: $type),*) -> Result<(), CallError> {
                // SAFETY: `self` is proof that the slots are filled, and this is the function's C signature (handles and
                // attributes are transparent or of C's size). A function that an old driver lacks is a stub that takes
                // no notice of arguments.
                let call = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> i32>(slots::$symbol.address())
                };
                // SAFETY: the caller's promise.
                match unsafe { call($($argument),*) } {
                    0 => Ok(()),
                    code => Err(CallError { call: stringify!($symbol), code }),
                }
            }
        )* }
    };
}

calls! {
    /// Starts the driver; `flags` is 0.
    init = cuInit(flags: c_uint);
    /// The CUDA version that the driver supports, 1000 · major + 10 · minor.
    driver_get_version = cuDriverGetVersion(version: *mut c_int);
    /// The name of a status.
    get_error_name = cuGetErrorName(code: c_int, text: *mut *const c_char);
    /// The meaning of a status.
    get_error_string = cuGetErrorString(code: c_int, text: *mut *const c_char);

    /// How many devices there are.
    device_get_count = cuDeviceGetCount(count: *mut c_int);
    /// The device of an ordinal.
    device_get = cuDeviceGet(device: *mut c_int, ordinal: c_int);
    /// A device's name, cut to `length` bytes and ended with NUL.
    device_get_name = cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int);
    /// A number that describes a device.
    device_get_attribute = cuDeviceGetAttribute(value: *mut c_int, attribute: DeviceAttribute, device: c_int);

    /// Takes a share of the device's primary context, the one that other libraries use too.
    device_primary_ctx_retain = cuDevicePrimaryCtxRetain(context: *mut Context, device: c_int);
    /// Gives a share of the device's primary context back.
    device_primary_ctx_release = cuDevicePrimaryCtxRelease_v2(device: c_int);
    /// Makes a context the calling thread's.
    ctx_set_current = cuCtxSetCurrent(context: Context);
    /// Waits for all work of the calling thread's context.
    ctx_synchronize = cuCtxSynchronize();

    /// Loads, and compiles where it is PTX, a module.
    module_load_data_ex = cuModuleLoadDataEx(
        module: *mut Module,
        image: *const c_void,
        n_options: c_uint,
        options: *mut JitOption,
        values: *mut *mut c_void,
    );
    /// Unloads a module.
    module_unload = cuModuleUnload(module: Module);
    /// Finds a kernel by its name.
    module_get_function = cuModuleGetFunction(function: *mut Function, module: Module, name: *const c_char);
    /// A number that describes a kernel.
    func_get_attribute = cuFuncGetAttribute(value: *mut c_int, attribute: FunctionAttribute, function: Function);
    /// Changes what a kernel may use.
    func_set_attribute = cuFuncSetAttribute(function: Function, attribute: FunctionAttribute, value: c_int);
    /// Queues a kernel; `parameters` holds the address of each parameter.
    launch_kernel = cuLaunchKernel(
        function: Function,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Stream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );

    /// Waits for all work of a stream.
    stream_synchronize = cuStreamSynchronize(stream: Stream);
    /// Free and total device memory, in bytes.
    mem_get_info = cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    /// Copies to device memory, after all work queued before.
    memcpy_to_device = cuMemcpyHtoD_v2(target: DevicePointer, source: *const c_void, bytes: usize);
    /// Copies from device memory, after all work queued before.
    memcpy_to_host = cuMemcpyDtoH_v2(target: *mut c_void, source: DevicePointer, bytes: usize);
    /// Copies within device memory, queued on a stream.
    memcpy_on_device = cuMemcpyDtoDAsync_v2(target: DevicePointer, source: DevicePointer, bytes: usize, stream: Stream);
    /// Sets device memory byte by byte, after all work queued before.
    memset = cuMemsetD8_v2(target: DevicePointer, value: u8, bytes: usize);
}
