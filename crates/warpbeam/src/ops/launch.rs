//! Launches of the kernels that move units.

use crate::Result;
use crate::device::{Cuda, Element, Stream, Tensor, TensorView};
use cuda_std::Global;
use kernels::copy::plan::{Arrangement, Part, Way, plan};
use kernels::copy::{pairs, tiles};

/// The launches of a copy, or of one that looks up the places of rows.
pub(super) struct Rows {
    parts: Vec<Part>,
}

/// How the axis that is looked up is.
#[derive(Clone, Copy)]
pub(super) struct LookedUp<'a> {
    pub(super) axis: usize,
    /// How many positions are looked up.
    pub(super) length: usize,
    /// Where they lie in the input; the position itself where there is none.
    pub(super) sources: Option<&'a Tensor<i32>>,
    /// Where they lie in the output.
    pub(super) targets: Option<&'a Tensor<i32>>,
}

/// What is to be moved, before it is known how.
pub(super) fn arrangement<T: Element>(input: &TensorView<'_, T>, output: &Tensor<T>) -> Arrangement {
    Arrangement {
        element_bytes: size_of::<T>(),
        most_bytes: 16,
        shape: input.shape().to_vec(),
        input_strides: input.strides().to_vec(),
        output_strides: output.strides().to_vec(),
        input_address: input.address(),
        output_address: output.view().address(),
        input_origin: input.origin(),
        output_origin: 0,
        looked_up: None,
    }
}

impl Rows {
    /// Of a copy.
    pub(super) fn of<T: Element>(input: &TensorView<'_, T>, output: &Tensor<T>) -> Result<Self> {
        output.expect_contiguous("the output")?;
        Ok(Self {
            parts: plan(&arrangement(input, output)),
        })
    }

    /// Queues the launches of a copy.
    pub(super) fn copy<T: Element>(
        &self,
        cuda: &Cuda,
        input: &TensorView<'_, T>,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        for part in &self.parts {
            match part.unit_bytes {
                2 => queue::<T, u16>(cuda, part, input, output, None, stream),
                4 => queue::<T, u32>(cuda, part, input, output, None, stream),
                8 => queue::<T, [u32; 2]>(cuda, part, input, output, None, stream),
                _ => queue::<T, [u32; 4]>(cuda, part, input, output, None, stream),
            }?;
        }
        Ok(())
    }
}

fn queue<T: Element, U: tiles::Unit>(
    cuda: &Cuda,
    part: &Part,
    input: &TensorView<'_, T>,
    output: &mut Tensor<T>,
    looked_up: Option<LookedUp<'_>>,
    stream: &Stream,
) -> Result<()> {
    match part.way() {
        Way::Flat => {
            let places = |tensor: Option<&Tensor<i32>>| tensor.map(|tensor| tensor.global("the indices")).transpose();
            let sources: Option<Global<i32>> = places(looked_up.and_then(|axis| axis.sources))?;
            let targets = places(looked_up.and_then(|axis| axis.targets))?;
            let units = (input.global_units()?, output.global_units_mut("the output")?);
            let (parameters, shape) = part.flat::<U>(units.0, units.1, sources, targets);
            cuda.launch(&U::flat_kernel(), shape, parameters, stream)
        }
        Way::Tiles => {
            let units = (input.global_units()?, output.global_units_mut("the output")?);
            let (parameters, shape) = part.tiles::<U>(units.0, units.1);
            cuda.launch(&U::tiles_kernel(), shape, parameters, stream)
        }
        Way::Pairs => {
            let units = (input.global_units()?, output.global_units_mut("the output")?);
            let (parameters, shape) = part.pairs(units.0, units.1);
            cuda.launch(&pairs::copy_pairs, shape, parameters, stream)
        }
    }
}
