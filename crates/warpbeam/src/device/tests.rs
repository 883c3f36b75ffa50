//! Tensors and backends on the CPU.

use ndarray::{Array, Array4, ArrayD, Axis, IxDyn, ShapeBuilder, s};
use num_complex::Complex;

use super::{Backend, DeviceError, Tensor};
use crate::Error;

fn counted(shape: [usize; 4]) -> Array4<f32> {
    let count = shape.iter().product::<usize>();
    Array::from_iter((0..count).map(|value| value as f32))
        .into_shape_with_order(shape)
        .unwrap()
}

/// Arrays in every order and with every degenerate axis.
fn arrays() -> Vec<(&'static str, ArrayD<f32>)> {
    let base = counted([2, 3, 4, 5]);
    let mut fortran = Array4::zeros((2, 3, 4, 5).f());
    fortran.assign(&base);
    vec![
        ("contiguous", base.clone().into_dyn()),
        ("Fortran order", fortran.into_dyn()),
        ("size-1 axes", counted([1, 3, 1, 1]).into_dyn()),
        ("every axis of size 1", counted([1, 1, 1, 1]).into_dyn()),
        ("no axis", Array::from_elem(IxDyn(&[]), 7.0)),
        ("empty first axis", counted([0, 3, 4, 5]).into_dyn()),
        ("empty last axis", counted([2, 3, 4, 0]).into_dyn()),
    ]
}

#[test]
fn arrays_come_back() {
    for (name, array) in arrays() {
        let tensor = Tensor::from_array(&Backend::cpu(), &array).unwrap();
        assert_eq!(tensor.to_array().unwrap(), array, "{name}");
        assert!(tensor.is_contiguous(), "{name}");
        assert_eq!(
            (tensor.len(), tensor.is_empty()),
            (array.len(), array.is_empty()),
            "{name}"
        );
    }
    let base = counted([2, 3, 4, 5]);
    let row = counted([1, 1, 1, 5]);
    for (name, view) in [
        ("transposed", base.t()),
        ("sliced by 2", base.slice(s![.., ..;2, .., ..;2])),
        ("negative strides", base.slice(s![..;-1, .., .., ..;-1])),
        ("broadcast", row.broadcast((2, 3, 4, 5)).unwrap()),
    ] {
        let tensor = Tensor::from_array(&Backend::cpu(), &view).unwrap();
        assert_eq!(tensor.to_array().unwrap(), view.to_owned().into_dyn(), "{name}");
        assert!(tensor.is_contiguous(), "{name}");

        let mut out = Array4::from_elem((view.dim()).f(), f32::NAN);
        tensor.copy_to_array(&mut out).unwrap();
        assert_eq!(out, view, "{name}, into Fortran order");
        let mut again = Tensor::<f32>::zeros(&Backend::cpu(), view.shape()).unwrap();
        again.copy_from_array(&view).unwrap();
        assert_eq!(again.to_array().unwrap(), tensor.to_array().unwrap(), "{name}");
    }
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
fn shapes_must_agree() {
    let mut tensor = Tensor::<i16>::zeros(&Backend::cpu(), &[2, 3]).unwrap();
    let error = tensor.copy_from_array(&Array::from_elem((3, 2), 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the array to copy from has shape [3, 2]; expected [2, 3]"
    );
    let error = tensor.copy_to_array(&mut Array::from_elem(6, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the array to copy to has shape [6]; expected [2, 3]");
}

#[test]
fn too_much_memory_is_an_error_and_the_backend_goes_on() {
    let backend = Backend::cpu();
    let error = Tensor::<f32>::zeros(&backend, &[1 << 48]).unwrap_err();
    let Error::OutOfMemory {
        needed_bytes,
        available_bytes,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(needed_bytes, 1 << 50);
    let expected = match available_bytes {
        Some(bytes) => format!("a tensor needs 1125899906842624 bytes; {bytes} bytes are available"),
        None => "a tensor needs 1125899906842624 bytes; that much is not available".to_owned(),
    };
    assert_eq!(error.to_string(), expected);

    // Broadcast in, dense on the backend: the array is one element, the tensor a petabyte.
    let one = ndarray::arr0(1.0_f32);
    let error = Tensor::from_array(&backend, &one.broadcast(1 << 48).unwrap()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OutOfMemory {
                needed_bytes: 0x4_0000_0000_0000,
                ..
            }
        ),
        "{error}"
    );

    let error = Tensor::<f32>::zeros(&backend, &[1 << 62, 4]).unwrap_err();
    assert!(
        matches!(error, Error::Device(DeviceError::TooManyElements { .. })),
        "{error}"
    );

    let values = Tensor::<f32>::zeros(&backend, &[3]).unwrap().to_array().unwrap();
    assert_eq!(values, Array::zeros(3).into_dyn());
}

#[test]
fn events_of_a_cpu_stream_measure_time() {
    let stream = Backend::cpu().stream().unwrap();
    let start = stream.record().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let end = stream.record().unwrap();
    stream.synchronize().unwrap();
    end.synchronize().unwrap();
    assert!(end.elapsed_since(&start).unwrap().as_millis() >= 5);
    assert_eq!(start.elapsed_since(&end).unwrap(), std::time::Duration::ZERO);
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
fn an_axis_keeps_its_place() {
    let mut array = counted([3, 4, 5, 2]);
    array.swap_axes(0, 2);
    let tensor = Tensor::from_array(&Backend::cpu(), &array).unwrap();
    let out = tensor.to_array().unwrap();
    assert_eq!(tensor.shape(), [5, 4, 3, 2]);
    assert_eq!(out.index_axis(Axis(0), 4), array.index_axis(Axis(0), 4).into_dyn());
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
