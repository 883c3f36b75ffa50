//! Coordinates in single or double precision, and those in single brought to double, in which points are found in grids.

#[cfg(feature = "cuda")]
use super::interpolate::queue_widening;
use crate::Result;
use crate::device::{Element, Stream, Tensor};
use kernels::geometry::Instance;
use ndarray::{ArrayRef, CowArray, Dimension};

/// The numbers of coordinates: `f32` or `f64`.
pub trait Coordinate: Element<Device = Self> + Instance {
    /// The array in double precision, a copy if it is not.
    #[doc(hidden)]
    fn doubles<D: Dimension>(array: &ArrayRef<Self, D>) -> CowArray<'_, f64, D>;

    /// The tensor in double precision.
    #[doc(hidden)]
    fn double_tensor(tensor: Tensor<Self>, stream: &Stream) -> Result<Tensor<f64>>;

    /// What is made of the tensor in double precision, a copy if it is not.
    #[doc(hidden)]
    fn with_doubles<R>(
        tensor: &Tensor<Self>,
        stream: &Stream,
        make: impl FnOnce(&Tensor<f64>) -> Result<R>,
    ) -> Result<R>;
}

impl Coordinate for f32 {
    fn doubles<D: Dimension>(array: &ArrayRef<Self, D>) -> CowArray<'_, f64, D> {
        array.mapv(f64::from).into()
    }

    fn double_tensor(tensor: Tensor<Self>, stream: &Stream) -> Result<Tensor<f64>> {
        widened(&tensor, stream)
    }

    fn with_doubles<R>(
        tensor: &Tensor<Self>,
        stream: &Stream,
        make: impl FnOnce(&Tensor<f64>) -> Result<R>,
    ) -> Result<R> {
        make(&widened(tensor, stream)?)
    }
}

impl Coordinate for f64 {
    fn doubles<D: Dimension>(array: &ArrayRef<Self, D>) -> CowArray<'_, f64, D> {
        array.view().into()
    }

    fn double_tensor(tensor: Tensor<Self>, _: &Stream) -> Result<Tensor<f64>> {
        Ok(tensor)
    }

    fn with_doubles<R>(tensor: &Tensor<Self>, _: &Stream, make: impl FnOnce(&Tensor<f64>) -> Result<R>) -> Result<R> {
        make(tensor)
    }
}

#[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
fn widened(tensor: &Tensor<f32>, stream: &Stream) -> Result<Tensor<f64>> {
    let backend = tensor.backend();
    #[cfg(feature = "cuda")]
    if let Some(cuda) = backend.as_cuda() {
        let mut wide = Tensor::unset(backend, tensor.shape())?;
        queue_widening(cuda, tensor, &mut wide, stream)?;
        return Ok(wide);
    }
    Tensor::from_array(backend, &tensor.view().host("the coordinates")?.mapv(f64::from))
}
