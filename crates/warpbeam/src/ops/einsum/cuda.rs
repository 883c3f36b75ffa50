//! The launch of a product on a CUDA device.

use super::arrangement::Arrangement;
use super::contraction::Operand;
use super::factor::Factor;
use super::products::Launcher;
use crate::Precision;
use crate::Result;
use crate::device::{Cuda, Stream, Tensor};
use kernels::product::{Instance, Number, Operand as Side, Product, matrix};

/// A device, and whether `f32` may be rounded to TF32.
pub(super) struct CudaLauncher<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) precision: Precision,
}

impl Launcher for CudaLauncher<'_> {
    fn queue<T: Factor>(
        &self,
        arrangement: &Arrangement,
        [first, second]: [&Operand<'_, T>; 2],
        n_parts: usize,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        let length = (output.len() / n_parts) as i64;
        let along = [(0, first), (1, second)].map(|(number, operand)| {
            let bytes = operand.view.origin() * size_of::<T>() as isize;
            let address = operand.view.address().wrapping_add_signed(bytes);
            let piece = matrix::PIECE_BYTES / size_of::<T>() as u32;
            arrangement.are_pieces_along_sum(number, address, piece)
        });
        // Halves lose nothing there.
        let may_round = !T::Device::IS_SUM || self.precision == Precision::Tf32;
        let matrix_kernel = match along {
            [Some(first), Some(second)] if may_round => <T::Device as Instance>::matrix_kernel(first, second),
            _ => None,
        };
        let matrix_kernel = matrix_kernel.filter(|kernel| self.cuda.has_kernel(kernel));
        let (of_vector, bytes) = match &matrix_kernel {
            Some(_) => (2, 2 * size_of::<T>()),
            None => (<T::Device as Instance>::of_vector(), 16),
        };
        let is_wide = output.address().is_multiple_of(bytes) && arrangement.is_wide(of_vector, length);
        let side = |operand: &Operand<'_, T>, number: usize| -> Result<Side<T::Device>> {
            Ok(Side {
                memory: operand.view.global_units()?,
                origin: operand.view.origin() as i64,
                stride: arrangement.sum_strides[number],
                along_sum: u32::from(arrangement.is_along_sum(number)),
            })
        };
        let parameters = Product {
            first: side(first, 0)?,
            second: side(second, 1)?,
            output: output.global_mut("the output")?,
            n_rows: arrangement.n_rows,
            n_columns: arrangement.n_columns,
            n_items: arrangement.n_items,
            n_summed: arrangement.n_summed,
            n_summed_of_part: arrangement.n_summed_of_part(n_parts),
            n_axes: arrangement.n_axes(),
            is_wide: u32::from(is_wide),
            part_stride: length,
            rows: arrangement.rows(),
            columns: arrangement.columns(),
            batch: arrangement.batch(),
        };
        if let Some(kernel) = matrix_kernel {
            return self
                .cuda
                .launch(&kernel, matrix::launch(&parameters), parameters, stream);
        }
        let tile = arrangement.tile::<T::Device>();
        let kernel = <T::Device as Instance>::kernel(tile);
        let launch = <T::Device as Instance>::launch(tile, &parameters);
        self.cuda.launch(&kernel, launch, parameters, stream)
    }
}
