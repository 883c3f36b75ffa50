//! Tensors, streams and errors of every backend, seen from outside the library.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use half::f16;
use integration_tests::{backends, on_every_backend};
use ndarray::{Array, Array1, Array4, ArrayD, ArrayViewD, IxDyn, ShapeBuilder, s};
use num_complex::Complex;
use warpbeam::{Backend, DeviceError, DeviceRates, Element, Error, Tensor};

/// One test after the other: some watch or fill a device's memory.
fn alone() -> MutexGuard<'static, ()> {
    static DEVICE: Mutex<()> = Mutex::new(());
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every layout that a user hands over, as a view into `base` (2, 3, 4, 5), `row` (1, 1, 1, 5) or `fortran` (2, 3, 4, 5).
fn views<'a, T>(
    base: &'a Array4<T>,
    row: &'a Array4<T>,
    fortran: &'a Array4<T>,
) -> Vec<(&'static str, ArrayViewD<'a, T>)> {
    vec![
        ("contiguous", base.view().into_dyn()),
        ("transposed", base.t().into_dyn()),
        ("two axes swapped", base.view().permuted_axes([0, 2, 1, 3]).into_dyn()),
        ("sliced by 2", base.slice(s![.., ..;2, .., ..;2]).into_dyn()),
        ("negative strides", base.slice(s![..;-1, .., .., ..;-1]).into_dyn()),
        (
            "sliced by −2 and transposed",
            base.slice(s![.., ..;-2, .., ..]).reversed_axes().into_dyn(),
        ),
        (
            "broadcast",
            row.broadcast((2, 3, 4, 5)).expect("the last axes agree").into_dyn(),
        ),
        ("Fortran order", fortran.view().into_dyn()),
        ("a last axis of size 1", base.slice(s![.., .., .., 2..3]).into_dyn()),
        (
            "every axis of size 1",
            base.slice(s![1..2, 2..3, 3..4, 4..5]).into_dyn(),
        ),
        ("no axis", base.slice(s![1, 2, 3, 4]).into_dyn()),
        ("an empty first axis", base.slice(s![..0, .., .., ..]).into_dyn()),
        ("an empty last axis", base.slice(s![.., .., .., ..0]).into_dyn()),
    ]
}

/// In, out, and into existing arrays and tensors of the other order: the values stay.
fn round_trips<T: Element + PartialEq + std::fmt::Debug>(backend: &Backend, value: impl Fn(i16) -> T) {
    let _alone = alone();
    let count = |shape: [usize; 4]| {
        let total = shape.iter().product::<usize>() as i16;
        Array::from_iter((0..total).map(&value))
            .into_shape_with_order(shape)
            .expect("as many as the shape says")
    };
    let (base, row) = (count([2, 3, 4, 5]), count([1, 1, 1, 5]));
    let mut fortran = Array4::from_elem((2, 3, 4, 5).f(), value(-1));
    fortran.assign(&base);
    for (name, view) in views(&base, &row, &fortran) {
        let tensor = Tensor::from_array(backend, &view).unwrap();
        assert_eq!(tensor.shape(), view.shape(), "{name}");
        assert_eq!(tensor.backend(), backend, "{name}");
        assert_eq!(
            (tensor.len(), tensor.is_empty()),
            (view.len(), view.is_empty()),
            "{name}"
        );
        assert!(tensor.is_contiguous(), "{name}");
        assert_eq!(tensor.to_array().unwrap(), view, "{name}");

        let mut out = ArrayD::from_elem(IxDyn(view.shape()).f(), value(-1));
        tensor.copy_to_array(&mut out).unwrap();
        assert_eq!(out, view, "{name}, into Fortran order");

        let mut again = Tensor::<T>::zeros(backend, view.shape()).unwrap();
        let zeros = ArrayD::from_elem(IxDyn(view.shape()), T::zeroed());
        assert_eq!(again.to_array().unwrap(), zeros, "{name}");
        again.copy_from_array(&view).unwrap();
        assert_eq!(again.to_array().unwrap(), view, "{name}");
    }
}

fn shapes_must_agree(backend: &Backend) {
    let _alone = alone();
    let mut tensor = Tensor::<i16>::zeros(backend, &[2, 3]).unwrap();
    let error = tensor.copy_from_array(&Array::from_elem((3, 2), 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the array to copy from has shape [3, 2]; expected [2, 3]"
    );
    let error = tensor.copy_to_array(&mut Array::from_elem(6, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the array to copy to has shape [6]; expected [2, 3]");
    let error = Tensor::<i16>::zeros(backend, &[1 << 62, 4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tensor of shape [4611686018427387904, 4] has more elements than memory has addresses"
    );
}

/// More than there is, by a little and by far, is an error with both numbers; the backend still works.
fn too_much_memory(backend: &Backend) {
    let _alone = alone();
    for elements in [1_usize << 48, 1 << 60, 1 << 62] {
        let error = Tensor::<f32>::zeros(backend, &[elements]).unwrap_err();
        println!("{error}");
        let Error::OutOfMemory {
            needed_bytes,
            available_bytes,
            ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(needed_bytes, (elements as u64).saturating_mul(4));
        let expected = match available_bytes {
            Some(bytes) => format!("a tensor needs {needed_bytes} bytes; {bytes} bytes are available"),
            None => format!("a tensor needs {needed_bytes} bytes; that much is not available"),
        };
        assert_eq!(error.to_string(), expected);
        assert_eq!(available_bytes.is_some(), backend.available_memory_bytes().is_some());
        let values = Array1::from_elem(3, 1.5_f32);
        assert_eq!(
            Tensor::from_array(backend, &values).unwrap().to_array().unwrap(),
            values.into_dyn()
        );
    }

    // One element in, a petabyte on the backend: a tensor is dense.
    let one = ndarray::arr0(1.0_f32);
    let error = Tensor::from_array(backend, &one.broadcast(1 << 48).unwrap()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OutOfMemory {
                needed_bytes: 0x4_0000_0000_0000,
                ..
            }
        ),
        "{error:?}"
    );
}

fn events(backend: &Backend) {
    let _alone = alone();
    let stream = backend.stream().unwrap();
    assert_eq!(stream.backend(), backend);
    let start = stream.record().unwrap();
    start.synchronize().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let end = stream.record().unwrap();
    stream.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    println!("{elapsed:?}");
    assert!(
        (Duration::from_millis(19)..Duration::from_secs(10)).contains(&elapsed),
        "{elapsed:?}"
    );
    assert_eq!(start.elapsed_since(&end).unwrap(), Duration::ZERO);
}

fn threads(backend: &Backend) {
    let _alone = alone();
    let tensor = Tensor::from_array(backend, &Array1::from_iter(0..1000_i32)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let copy = Tensor::from_array(backend, &tensor.to_array().unwrap()).unwrap();
                assert_eq!(copy.to_array().unwrap(), Array1::from_iter(0..1000).into_dyn());
            });
        }
    });
    // Made here, dropped there.
    std::thread::spawn(move || drop(tensor)).join().unwrap();
}

on_every_backend! {
    round_trips_i16: |backend: &Backend| round_trips(backend, |value| value);
    round_trips_i32: |backend: &Backend| round_trips(backend, i32::from);
    round_trips_u32: |backend: &Backend| round_trips(backend, |value| u32::from(value.unsigned_abs()));
    round_trips_f16: |backend: &Backend| round_trips(backend, |value| f16::from_f32(value.into()));
    round_trips_f32: |backend: &Backend| round_trips(backend, f32::from);
    round_trips_f64: |backend: &Backend| round_trips(backend, f64::from);
    round_trips_complex_i16: |backend: &Backend| round_trips(backend, |value| Complex::new(value, -value));
    round_trips_complex_f16: |backend: &Backend| {
        round_trips(backend, |value| Complex::new(f16::from_f32(value.into()), f16::ONE));
    };
    round_trips_complex_f32: |backend: &Backend| round_trips(backend, |value| Complex::new(f32::from(value), 0.5));
    round_trips_complex_f64: |backend: &Backend| round_trips(backend, |value| Complex::new(0.5, f64::from(value)));
    shapes_must_agree: super::shapes_must_agree;
    too_much_memory: super::too_much_memory;
    events: super::events;
    threads: super::threads;
    rates: super::rates;
}

/// What only a GPU can show.
mod gpu_only {
    use super::*;

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn a_device_that_is_not_there_is_counted() {
        let _alone = alone();
        let device = backends::gpu();
        println!(
            "{} with {:?} bytes free",
            device.name(),
            device.available_memory_bytes()
        );
        assert!(!device.name().is_empty());
        assert_eq!(Backend::best(), device);
        assert_ne!(Backend::cpu(), device);
        let error = Backend::cuda(1000).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Device(DeviceError::NoSuchDevice {
                    ordinal: 1000,
                    count: 1..
                })
            ),
            "{error:?}"
        );
        let message = error.to_string();
        assert!(
            message.starts_with("there is no CUDA device 1000; the driver knows "),
            "{message}"
        );
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn events_of_two_backends_are_not_compared() {
        let _alone = alone();
        let (device, host) = (backends::gpu().stream().unwrap(), backends::cpu().stream().unwrap());
        let (device, host) = (device.record().unwrap(), host.record().unwrap());
        let error = device.elapsed_since(&host).unwrap_err();
        assert!(
            matches!(
                error,
                Error::WrongBackend {
                    what: "the start event",
                    ..
                }
            ),
            "{error:?}"
        );
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn a_thousand_tensors_and_streams_leave_no_memory_behind() {
        let _alone = alone();
        let device = backends::gpu();
        let make_and_drop = || {
            let tensor = Tensor::from_array(&device, &Array1::from_elem(1 << 18, 1.0_f32)).unwrap();
            let stream = device.stream().unwrap();
            let event = stream.record().unwrap();
            event.synchronize().unwrap();
            drop(tensor);
        };
        let free = || device.available_memory_bytes().unwrap();
        // The driver keeps some memory after its first streams and allocations.
        (0..10).for_each(|_| make_and_drop());
        let before = free();
        (0..1000).for_each(|_| make_and_drop());
        let lost = before.saturating_sub(free());
        // 1000 tensors are 1000 MiB; what the driver itself takes comes in pages of 2 MiB.
        println!("{lost} bytes lost of 1048576000, allowed 2097152");
        assert!(lost <= 2 << 20, "{lost} bytes lost");
    }

    /// The driver itself runs out: each tensor would fit, both do not.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn a_full_device_is_an_error_and_goes_on() {
        let _alone = alone();
        let device = backends::gpu();
        let free = device.available_memory_bytes().unwrap();
        let elements = usize::try_from(free * 6 / 10).unwrap() / 4;
        let first = Tensor::<f32>::zeros(&device, &[elements]).unwrap();
        let error = Tensor::<f32>::zeros(&device, &[elements]).unwrap_err();
        println!("{error}");
        let Error::OutOfMemory {
            needed_bytes,
            available_bytes: Some(available),
            ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!(needed_bytes, elements as u64 * 4);
        assert!(
            available < needed_bytes,
            "{available} bytes are available, {needed_bytes} needed"
        );

        let values = Array1::from_iter(0..100_000_i32);
        assert_eq!(
            Tensor::from_array(&device, &values).unwrap().to_array().unwrap(),
            values.into_dyn()
        );
        drop(first);
        let again = Tensor::<f32>::zeros(&device, &[elements]).unwrap();
        assert_eq!(again.len(), elements);
    }

    /// 2³¹ elements and more: sizes are counted in 64 bits.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn more_than_two_to_the_31_elements_come_back() {
        let _alone = alone();
        let device = backends::gpu();
        let shape = (1 << 16, (1 << 15) + 1);
        let mut values = Array::<i16, _>::zeros(shape);
        values[[shape.0 - 1, shape.1 - 1]] = 1;
        values[[shape.0 / 2, 7]] = -7;
        let tensor = Tensor::from_array(&device, &values).unwrap();
        assert_eq!(tensor.len(), shape.0 * shape.1);
        let back = tensor.to_array().unwrap();
        assert!(back == values.into_dyn(), "the values differ");
    }
}

/// A device has ceilings that a device can have, a CPU none that are asked for.
fn rates(backend: &Backend) {
    let _alone = alone();
    let rates = DeviceRates::measure(backend).expect("nothing is in the way");
    assert_eq!(rates.is_some(), backend.is_cuda());
    if let Some(rates) = rates {
        println!("{}: {rates:?}", backend.name());
        assert!((1e10..1e15).contains(&rates.copied_bytes_per_second));
        for rate in [
            rates.matrix_operations_per_second,
            rates.group_matrix_operations_per_second,
        ] {
            assert!(rate.is_none_or(|rate| (1e12..1e17).contains(&rate)));
        }
    }
}
