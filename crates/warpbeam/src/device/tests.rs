//! Memory of others, and what is missing where there is no GPU; the rest is tested from outside, on every backend.

use ndarray::{Array, Array4, s};
use num_complex::Complex;

use super::{Backend, DeviceError, Tensor};
use crate::Error;

fn counted(shape: [usize; 4]) -> Array4<f32> {
    let count = shape.iter().product::<usize>();
    Array::from_iter((0..count).map(|value| value as f32))
        .into_shape_with_order(shape)
        .unwrap()
}

#[test]
fn borrowed_memory_keeps_its_strides() {
    let base = counted([2, 3, 4, 5]);
    let row = counted([1, 1, 1, 5]);
    for (name, view) in [
        ("contiguous", base.view()),
        ("transposed", base.t()),
        ("sliced by 2", base.slice(s![.., ..;2, .., ..;2])),
        ("negative strides", base.slice(s![..;-1, .., .., ..;-1])),
        (
            "reversed and transposed",
            base.slice(s![.., ..;-2, .., ..]).reversed_axes(),
        ),
        ("broadcast", row.broadcast((2, 3, 4, 5)).unwrap()),
        ("empty", base.slice(s![.., ..0, .., ..])),
    ] {
        // SAFETY: the arrays outlive the tensor, and nobody writes them.
        let tensor = unsafe {
            Tensor::from_raw_parts(
                &Backend::cpu(),
                view.as_ptr().cast_mut(),
                view.shape(),
                view.strides(),
                (),
            )
        }
        .unwrap();
        assert_eq!(tensor.to_array().unwrap(), view.to_owned().into_dyn(), "{name}");
        assert_eq!(tensor.is_contiguous(), view.is_standard_layout(), "{name}");
        assert_eq!(tensor.strides(), view.strides(), "{name}");
    }
}

#[test]
fn borrowed_memory_is_written_and_its_owner_kept() {
    let owner = std::sync::Arc::new(());
    let mut memory = [-1; 6];
    // SAFETY: the array outlives the tensor, and nobody else touches it meanwhile.
    let mut tensor =
        unsafe { Tensor::from_raw_parts(&Backend::cpu(), memory.as_mut_ptr(), &[2, 3], &[3, 1], owner.clone()) }
            .unwrap();
    let values = Array::from_shape_fn((2, 3), |(row, column)| (row * 3 + column) as i32);
    tensor.copy_from_array(&values).unwrap();
    assert_eq!(std::sync::Arc::strong_count(&owner), 2);
    drop(tensor);
    assert_eq!(std::sync::Arc::strong_count(&owner), 1);
    assert_eq!(memory, [0, 1, 2, 3, 4, 5]);
}

fn borrow<T: super::Element>(pointer: *mut T, shape: &[usize], strides: &[isize]) -> Result<Tensor<T>, Error> {
    // SAFETY: the tensors of the tests below are refused, or dropped unread.
    unsafe { Tensor::from_raw_parts(&Backend::cpu(), pointer, shape, strides, ()) }
}

#[test]
fn bad_memory_is_refused() {
    let at = |address| std::ptr::without_provenance_mut::<f32>(address);
    for (error, message) in [
        (
            borrow(at(4098), &[2], &[1]).unwrap_err(),
            "address 0x1002 is not a multiple of 4; kernels load whole elements of 4 bytes",
        ),
        (
            borrow(at(4096), &[2, 3], &[1]).unwrap_err(),
            "2 axes have 1 strides: shape [2, 3], strides [1]; every axis needs one",
        ),
        (
            borrow(at(0), &[2], &[1]).unwrap_err(),
            "shape [2] with strides [1] (in elements) from address 0x0 leaves the address space",
        ),
        (
            borrow(at(4096), &[1025], &[-1]).unwrap_err(),
            "shape [1025] with strides [-1] (in elements) from address 0x1000 leaves the address space",
        ),
        (
            borrow(at(4096), &[3], &[isize::MAX]).unwrap_err(),
            "shape [3] with strides [9223372036854775807] (in elements) from address 0x1000 leaves the address space",
        ),
        (
            borrow(at(4096), &[1 << 40, 1 << 40], &[1, 1]).unwrap_err(),
            "a tensor of shape [1099511627776, 1099511627776] has more elements than memory has addresses",
        ),
    ] {
        assert_eq!(error.to_string(), message);
    }
    // Complex numbers are loaded as one: an address that suits their parts is not enough.
    let error = borrow(std::ptr::without_provenance_mut::<Complex<f32>>(4100), &[1], &[1]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Device(DeviceError::Misaligned {
                address: 4100,
                alignment: 8
            })
        ),
        "{error}"
    );
    // Nothing lies at the address of an empty tensor.
    assert!(borrow(at(0), &[3, 0], &[7, 1]).is_ok());
}

#[test]
fn writes_need_contiguous_memory() {
    let mut memory = [0.0_f32; 8];
    let mut tensor = borrow(memory.as_mut_ptr(), &[4], &[2]).unwrap();
    let error = tensor.copy_from_array(&Array::from_elem(4, 1.0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tensor to copy to of shape [4] has strides [2]; it must be contiguous in row-major order \
         (make a contiguous copy first)"
    );
}

#[test]
fn the_cpu_has_a_name_and_memory() {
    let backend = Backend::cpu();
    assert_eq!(
        backend.name(),
        format!("CPU ({} threads)", rayon::current_num_threads())
    );
    assert!(!backend.is_cuda());
    assert_eq!(backend.available_memory_bytes().is_some(), cfg!(target_os = "linux"));
}

#[test]
fn handles_move_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Backend>();
    shared::<super::Stream>();
    shared::<super::Event>();
    shared::<Tensor<Complex<half::f16>>>();
    shared::<Error>();
}

#[test]
fn a_missing_gpu_is_an_error_that_says_what_is_missing() {
    let error = match Backend::cuda(0) {
        Ok(backend) => {
            println!("nothing is missing: there is {}", backend.name());
            assert!(backend.is_cuda());
            assert_eq!(Backend::best(), backend);
            return;
        }
        Err(error) => error,
    };
    println!("{error}");
    assert_eq!(Backend::best(), Backend::cpu());
    let message = error.to_string();
    let parts: &[&str] = match error {
        #[cfg(feature = "cuda")]
        Error::Device(DeviceError::DriverNotFound(_)) => &[
            "the CUDA driver was not found",
            "looked for libcuda.so.1 and libcuda.so",
            "LD_LIBRARY_PATH",
            "/etc/ld.so.conf, /lib, /usr/lib",
            "the loader says: libcuda.so.1: ",
            "install NVIDIA's driver, or use the CPU",
        ],
        #[cfg(feature = "cuda")]
        Error::Device(DeviceError::NoSuchDevice { .. }) => &["there is no CUDA device 0"],
        #[cfg(feature = "cuda")]
        Error::Device(DeviceError::Driver { .. }) => &["cuInit failed with CUDA_ERROR_"],
        #[cfg(not(feature = "cuda"))]
        Error::Device(DeviceError::BuiltWithoutCuda) => &[
            "warpbeam was built without the cargo feature \"cuda\"",
            "build with `--features cuda`",
        ],
        other => panic!("{other:?}"),
    };
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing from {message:?}");
    }
}
