//! From the driver's numbers to errors with names and texts.

use cuda_driver::{CallError, Driver};
use cust::error::{CudaError, CudaResult};

use crate::device::DeviceError;

/// A call's result with name and text of its status.
pub(super) fn checked(driver: &Driver, result: Result<(), CallError>) -> Result<(), DeviceError> {
    result.map_err(|CallError { call, code }| failure(driver, call, code))
}

/// The same for what goes through `cust`.
pub(super) fn checked_cust<T>(driver: &Driver, call: &'static str, result: CudaResult<T>) -> Result<T, DeviceError> {
    result.map_err(|error: CudaError| failure(driver, call, error as i32))
}

/// A failed call.
pub(super) fn failure(driver: &Driver, call: &'static str, code: i32) -> DeviceError {
    DeviceError::Driver {
        call,
        code,
        name: driver.error_name(code).unwrap_or("a status without a name").to_owned(),
        text: driver
            .error_text(code)
            .unwrap_or("this driver has no text for it")
            .to_owned(),
    }
}
