//! What only the device layer itself can see: modules, launches and faults. The rest is tested from outside.

use std::sync::Arc;

use cuda_std::{Global, GlobalMut, Launch};
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use kernels::das::voxel::{DasVoxel, THREADS, das_voxel_f32_nearest_item};
use wavefield::aperture::{Aperture, Window};
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::Interpolation;

use super::Cuda;
use super::module::{IMAGES, find, load};
use crate::device::{Backend, DeviceError, Stream, Tensor};
use crate::{Error, Result};

/// A sum over channels that all hold `[1, 1]`: every voxel becomes `n_channels`, in a time that it sets.
struct Sum {
    samples: Tensor<f32>,
    /// Voxel positions, offsets and phases, all of them 0.
    zeros: Tensor<f32>,
    /// Elements at 0 whose channels count 1.
    elements: Tensor<f32>,
    weights: Tensor<f32>,
    n_voxels: usize,
    n_channels: u32,
}

impl Sum {
    fn new(backend: &Backend, n_voxels: usize, n_channels: u32) -> Result<Self> {
        let ones = |count| Tensor::from_array(backend, &ndarray::Array1::<f32>::ones(count));
        Ok(Self {
            samples: ones(2)?,
            zeros: Tensor::zeros(backend, &[3 * n_voxels.max(4 * n_channels as usize)])?,
            elements: Tensor::from_array(
                backend,
                &ndarray::Array1::from_shape_fn(4 * n_channels as usize, |at| if at % 4 == 3 { 1.0 } else { 0.0 }),
            )?,
            weights: ones(n_voxels)?,
            n_voxels,
            n_channels,
        })
    }

    fn parameters(&self, output: GlobalMut<f32>) -> Result<DasVoxel<f32>> {
        Ok(DasVoxel {
            samples: self.samples.global("samples")?,
            geometry: Geometry {
                elements: self.elements.global_pairs("elements")?,
                normals: Global::empty(),
                voxels: self.zeros.global("voxels")?,
                offsets: self.zeros.global("offsets")?,
                weights: self.weights.global("weights")?,
                transmits: Global::empty(),
                order: Global::empty(),
                phases: self.zeros.global("phases")?,
                voxel_pitch: self.n_voxels as u64,
                first_voxel: 0,
                n_voxels: self.n_voxels as u64,
                aperture: Aperture::new(0.0, Window::Boxcar, 0.0),
                turns: TurnsPerSample::from_radians(0.0),
                interpolation: Interpolation::Nearest,
                n_samples: 2,
                n_channels: self.n_channels,
                n_transmits: 1,
                n_entries: 1,
                is_directive: 0,
                is_sparse: 0,
                is_ordered: 0,
            },
            output: Output::whole(output, self.n_voxels as u64, 1, self.n_channels),
            batch_stride: 0,
            transmit_stride: 0,
            channel_stride: 0,
            n_batch: 1,
            first_item: 0,
        })
    }

    fn shape(&self) -> Launch {
        let blocks = self.n_voxels.div_ceil(THREADS as usize) as u32;
        Launch {
            grid: [blocks, 1, 1],
            threads: THREADS,
            shared_bytes: 0,
        }
    }

    fn launch(&self, output: &mut Tensor<f32>, stream: &Stream) -> Result<()> {
        let parameters = self.parameters(output.global_mut("output")?)?;
        device(stream.backend()).launch(&das_voxel_f32_nearest_item, self.shape(), parameters, stream)
    }
}

fn device(backend: &Backend) -> &Arc<Cuda> {
    backend.as_cuda().expect("the tests below run on a GPU")
}

/// Tests that need a GPU and fail where there is none.
mod gpu {
    use super::*;

    fn backend() -> Backend {
        Backend::cuda(0).unwrap_or_else(|error| panic!("this test needs a GPU: {error}"))
    }

    /// Proves that the context still works.
    fn works(backend: &Backend) {
        let sum = Sum::new(backend, 1000, 7).unwrap();
        let mut output = Tensor::from_array(backend, &ndarray::Array1::from_elem(1000, f32::NAN)).unwrap();
        let stream = backend.stream().unwrap();
        sum.launch(&mut output, &stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(
            output.to_array().unwrap(),
            ndarray::Array1::from_elem(1000, 7.0_f32).into_dyn()
        );
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn every_kernel_is_in_the_ptx() {
        let backend = backend();
        for info in kernels::FAMILIES.iter().copied().flatten() {
            device(&backend).function(info.name, 0).unwrap();
        }
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn a_kernel_that_is_not_in_the_ptx_is_named() {
        let backend = backend();
        let error = device(&backend).function("no_such_kernel", 0).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no kernel no_such_kernel in the PTX for sm_"),
            "{error}"
        );
        works(&backend);
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn ptx_newer_than_the_driver_names_both_versions() {
        let backend = backend();
        let cuda = device(&backend);
        cuda.enter().unwrap();
        for image in IMAGES {
            let ptx = image.ptx();
            let body = ptx
                .split_once(".version ")
                .and_then(|(_, rest)| rest.split_once('\n'))
                .unwrap()
                .1;
            let error = load(cuda.driver, &format!(".version 99.0\n{body}")).unwrap_err();
            println!("{error}");
            let DeviceError::PtxTooNew {
                ptx_version,
                driver_cuda_version,
                ..
            } = &error
            else {
                panic!("{error:?}")
            };
            let driver = cuda_version(cuda);
            assert_eq!((ptx_version.as_str(), driver_cuda_version), ("99.0", &driver));
            let message = format!("PTX 99.0, which is newer than the driver: it supports CUDA {driver}");
            assert!(error.to_string().contains(&message), "{error}");
        }
        works(&backend);
    }

    fn cuda_version(cuda: &Cuda) -> String {
        let mut version = 0;
        // SAFETY: the driver writes one number.
        unsafe { cuda.driver.driver_get_version(&raw mut version) }.unwrap();
        format!("{}.{}", version / 1000, version % 1000 / 10)
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn ptx_that_does_not_compile_comes_back_with_the_compilers_words() {
        let backend = backend();
        let cuda = device(&backend);
        cuda.enter().unwrap();
        let ptx =
            ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { no_such_instruction; ret; }\n";
        let error = load(cuda.driver, ptx).unwrap_err();
        println!("{error}");
        let DeviceError::ModuleLoad {
            code: 218, name, log, ..
        } = &error
        else {
            panic!("{error:?}")
        };
        assert_eq!(name, "CUDA_ERROR_INVALID_PTX");
        assert!(log.contains("no_such_instruction"), "{log}");
        assert!(error.to_string().contains("no_such_instruction"), "{error}");
        let error = load(cuda.driver, "nul \0 byte").unwrap_err();
        assert!(matches!(error, DeviceError::ModuleLoad { .. }), "{error:?}");

        let module = load(cuda.driver, ".version 6.0\n.target sm_70\n.address_size 64\n").unwrap();
        assert!(matches!(
            find(cuda.driver, module, "nothing", "sm_70"),
            Err(DeviceError::UnknownKernel { .. })
        ));
        works(&backend);
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn launches_that_cannot_be_are_refused_and_empty_ones_do_nothing() {
        let backend = backend();
        let (cuda, stream) = (device(&backend), backend.stream().unwrap());
        let sum = Sum::new(&backend, 256, 1).unwrap();
        let mut output = Tensor::from_array(&backend, &ndarray::Array1::from_elem(256, 5.0_f32)).unwrap();
        let parameters = sum.parameters(output.global_mut("output").unwrap()).unwrap();
        let good = sum.shape();
        let launch = |shape, stream: &Stream| cuda.launch(&das_voxel_f32_nearest_item, shape, parameters, stream);

        let error = launch(
            Launch {
                threads: THREADS + 1,
                ..good
            },
            &stream,
        )
        .unwrap_err();
        let message = format!(
            "kernel das_voxel_f32_nearest_item: {} threads a block; from 1 to {THREADS} are possible",
            THREADS + 1
        );
        assert_eq!(error.to_string(), message);
        let error = launch(
            Launch {
                shared_bytes: 1 << 30,
                ..good
            },
            &stream,
        )
        .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("1073741824 bytes of shared memory a block; from 0 to "),
            "{error}"
        );
        let error = launch(good, &Backend::cpu().stream().unwrap()).unwrap_err();
        assert!(
            matches!(error, Error::WrongBackend { what: "the stream", .. }),
            "{error}"
        );

        launch(
            Launch {
                grid: [0, 1, 1],
                ..good
            },
            &stream,
        )
        .unwrap();
        stream.synchronize().unwrap();
        assert_eq!(
            output.to_array().unwrap(),
            ndarray::Array1::from_elem(256, 5.0_f32).into_dyn()
        );

        // More than 48 KiB has to be asked for; every GPU since Volta gives 64 KiB.
        launch(
            Launch {
                shared_bytes: 64 * 1024,
                ..good
            },
            &stream,
        )
        .unwrap();
        stream.synchronize().unwrap();
        assert_eq!(
            output.to_array().unwrap(),
            ndarray::Array1::from_elem(256, 1.0_f32).into_dyn()
        );
    }

    /// Device memory of somebody else, in every order: read where it lies, and kept as long as it is used.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn borrowed_device_memory_keeps_its_strides() {
        let backend = backend();
        let owner = Arc::new(Tensor::from_array(&backend, &ndarray::Array1::from_iter(0..120_i32)).unwrap());
        let host = ndarray::Array1::from_iter(0..120_i32)
            .into_shape_with_order((2, 3, 4, 5))
            .unwrap();
        let (base, row) = (host.view(), host.slice(ndarray::s![..1, ..1, ..1, ..]));
        for (name, view) in [
            ("contiguous", base.reborrow()),
            ("transposed", base.t()),
            ("sliced by 2", base.slice(ndarray::s![.., ..;2, .., ..;2])),
            ("negative strides", base.slice(ndarray::s![..;-1, .., .., ..;-1])),
            ("broadcast", row.broadcast((2, 3, 4, 5)).unwrap()),
            ("empty", base.slice(ndarray::s![.., ..0, .., ..])),
        ] {
            // SAFETY: both addresses are of the same array.
            let first = unsafe { view.as_ptr().offset_from(host.as_ptr()) };
            let pointer = owner.pointer().cast_mut().wrapping_offset(first);
            // SAFETY: the view's elements are the owner's, which is kept, and nobody writes them.
            let tensor =
                unsafe { Tensor::from_raw_parts(&backend, pointer, view.shape(), view.strides(), Arc::clone(&owner)) }
                    .unwrap();
            assert_eq!(Arc::strong_count(&owner), 2, "{name}");
            assert_eq!(tensor.to_array().unwrap(), view.to_owned().into_dyn(), "{name}");
            let contiguous = tensor.global("the samples").map(|_| ());
            assert_eq!(contiguous.is_ok(), view.is_standard_layout(), "{name}");
            drop(tensor);
            assert_eq!(Arc::strong_count(&owner), 1, "{name}");
        }
    }

    /// No explicit wait: the copies of `to_array` and `from_array` are ordered with every stream.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn copies_wait_for_kernels_and_kernels_for_copies() {
        let backend = backend();
        let streams: Vec<_> = (0..4).map(|_| backend.stream().unwrap()).collect();
        let mut sum = Sum::new(&backend, 4096, 20_000).unwrap();
        let mut output = Tensor::zeros(&backend, &[4096]).unwrap();
        for round in 0..100 {
            let weight = (round + 1) as f32 / 128.0;
            sum.weights
                .copy_from_array(&ndarray::Array1::from_elem(4096, weight))
                .unwrap();
            sum.launch(&mut output, &streams[round % 4]).unwrap();
            // Multiples of 1/128 below 2^24 of them: sums are exact.
            let expected = ndarray::Array1::from_elem(4096, weight * 20_000.0).into_dyn();
            assert_eq!(output.to_array().unwrap(), expected, "round {round}");
        }
    }

    /// A buffer that is dropped while a kernel writes it must not be handed on before the kernel ends.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn tensors_may_be_dropped_while_kernels_use_them() {
        let backend = backend();
        let stream = backend.stream().unwrap();
        for round in 0..100 {
            let sum = Sum::new(&backend, 4096, 20_000).unwrap();
            let mut output = Tensor::zeros(&backend, &[4096]).unwrap();
            sum.launch(&mut output, &stream).unwrap();
            drop(output);
            drop(sum);
            let zeros = Tensor::<f32>::zeros(&backend, &[4096]).unwrap();
            stream.synchronize().unwrap();
            assert!(
                zeros.to_array().unwrap().iter().all(|&value| value == 0.0),
                "round {round}"
            );
        }
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn threads_share_the_device() {
        let backend = backend();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10).for_each(|_| works(&backend)));
            }
        });
        assert_eq!(backend, Backend::cuda(0).unwrap());
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn events_measure_the_work_between_them() {
        let backend = backend();
        let stream = backend.stream().unwrap();
        let mut elapsed = [1, 200].map(|factor| {
            let sum = Sum::new(&backend, 4096, 10_000 * factor).unwrap();
            let mut output = Tensor::zeros(&backend, &[4096]).unwrap();
            // The least of five, and far more work: what tests beside this one do comes in between.
            let measured = (0..5).map(|_| {
                let start = stream.record().unwrap();
                sum.launch(&mut output, &stream).unwrap();
                let end = stream.record().unwrap();
                assert_eq!(start.elapsed_since(&end).unwrap(), std::time::Duration::ZERO);
                end.elapsed_since(&start).unwrap()
            });
            measured.min().unwrap()
        });
        println!("{elapsed:?}");
        elapsed[0] *= 4;
        assert!(
            elapsed[1] > elapsed[0],
            "200 times the work takes less than 4 times as long"
        );
    }

    /// A faulting kernel ends all CUDA work of its process: a child has the fault, and says what it sees.
    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn faults_come_back_as_errors() {
        const CHILD: &str = "WARPBEAM_TEST_FAULT";
        if std::env::var_os(CHILD).is_some() {
            return fault();
        }
        let test = "device::cuda::tests::gpu::faults_come_back_as_errors";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--include-ignored", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}", output.status);
        assert!(
            said.contains("the fault came back as an error"),
            "the child did not run the test {test}"
        );
    }

    fn fault() {
        let backend = backend();
        let stream = backend.stream().unwrap();
        let sum = Sum::new(&backend, 256, 1).unwrap();
        // Aligned, and on no device: the address of nothing.
        // SAFETY: not sound; the kernel is meant to fault, and this process to end after it.
        let nowhere = unsafe { GlobalMut::new(std::ptr::without_provenance_mut(1 << 20), 256) };
        let parameters = sum.parameters(nowhere).unwrap();
        device(&backend)
            .launch(&das_voxel_f32_nearest_item, sum.shape(), parameters, &stream)
            .unwrap();
        let mut failures = vec![stream.synchronize().unwrap_err()];
        // From here on every call fails, and none panics, aborts or returns zeros.
        failures.push(sum.weights.to_array().unwrap_err());
        failures.push(stream.synchronize().unwrap_err());
        failures.push(
            device(&backend)
                .launch(&das_voxel_f32_nearest_item, sum.shape(), parameters, &stream)
                .unwrap_err(),
        );
        failures.extend(Tensor::<f32>::zeros(&backend, &[5]).err());
        failures.extend(backend.stream().err());
        for error in &failures {
            println!("{error}");
            let Error::Device(DeviceError::Driver { code, name, .. }) = error else {
                panic!("{error:?}")
            };
            assert_eq!((*code, name.as_str()), (700, "CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
        }
        assert_eq!(failures.len(), 6);
        drop((sum, stream));
        println!("the fault came back as an error");
    }
}
