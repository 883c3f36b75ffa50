//! Every algorithm is right for any batch, in parts and on several streams.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::Tally;
use integration_tests::random::{between, rng};
use integration_tests::run::{algorithms, run};
use integration_tests::sample::TestSample;
use num_complex::Complex;
use warpbeam::{
    Algorithm, Autotune, Backend, ChannelLayout, DasOptions, DasPlan, Error, Interpolation, Tensor, Window,
};

const BATCHES: [usize; 6] = [1, 3, 16, 33, 64, 100];

fn with(case: &Case, algorithm: Algorithm) -> DasOptions {
    DasOptions {
        algorithm,
        ..case.options.clone()
    }
}

/// Batches, layouts, interpolations and apertures with every algorithm, against the oracle; lanes that share a voxel against
/// a thread a voxel, bit by bit.
fn any_batch<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for batch in BATCHES {
        for (index, (interpolation, layout, f_number, cosine_bound)) in [
            (Interpolation::Linear, ChannelLayout::ChannelTransmit, 0.0, None),
            (Interpolation::Nearest, ChannelLayout::TransmitChannel, 0.0, None),
            (Interpolation::Linear, ChannelLayout::TransmitChannel, 0.8, Some(0.4)),
            (Interpolation::Nearest, ChannelLayout::ChannelTransmit, 1.5, None),
            (Interpolation::Quadratic, ChannelLayout::TransmitChannel, 0.0, Some(0.3)),
            (Interpolation::Cubic, ChannelLayout::ChannelTransmit, 0.9, None),
            (Interpolation::Lanczos3, ChannelLayout::ChannelTransmit, 0.0, None),
        ]
        .into_iter()
        .enumerate()
        {
            let case = Case {
                batch,
                channels: 21,
                grid: vec![9, 13],
                elements: Elements::Convex,
                cosine_bound,
                longest_list: (index % 3 == 2).then_some(5),
                has_channel_weights: index % 2 == 1,
                options: DasOptions {
                    layout,
                    interpolation,
                    phase_per_sample: 1.7,
                    phase_offsets: (0..3).map(|_| between(&mut rng, -1e3, 1e3)).collect(),
                    f_number,
                    window: Window::Tukey { taper: 0.3 },
                    ..DasOptions::default()
                },
                ..Case::default()
            };
            let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
            let data = case.data::<T>(&mut rng);
            let expected = terms.expected(&data);
            let mut images = Vec::new();
            for algorithm in algorithms::<T>(backend, interpolation) {
                let image = run(backend, &geometry, &with(&case, algorithm), &data);
                let mut tally = Tally::default();
                tally.add::<T>(&image, &terms, &expected);
                let what = format!("{algorithm:?}, {}", case.describe());
                tally.assert_within_bound::<T>(&what, &with(&case, algorithm));
                images.push((algorithm, image));
            }
            let image = |wanted| images.iter().find(|(algorithm, _)| *algorithm == wanted);
            if let (Some((_, batch)), Some((_, voxel))) = (image(Algorithm::Batch), image(Algorithm::Voxel)) {
                assert_same_bits(&case.describe(), batch, voxel);
            }
        }
    }
}

fn wide_case() -> Case {
    Case {
        batch: 150,
        grid: vec![150],
        options: DasOptions {
            phase_per_sample: 0.4,
            ..DasOptions::default()
        },
        ..Case::default()
    }
}

/// Room for a part of the copy, for one vector of it, and for nothing.
fn little_room(backend: &Backend) {
    type T = Complex<half::f16>;
    let mut rng = rng();
    let case = wide_case();
    let geometry = case.draw(&mut rng);
    let data = case.data::<T>(&mut rng);
    let expected = run(backend, &geometry, &with(&case, Algorithm::Voxel), &data);
    let vector_bytes = (case.transmits * (case.channels * case.samples + 2) * 16) as u64;
    for bytes in [17 * vector_bytes, 3 * vector_bytes / 2, vector_bytes / 2] {
        let options = DasOptions {
            memory_limit_bytes: Some(bytes),
            ..with(&case, Algorithm::Batch)
        };
        let image = run(backend, &geometry, &options, &data);
        assert_same_bits(&format!("{bytes} bytes"), &image, &expected);
    }
}

/// One plan on two streams: neither run sees the other's samples.
fn streams_take_turns(backend: &Backend) {
    type T = Complex<f32>;
    let mut rng = rng();
    let case = wide_case();
    let geometry = case.draw(&mut rng);
    let plan = DasPlan::<T>::new(backend, &geometry, &with(&case, Algorithm::Batch)).expect("a good plan");
    plan.reserve(case.batch, case.samples).expect("room for the copy");
    let streams = [0; 2].map(|_| backend.stream().expect("a stream"));
    let data: Vec<_> = (0..6).map(|_| case.data::<T>(&mut rng)).collect();
    let tensors: Vec<_> = data
        .iter()
        .map(|data| Tensor::from_array(backend, data).expect("room for the data"))
        .collect();
    let mut images: Vec<_> = data
        .iter()
        .map(|_| Tensor::zeros(backend, &case.output_shape()).expect("room for the image"))
        .collect();
    for (index, (data, image)) in tensors.iter().zip(&mut images).enumerate() {
        plan.run_into(data, image, &streams[index % 2])
            .expect("the data fit the plan");
    }
    for (data, image) in data.iter().zip(&images) {
        let alone = plan.run(data.view()).expect("the data fit the plan");
        assert_same_bits("a stream", &image.to_array().expect("room for the image"), &alone);
    }
}

/// What was measured to be fastest gives the image of one of the algorithms, with the first run and with later ones.
fn measured<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = Case {
        batch: 40,
        grid: vec![8, 8, 16],
        ..Case::default()
    };
    let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
    let data = case.data::<T>(&mut rng);
    let options = DasOptions {
        autotune: Autotune::Measure,
        ..case.options.clone()
    };
    let plan = DasPlan::<T>::new(backend, &geometry, &options).expect("a good plan");
    let stream = backend.stream().expect("a stream");
    let tensor = Tensor::from_array(backend, &data).expect("room for the data");
    let timings = plan.time(&tensor, &stream).expect("the data fit the plan");
    println!("{timings:?}");
    assert!(timings.is_sorted_by_key(|timing| timing.time) && !timings.is_empty());
    let expected = terms.expected(&data);
    let mut images = Vec::new();
    for _ in 0..2 {
        let mut image = Tensor::zeros(backend, &case.output_shape()).expect("room for the image");
        plan.run_into(&tensor, &mut image, &stream)
            .expect("the data fit the plan");
        let image = image.to_array().expect("room for the image");
        let mut tally = Tally::default();
        tally.add::<T>(&image, &terms, &expected);
        // Halves may have gone through matrix instructions.
        tally.assert_within_bound::<T>(&case.describe(), &with(&case, Algorithm::Distinct));
        images.push(image);
    }
    assert_same_bits("the second run", &images[1], &images[0]);
}

/// Double precision is refused, and told where to go.
fn double_precision_has_no_batch(backend: &Backend) {
    let case = wide_case();
    let geometry = case.draw(&mut rng());
    let refused = DasPlan::<Complex<f64>>::new(backend, &geometry, &with(&case, Algorithm::Batch));
    let error = refused.err().expect("an error");
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("Algorithm::Voxel"), "{error}");
    for algorithm in [Algorithm::Auto, Algorithm::Voxel, Algorithm::Frame] {
        DasPlan::<f64>::new(backend, &geometry, &with(&case, algorithm)).expect("a plan");
    }
}

mod batches {
    use half::f16;
    use num_complex::Complex;
    integration_tests::on_every_backend! {
        i16: super::super::any_batch::<i16>;
        f16: super::super::any_batch::<f16>;
        f32: super::super::any_batch::<f32>;
        f64: super::super::any_batch::<f64>;
        complex_i16: super::super::any_batch::<Complex<i16>>;
        complex_f16: super::super::any_batch::<Complex<f16>>;
        complex_f32: super::super::any_batch::<Complex<f32>>;
        complex_f64: super::super::any_batch::<Complex<f64>>;
    }
}

integration_tests::on_every_backend! {
    measured_f16: super::measured::<half::f16>;
    measured_complex_f32: super::measured::<Complex<f32>>;
    little_room: super::little_room;
    streams_take_turns: super::streams_take_turns;
    double_precision_has_no_batch: super::double_precision_has_no_batch;
}
