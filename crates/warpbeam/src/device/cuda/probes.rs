//! The probes of `cuda_std` on a GPU and in the emulator: the same words, or numbers as near as the hardware promises.

use std::cell::RefCell;
use std::sync::Arc;

use cuda_std::emulator::{Emulator, Machine};
use cuda_std::{Global, GlobalMut, Kernel, Launch, Parameters};
use kernels::probe::{Outcome, outcomes, sm_80_outcomes, sm_90a_outcomes};

use super::Cuda;
use crate::device::{Backend, Stream, Tensor};
use crate::{Error, Result};

/// A GPU as a machine that runs kernels.
struct Gpu {
    backend: Backend,
    stream: Stream,
}

/// Elements on the GPU, in words of 32 bits.
struct Words {
    words: RefCell<Tensor<u32>>,
    length: usize,
}

impl Gpu {
    fn new() -> Self {
        let backend = Backend::cuda(0).unwrap_or_else(|error| panic!("this test needs a GPU: {error}"));
        let stream = backend.stream().expect("a stream");
        Self { backend, stream }
    }

    fn cuda(&self) -> &Arc<Cuda> {
        self.backend.as_cuda().expect("a GPU")
    }
}

impl Machine for Gpu {
    type Memory<T: cuda_std::Element> = Words;
    type Error = Error;

    fn memory<T: cuda_std::Element>(&self, elements: &[T]) -> Result<Words> {
        let bytes = size_of_val(elements);
        let mut words = vec![0_u32; bytes.div_ceil(4)];
        // SAFETY: elements are plain bytes without padding, and the words have room for them.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr().cast::<u8>(), words.as_mut_ptr().cast(), bytes) };
        Ok(Words {
            words: RefCell::new(Tensor::from_array(&self.backend, &ndarray::Array1::from(words))?),
            length: elements.len(),
        })
    }

    fn read<T: cuda_std::Element>(&self, memory: &Words) -> Result<Vec<T>> {
        self.stream.synchronize()?;
        let words: Vec<u32> = memory.words.borrow().to_array()?.into_iter().collect();
        let mut elements = Vec::with_capacity(memory.length);
        // SAFETY: the words hold that many elements, which have any bit pattern.
        unsafe {
            std::ptr::copy_nonoverlapping(words.as_ptr().cast::<T>(), elements.as_mut_ptr(), memory.length);
            elements.set_len(memory.length);
        }
        Ok(elements)
    }

    fn global<T: cuda_std::Element>(&self, memory: &Words) -> Global<T> {
        let words = memory
            .words
            .borrow()
            .global("a probe's input")
            .expect("contiguous words");
        // SAFETY: device memory is aligned for any element.
        unsafe { words.cast() }
    }

    fn global_mut<T: cuda_std::Element>(&self, memory: &Words) -> GlobalMut<T> {
        let words = memory
            .words
            .borrow_mut()
            .global_mut("a probe's output")
            .expect("contiguous words");
        // SAFETY: as above.
        unsafe { words.cast() }
    }

    fn launch<P: Parameters>(&self, kernel: &Kernel<P>, launch: Launch, parameters: P) -> Result<()> {
        self.cuda().launch(kernel, launch, parameters, &self.stream)?;
        self.stream.synchronize()
    }
}

fn compare(emulated: &[Outcome], computed: &[Outcome]) {
    assert_eq!(emulated.len(), computed.len());
    let mut differences = Vec::new();
    for (emulated, computed) in emulated.iter().zip(computed) {
        assert_eq!(emulated.input, computed.input);
        match emulated.compare(&computed.output) {
            Ok(ratio) => println!("{ratio:.1e} of the allowed difference: {}", emulated.name),
            Err(difference) => differences.push(difference),
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

mod gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn the_emulator_computes_what_the_hardware_does() {
        let emulated = outcomes(&Emulator::default()).unwrap();
        compare(&emulated, &outcomes(&Gpu::new()).unwrap());
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn the_emulator_computes_what_the_hardware_does_from_sm_80_on() {
        let emulated = sm_80_outcomes(&Emulator::default()).unwrap();
        compare(&emulated, &sm_80_outcomes(&Gpu::new()).unwrap());
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn the_emulator_computes_what_the_hardware_does_with_groups_of_warps() {
        let gpu = Gpu::new();
        if !gpu.cuda().has_kernel(&kernels::probe::sm_90a::probe_group) {
            println!("skipped: the device has no products of four warps");
            return;
        }
        let emulated = sm_90a_outcomes(&Emulator::default()).unwrap();
        compare(&emulated, &sm_90a_outcomes(&gpu).unwrap());
    }
}
