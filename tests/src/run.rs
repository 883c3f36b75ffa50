//! Running a plan in both ways that it offers.

use crate::bits::assert_same_bits;
use crate::sample::{Precision, TestSample, is_half};
use ndarray::{Array4, ArrayD, Dimension, IxDyn};
use warpbeam::{Algorithm, Backend, DasGeometry, DasOptions, DasPlan, Interpolation, Tensor};

/// The algorithms that a backend has for a sample type and an interpolation, `Auto` last; the CPU has one for all.
pub fn algorithms<T: TestSample>(backend: &Backend, interpolation: Interpolation) -> Vec<Algorithm> {
    if !backend.is_cuda() {
        return vec![Algorithm::Auto];
    }
    let mut algorithms = vec![Algorithm::Voxel, Algorithm::Frame];
    if T::PRECISION == Precision::Single {
        algorithms.push(Algorithm::Batch);
        let takes_two_samples = matches!(interpolation, Interpolation::Nearest | Interpolation::Linear);
        if takes_two_samples {
            algorithms.push(Algorithm::Distinct);
        }
        if takes_two_samples || is_half::<T>() {
            algorithms.push(Algorithm::Window);
        }
    }
    algorithms.push(Algorithm::Auto);
    algorithms
}

/// A plan's image, computed with and without buffers of the caller's: the same bits, whatever was in the buffers.
///
/// # Panics
///
/// Where the plan is refused, a run fails, or the two ways differ.
pub fn run<T: TestSample>(
    backend: &Backend,
    geometry: &DasGeometry,
    options: &DasOptions,
    data: &Array4<T>,
) -> ArrayD<T::Sum> {
    let plan = DasPlan::<T>::new(backend, geometry, options).expect("the geometry and options are good");
    let image = plan.run(data.view()).expect("the data fit the plan");
    let axes = image.ndim() - geometry.grid_shape().len();
    assert_eq!(image.shape()[0], data.shape()[0], "batch items");
    assert_eq!(&image.shape()[axes..], geometry.grid_shape(), "the grid");
    assert_same_bits(
        "run_into, NaN in the output",
        &run_into(backend, &plan, data, &image, f64::NAN),
        &image,
    );
    image
}

/// The image by way of tensors, with `stale` in the output before the run.
///
/// # Panics
///
/// Where a run fails.
pub fn run_into<T: TestSample, D: Dimension>(
    backend: &Backend,
    plan: &DasPlan<T>,
    data: &ndarray::Array<T, D>,
    image: &ArrayD<T::Sum>,
    stale: f64,
) -> ArrayD<T::Sum> {
    let stream = backend.stream().expect("a stream");
    let data = Tensor::from_array(backend, data).expect("room for the data");
    let stale = ArrayD::from_elem(IxDyn(image.shape()), T::sum_from(stale));
    let mut out = Tensor::from_array(backend, &stale).expect("room for the image");
    plan.run_into(&data, &mut out, &stream).expect("the data fit the plan");
    stream.synchronize().expect("the run succeeds");
    out.to_array().expect("room for the image")
}
