//! What a program sees that calls CUDA where there is no driver, and where there is one.

use cuda_driver::load;

unsafe extern "C" {
    fn cuInit(flags: u32) -> i32;
    fn cuLaunchKernel(
        function: *mut u8,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: *mut u8,
        parameters: *mut *mut u8,
        extra: *mut *mut u8,
    ) -> i32;
}

/// One test, because loading changes the process: first nothing is loaded, then what there is.
#[test]
fn symbols_lead_to_the_driver_once_it_is_loaded() {
    const NO_DEVICE: i32 = 100;
    let null = std::ptr::null_mut;
    // SAFETY: nothing is loaded, so the call reaches a stub that takes no notice of arguments.
    assert_eq!(unsafe { cuInit(0) }, NO_DEVICE);
    // SAFETY: as above; some arguments are passed on the stack.
    let status = unsafe { cuLaunchKernel(null(), 1, 1, 1, 1, 1, 1, 0, null(), null().cast(), null().cast()) };
    assert_eq!(status, NO_DEVICE);

    match load() {
        Ok(driver) => {
            println!("a driver was found");
            let mut version = 0;
            // SAFETY: the driver writes one number.
            unsafe { driver.driver_get_version(&raw mut version) }.unwrap();
            assert!(version >= 9000, "{version}");
            assert_eq!(driver.error_name(2), Some("CUDA_ERROR_OUT_OF_MEMORY"));
            assert_eq!(driver.error_text(2), Some("out of memory"));
            assert_eq!(driver.error_name(-1), None);
        }
        Err(error) => {
            let message = error.to_string();
            println!("{message}");
            let path = std::env::var("LD_LIBRARY_PATH").ok().filter(|path| !path.is_empty());
            for part in [
                "looked for libcuda.so.1 and libcuda.so",
                &format!("in LD_LIBRARY_PATH ({})", path.as_deref().unwrap_or("not set")),
                "/etc/ld.so.conf, /lib, /usr/lib",
                "the loader says: libcuda.so.1: cannot open shared object file",
                "install NVIDIA's driver, or use the CPU",
            ] {
                assert!(message.contains(part), "{part:?} is missing from {message:?}");
            }
            // SAFETY: as above.
            assert_eq!(unsafe { cuInit(0) }, NO_DEVICE);
        }
    }
}
