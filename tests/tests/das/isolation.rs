//! What may influence a voxel: the samples that it uses, and nothing that was in memory before.

use half::f16;
use integration_tests::bits::assert_same_bits;
use integration_tests::case::{Case, Elements};
use integration_tests::random::rng;
use integration_tests::run::{algorithms, run, run_into};
use integration_tests::sample::TestSample;
use num_complex::Complex;
use warpbeam::{Algorithm, Backend, ChannelLayout, DasOptions, DasPlan, Interpolation, Tensor, Window};

/// NaN in one sample of one frame reaches exactly the voxels of that frame that use the sample, with every algorithm.
fn one_nan<T: TestSample>(backend: &Backend) {
    for algorithm in algorithms::<T>(backend, Interpolation::Linear) {
        one_nan_with::<T>(backend, algorithm);
    }
}

fn one_nan_with<T: TestSample>(backend: &Backend, algorithm: Algorithm) {
    let mut rng = rng();
    let nan = T::nan().expect("a floating type");
    for (interpolation, layout) in [
        (Interpolation::Linear, ChannelLayout::ChannelTransmit),
        (Interpolation::Linear, ChannelLayout::TransmitChannel),
        (Interpolation::Nearest, ChannelLayout::ChannelTransmit),
        (Interpolation::Quadratic, ChannelLayout::TransmitChannel),
        (Interpolation::Cubic, ChannelLayout::ChannelTransmit),
        (Interpolation::Lanczos3, ChannelLayout::ChannelTransmit),
    ] {
        if !algorithms::<T>(backend, interpolation).contains(&algorithm) {
            continue;
        }
        let options = DasOptions {
            algorithm,
            interpolation,
            layout,
            f_number: 0.8,
            window: Window::Hann,
            ..DasOptions::default()
        };
        let case = Case {
            elements: Elements::Free,
            cosine_bound: Some(0.3),
            batch: 9,
            options,
            ..Case::default()
        };
        let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
        for _ in 0..4 {
            let hit = &terms.list[rng.usize(..terms.list.len())];
            let (b, (k, _)) = (rng.usize(..case.batch), hit.taps[0]);
            let mut data = case.data::<T>(&mut rng);
            match layout {
                ChannelLayout::ChannelTransmit => data[[b, hit.channel, hit.transmit, k]] = nan,
                ChannelLayout::TransmitChannel => data[[b, hit.transmit, hit.channel, k]] = nan,
            }
            let mut uses = vec![false; case.n_voxels()];
            for term in &terms.list {
                let reads = term.taps.iter().any(|(sample, _)| *sample == k);
                uses[term.voxel] |= reads && (term.channel, term.transmit) == (hit.channel, hit.transmit);
            }
            let image = run(backend, &geometry, &case.options, &data);
            for (index, sum) in image.iter().enumerate() {
                let (frame, n) = (index / case.n_voxels(), index % case.n_voxels());
                if !terms.ambiguous[n] {
                    let is_nan = T::sum_value(*sum).is_nan();
                    assert_eq!(
                        is_nan,
                        frame == b && uses[n],
                        "frame {frame} voxel {n}; NaN in frame {b}"
                    );
                }
            }
        }
    }
}

/// What an output held before does not matter, nor how often a plan ran.
fn stale_output<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for channels in [128, 141, 256] {
        let case = Case {
            channels,
            transmits: 2,
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
        let image = plan.run(data.view()).unwrap();
        for stale in [7.0, f64::NAN] {
            for _ in 0..2 {
                assert_same_bits("stale output", &run_into(backend, &plan, &data, &image, stale), &image);
            }
        }
    }
}

/// A plan keeps nothing of the data that it saw.
fn plans_keep_nothing<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = Case::default();
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let (first, second) = (case.data::<T>(&mut rng), case.data::<T>(&mut rng));
    let one_frame = second.slice(ndarray::s![..1, .., .., ..]).to_owned();
    let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
    plan.run(first.view()).unwrap();
    assert_same_bits(
        "second",
        &plan.run(second.view()).unwrap(),
        &run(backend, &geometry, &case.options, &second),
    );
    assert_same_bits(
        "fewer",
        &plan.run(one_frame.view()).unwrap(),
        &run(backend, &geometry, &case.options, &one_frame),
    );
    assert_same_bits(
        "more",
        &plan.run(first.view()).unwrap(),
        &run(backend, &geometry, &case.options, &first),
    );
}

/// Two plans at once, each with a stream of its own, do not disturb each other.
fn interleaved_plans<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let mut sides = Vec::new();
    for channels in [40, 23] {
        let case = Case {
            channels,
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
        let image = plan.run(data.view()).unwrap();
        let data = Tensor::from_array(backend, &data).unwrap();
        let out = Tensor::zeros(backend, image.shape()).unwrap();
        sides.push((plan, image, data, out, backend.stream().unwrap()));
    }
    for _ in 0..50 {
        for (plan, _, data, out, stream) in &mut sides {
            plan.run_into(data, out, stream).unwrap();
        }
        for (_, image, _, out, stream) in &sides {
            stream.synchronize().unwrap();
            assert_same_bits("interleaved", &out.to_array().unwrap(), image);
        }
    }
}

/// One plan serves several threads.
fn threads<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = Case {
        batch: 11,
        ..Case::default()
    };
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
    let work: Vec<_> = (0..4).map(|_| case.data::<T>(&mut rng)).collect();
    let images: Vec<_> = work.iter().map(|data| plan.run(data.view()).unwrap()).collect();
    std::thread::scope(|scope| {
        for (data, image) in work.iter().zip(&images) {
            let plan = &plan;
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_same_bits("from a thread", &plan.run(data.view()).unwrap(), image);
                }
            });
        }
    });
}

integration_tests::on_every_backend! {
    one_nan_f16: super::one_nan::<f16>;
    one_nan_f32: super::one_nan::<f32>;
    one_nan_f64: super::one_nan::<f64>;
    one_nan_complex_f16: super::one_nan::<Complex<f16>>;
    one_nan_complex_f32: super::one_nan::<Complex<f32>>;
    one_nan_complex_f64: super::one_nan::<Complex<f64>>;
}

integration_tests::on_every_backend_and_type! {
    stale_output;
    plans_keep_nothing;
    interleaved_plans;
    threads;
}
