//! Data that do not fit a plan, or no memory.

use crate::good;
use integration_tests::backends::{cpu, gpu};
use ndarray::{Array4, ArrayD, IxDyn};
use warpbeam::{Backend, ChannelLayout, DasOptions, DasPlan, Error, Tensor};

/// Data that do not fit a plan are refused, and the plan still works.
fn data(backend: &Backend) {
    let (geometry, options) = good();
    let plan = DasPlan::<f32>::new(backend, &geometry, &options).unwrap();
    let fits = Array4::<f32>::ones((2, 2, 2, 96));
    let image = plan.run(fits.view()).unwrap();
    let axes = "expected (batch, channel, transmit, sample) or the same without batch";
    let samples = "it must be at least 2 and below 2^31";
    for (shape, expected) in [
        (
            vec![2, 3, 2, 96],
            "channel data has shape [2, 3, 2, 96]; expected [2, 2, 2, 96]".to_owned(),
        ),
        (
            vec![2, 2, 3, 96],
            "channel data has shape [2, 2, 3, 96]; expected [2, 2, 2, 96]".to_owned(),
        ),
        (
            vec![3, 2, 96],
            "channel data has shape [3, 2, 96]; expected [2, 2, 96]".to_owned(),
        ),
        (vec![2, 96], format!("channel data has shape [2, 96]; {axes}")),
        (
            vec![1, 2, 2, 2, 96],
            format!("channel data has shape [1, 2, 2, 2, 96]; {axes}"),
        ),
        (vec![], format!("channel data has shape []; {axes}")),
        (
            vec![2, 2, 2, 1],
            format!("the number of samples a channel is 1; {samples}"),
        ),
        (
            vec![2, 2, 0],
            format!("the number of samples a channel is 0; {samples}"),
        ),
    ] {
        let error = plan
            .run(ArrayD::<f32>::zeros(IxDyn(&shape)).view())
            .expect_err(&expected);
        assert_eq!(error.to_string(), expected);
        assert_eq!(plan.run(fits.view()).unwrap(), image, "after {shape:?}");
    }
    let trailing = DasOptions {
        layout: ChannelLayout::TransmitChannel,
        ..options
    };
    let plan = DasPlan::<f32>::new(backend, &geometry, &trailing).unwrap();
    let error = plan
        .run(ArrayD::<f32>::zeros(IxDyn(&[7])).view())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "channel data has shape [7]; expected (batch, transmit, channel, sample) or the same without batch"
    );
}

/// Tensors that do not fit a plan are refused, and the plan still works.
fn tensors(backend: &Backend) {
    let (geometry, options) = good();
    let plan = DasPlan::<f32>::new(backend, &geometry, &options).unwrap();
    let stream = backend.stream().unwrap();
    let data = Tensor::from_array(backend, &Array4::<f32>::ones((2, 2, 2, 96))).unwrap();
    let run = |data: &Tensor<f32>, shape: &[usize]| {
        let mut out = Tensor::zeros(backend, shape).unwrap();
        plan.run_into(data, &mut out, &stream)
            .map(|()| out.to_array().unwrap())
            .map_err(|error| error.to_string())
    };
    let image = run(&data, &[2, 3]).unwrap();
    for (shape, expected) in [
        (vec![2, 4], "the output has shape [2, 4]; expected [2, 3]"),
        (vec![6], "the output has shape [6]; expected [2, 3]"),
        (vec![1, 3], "the output has shape [1, 3]; expected [2, 3]"),
        (vec![0, 3], "the output has shape [0, 3]; expected [2, 3]"),
    ] {
        assert_eq!(run(&data, &shape).unwrap_err(), expected);
        assert_eq!(run(&data, &[2, 3]).unwrap(), image);
    }
    let wide = Tensor::<f32>::zeros(backend, &[2, 5, 2, 96]).unwrap();
    assert_eq!(
        run(&wide, &[2, 3]).unwrap_err(),
        "channel data has shape [2, 5, 2, 96]; expected [2, 2, 2, 96]"
    );
    let short = Tensor::<f32>::zeros(backend, &[2, 2, 2, 1]).unwrap();
    let expected = "the number of samples a channel is 1; it must be at least 2 and below 2^31";
    assert_eq!(run(&short, &[2, 3]).unwrap_err(), expected);
    assert_eq!(run(&data, &[2, 3]).unwrap(), image);
}

/// More elements than memory, or than can be counted.
fn memory(backend: &Backend) {
    let (geometry, options) = good();
    let plan = DasPlan::<f32>::new(backend, &geometry, &options).unwrap();
    let fits = Array4::<f32>::ones((2, 2, 2, 96));
    let image = plan.run(fits.view()).unwrap();
    let frame = Array4::<f32>::ones((1, 2, 2, 96));
    for frames in [1_usize << 44, 1 << 53] {
        // The data are one frame broadcast; the image would have to be there in full.
        let endless = frame.broadcast((frames, 2, 2, 96)).unwrap();
        let error = plan.run(endless).unwrap_err();
        let Error::OutOfMemory { needed_bytes, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(needed_bytes, 12 * frames as u64);
        let text = error.to_string();
        let start = format!("the reconstructed image needs {needed_bytes} bytes; ");
        assert!(text.starts_with(&start) && text.ends_with(" available"), "{text}");
        assert_eq!(plan.run(fits.view()).unwrap(), image);
    }
    // 2⁵³ frames of 2¹¹ voxels: 2⁶⁴ sums.
    let voxels = 1 << 11;
    let mut many = geometry;
    many.voxel_positions = ArrayD::zeros(IxDyn(&[voxels, 3]));
    many.transmit_offsets = ArrayD::zeros(IxDyn(&[2, voxels]));
    many.transmit_weights = ArrayD::zeros(IxDyn(&[2, voxels]));
    let plan = DasPlan::<f32>::new(backend, &many, &options).unwrap();
    let error = plan.run(frame.broadcast((1 << 53, 2, 2, 96)).unwrap()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OutOfMemory {
                needed_bytes: u64::MAX,
                ..
            }
        ),
        "{error}"
    );
    plan.run(fits.view()).unwrap();
}

/// A plan, its data, its output and its stream have to be in one place.
#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn gpu_wrong_backend() {
    let (cpu, gpu) = (cpu(), gpu());
    let (geometry, options) = good();
    let plan = DasPlan::<f32>::new(&gpu, &geometry, &options).unwrap();
    let data = Array4::<f32>::ones((2, 2, 2, 96));
    let image = plan.run(data.view()).unwrap();
    let try_on = |data_on: &Backend, out_on: &Backend, stream_on: &Backend| {
        let data = Tensor::from_array(data_on, &data).unwrap();
        let mut out = Tensor::zeros(out_on, &[2, 3]).unwrap();
        plan.run_into(&data, &mut out, &stream_on.stream().unwrap())
            .map(|()| out.to_array().unwrap())
            .map_err(|error| error.to_string())
    };
    for (data_on, out_on, stream_on, what) in [
        (&cpu, &gpu, &gpu, "the channel data"),
        (&gpu, &cpu, &gpu, "the output"),
        (&gpu, &gpu, &cpu, "the stream"),
    ] {
        let expected = format!("{what} is on {}; expected it on {}", cpu.name(), gpu.name());
        assert_eq!(try_on(data_on, out_on, stream_on).unwrap_err(), expected);
        assert_eq!(try_on(&gpu, &gpu, &gpu).unwrap(), image);
    }
}

integration_tests::on_every_backend! {
    data: super::data;
    tensors: super::tensors;
    memory: super::memory;
}
