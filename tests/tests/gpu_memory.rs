//! What is left of a GPU's memory. A program of its own, so that no other test takes or needs memory meanwhile.

use half::f16;
use integration_tests::backends::gpu;
use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::random::rng;
use num_complex::{Complex, Complex32};
use warpbeam::{Algorithm, Backend, DasPlan, Error, Tensor};

/// What the driver may keep for itself.
const SLACK_BYTES: u64 = 64 << 20;

fn free_bytes(backend: &Backend) -> u64 {
    backend
        .available_memory_bytes()
        .expect("a GPU says how much memory is free")
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn gpu_memory() {
    let gpu = gpu();
    lifetime(&gpu);
    as_stated(&gpu);
    nearly_full(&gpu);
    lifetime(&gpu);
}

/// Made, run and dropped a thousand times, plans leave nothing behind.
fn lifetime(gpu: &Backend) {
    let mut rng = rng();
    let case = Case {
        grid: vec![32, 32, 16],
        ..Case::default()
    };
    let geometry = case.draw(&mut rng);
    let data = case.data::<Complex32>(&mut rng);
    let run = || {
        DasPlan::<Complex32>::new(gpu, &geometry, &case.options)
            .unwrap()
            .run(data.view())
            .unwrap()
    };
    let image = run();
    let before = free_bytes(gpu);
    for _ in 0..1000 {
        assert_same_bits("made again", &run(), &image);
    }
    let after = free_bytes(gpu);
    println!("{before} bytes free before 1000 plans, {after} after");
    assert!(after + SLACK_BYTES > before);
}

/// What a run takes is what the plan said beforehand, and no more than the slack besides.
fn as_stated(gpu: &Backend) {
    let mut rng = rng();
    for algorithm in [
        Algorithm::Voxel,
        Algorithm::Batch,
        Algorithm::Distinct,
        Algorithm::Window,
    ] {
        let mut case = Case {
            grid: vec![64, 64, 48],
            batch: 150,
            channels: 128,
            samples: 512,
            ..Case::default()
        };
        case.options.algorithm = algorithm;
        let geometry = case.draw(&mut rng);
        let data = case.data::<Complex<f16>>(&mut rng);
        let before = free_bytes(gpu);
        let plan = DasPlan::<Complex<f16>>::new(gpu, &geometry, &case.options).unwrap();
        let tensor = Tensor::from_array(gpu, &data).unwrap();
        let mut image = Tensor::zeros(gpu, &case.output_shape()).unwrap();
        let stream = gpu.stream().unwrap();
        plan.run_into(&tensor, &mut image, &stream).unwrap();
        stream.synchronize().unwrap();
        let taken = before - free_bytes(gpu);
        let stated = plan.memory(case.batch, case.samples).unwrap();
        let sum = stated.geometry_bytes + stated.data_bytes + stated.copy_bytes + stated.output_bytes;
        println!("{algorithm:?}: {taken} bytes taken, {sum} stated: {stated:?}");
        assert!(taken <= sum + SLACK_BYTES && sum <= taken + SLACK_BYTES);
    }
}

/// With little memory left, work is cut; more than there is, is refused; the device works on.
fn nearly_full(gpu: &Backend) {
    let mut rng = rng();
    let case = Case {
        grid: vec![64, 64, 64],
        batch: 300,
        channels: 64,
        samples: 512,
        ..Case::default()
    };
    let geometry = case.draw(&mut rng);
    let data = case.data::<Complex32>(&mut rng);
    let image = DasPlan::<Complex32>::new(gpu, &geometry, &case.options)
        .unwrap()
        .run(data.view())
        .unwrap();
    let needed = (8 * (data.len() + image.len())) as u64;

    let rest = needed / 4;
    let filler = Tensor::<u32>::zeros(gpu, &[((free_bytes(gpu) - rest) / 4) as usize]).unwrap();
    println!("{needed} bytes of data and image, {} bytes free", free_bytes(gpu));
    assert!(free_bytes(gpu) < needed / 2);
    let plan = DasPlan::<Complex32>::new(gpu, &geometry, &case.options).unwrap();
    assert_same_bits("in pieces", &plan.run(data.view()).unwrap(), &image);

    let error = Tensor::<u32>::zeros(gpu, &[1 << 36]).unwrap_err();
    let Error::OutOfMemory {
        needed_bytes,
        available_bytes: Some(available),
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert!(needed_bytes == 1 << 38 && available < needed);
    assert_same_bits("after a refusal", &plan.run(data.view()).unwrap(), &image);
    drop(filler);
    assert_same_bits("with room again", &plan.run(data.view()).unwrap(), &image);
}
