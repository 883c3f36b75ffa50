//! The sum is one sum however the work is cut, ordered, scaled or laid out.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::{assert_within, das_bound, relative_error};
use integration_tests::random::{between, rng};
use integration_tests::run::{algorithms, run};
use integration_tests::sample::{Precision, TestSample};
use ndarray::{Array4, ArrayD, Axis, concatenate};
use num_complex::{Complex, Complex64};
use warpbeam::{Algorithm, Backend, ChannelLayout, DasGeometry, DasOptions, DasPlan, Error, Interpolation, SumOver};

fn case<T: TestSample>() -> Case {
    let phase_per_sample = if T::IS_COMPLEX { 1.1 } else { 0.0 };
    let options = DasOptions {
        phase_per_sample,
        f_number: 0.6,
        ..DasOptions::default()
    };
    Case {
        elements: Elements::Convex,
        batch: 12,
        channels: 19,
        grid: vec![1000],
        options,
        ..Case::default()
    }
}

/// The part of a geometry on some of the indices along one axis of each of its arrays.
fn select(geometry: &DasGeometry, what: Part, indices: &[usize]) -> DasGeometry {
    let mut part = geometry.clone();
    match what {
        Part::Voxels => {
            part.voxel_positions = geometry.voxel_positions.select(Axis(0), indices);
            part.transmit_offsets = geometry.transmit_offsets.select(Axis(1), indices);
            part.transmit_weights = geometry.transmit_weights.select(Axis(1), indices);
        }
        Part::Transmits => {
            part.transmit_offsets = geometry.transmit_offsets.select(Axis(0), indices);
            part.transmit_weights = geometry.transmit_weights.select(Axis(0), indices);
        }
        Part::Channels => {
            part.element_positions = geometry.element_positions.select(Axis(0), indices);
            part.element_normals = geometry
                .element_normals
                .as_ref()
                .map(|normals| normals.select(Axis(0), indices));
        }
    }
    part
}

#[derive(Clone, Copy)]
enum Part {
    Voxels,
    Transmits,
    Channels,
}

fn chunks(count: usize, size: usize) -> Vec<Vec<usize>> {
    (0..count)
        .collect::<Vec<_>>()
        .chunks(size)
        .map(<[usize]>::to_vec)
        .collect()
}

/// A plan for every chunk of the voxels gives the bits of one plan for all.
fn voxel_chunks<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = case::<T>();
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let data = case.data::<T>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    for size in [7, 256, 999, 1001] {
        let parts: Vec<ArrayD<T::Sum>> = chunks(1000, size)
            .iter()
            .map(|voxels| {
                let plan = DasPlan::<T>::new(backend, &select(&geometry, Part::Voxels, voxels), &case.options).unwrap();
                plan.run(data.view()).unwrap()
            })
            .collect();
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        assert_same_bits(
            &format!("chunks of {size}"),
            &concatenate(Axis(1), &views).unwrap(),
            &image,
        );
    }
    for n in [0, 1, 499, 999] {
        let alone = run(backend, &select(&geometry, Part::Voxels, &[n]), &case.options, &data);
        assert_same_bits("one voxel", &alone, &image.select(Axis(1), &[n]));
    }
    let mut order: Vec<usize> = (0..1000).collect();
    rng.shuffle(&mut order);
    let shuffled = run(backend, &select(&geometry, Part::Voxels, &order), &case.options, &data);
    assert_same_bits("another order", &shuffled, &image.select(Axis(1), &order));
}

/// Frames one by one, or some of them, give the bits of all at once, with every algorithm; `Auto` takes different ones for
/// different numbers of frames.
fn batch_chunks<T: TestSample>(backend: &Backend) {
    let algorithms = algorithms::<T>(backend, Interpolation::Linear);
    let fixed = algorithms.iter().filter(|algorithm| **algorithm != Algorithm::Auto);
    for algorithm in if backend.is_cuda() {
        fixed.collect()
    } else {
        vec![&Algorithm::Auto]
    } {
        batch_chunks_with::<T>(backend, *algorithm);
    }
}

fn batch_chunks_with<T: TestSample>(backend: &Backend, algorithm: Algorithm) {
    let mut rng = rng();
    let mut case = Case {
        batch: 33,
        grid: vec![60],
        ..case::<T>()
    };
    case.options.algorithm = algorithm;
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let data = case.data::<T>(&mut rng);
    let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
    let image = plan.run(data.view()).unwrap();
    for size in [1, 7, 8, 16, 32] {
        let parts: Vec<ArrayD<T::Sum>> = data
            .axis_chunks_iter(Axis(0), size)
            .map(|frames| plan.run(frames).unwrap())
            .collect();
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        assert_same_bits(
            &format!("{size} frames at a time"),
            &concatenate(Axis(0), &views).unwrap(),
            &image,
        );
    }
}

/// A plan with little memory cuts its work itself.
fn memory_limits<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for layout in [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel] {
        let mut case = Case {
            batch: 40,
            grid: vec![20, 15],
            ..case::<T>()
        };
        case.options.layout = layout;
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let image = run(backend, &geometry, &case.options, &data);
        let frame_bytes = (size_of::<T>() * case.channels * case.transmits * case.samples) as u64;
        let everything = 40 * frame_bytes + (40 * 300 * size_of::<T::Sum>()) as u64;
        for limit in [everything / 2, 17 * frame_bytes, 2 * frame_bytes, frame_bytes + 4096] {
            let options = DasOptions {
                memory_limit_bytes: Some(limit),
                ..case.options.clone()
            };
            let plan = DasPlan::<T>::new(backend, &geometry, &options).unwrap();
            let limited = plan.run(data.view()).unwrap();
            assert_same_bits(&format!("{limit} of {everything} bytes"), &limited, &image);
            // What is cut must not depend on the strides either.
            let mut transposed = Array4::from_elem(
                (case.samples, data.shape()[2], data.shape()[1], case.batch),
                data[[0; 4]],
            );
            transposed.assign(&data.view().reversed_axes());
            assert_same_bits(
                "transposed",
                &plan.run(transposed.view().reversed_axes()).unwrap(),
                &image,
            );
        }
    }
}

/// With every algorithm, on grids and free points, however little memory there is: geometry that stays on the device and that is
/// brought there, parts of the batch and parts of the voxels.
fn voxel_memory_limits<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for (grid, sum_over) in [
        (vec![31, 33], SumOver::ChannelsAndTransmits),
        (vec![9, 11, 10], SumOver::Transmits),
        (vec![1000], SumOver::Transmits),
    ] {
        // Little data, many results: these are what is cut.
        let mut case = Case {
            batch: 9,
            channels: 5,
            transmits: 2,
            samples: 40,
            grid,
            ..case::<T>()
        };
        case.options.sum_over = sum_over;
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        for algorithm in algorithms::<T>(backend, Interpolation::Linear) {
            let options = DasOptions {
                algorithm,
                ..case.options.clone()
            };
            let plan = DasPlan::<T>::new(backend, &geometry, &options).unwrap();
            let image = plan.run(data.view()).unwrap();
            let memory = plan.memory(case.batch, case.samples).unwrap();
            let everything = memory.geometry_bytes + memory.data_bytes + memory.copy_bytes + memory.output_bytes;
            let mut runs = 0;
            for limit in (1..=12).map(|part| part * everything / 12) {
                let options = DasOptions {
                    memory_limit_bytes: Some(limit),
                    ..options.clone()
                };
                let plan = DasPlan::<T>::new(backend, &geometry, &options).unwrap();
                match plan.run(data.view()) {
                    Ok(limited) => {
                        runs += 1;
                        let what = format!(
                            "{} {algorithm:?} {:?} {limit} of {everything} bytes",
                            T::NAME,
                            case.grid
                        );
                        assert_same_bits(&what, &limited, &image);
                    }
                    Err(Error::OutOfMemory { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert!(runs >= 6, "{runs} runs with {algorithm:?} had room");
        }
    }
}

/// Sums over parts of the transmits add up to 1e-6.
fn transmit_chunks<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = Case {
        transmits: 11,
        ..case::<T>()
    };
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let data = case.data::<T>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    for size in [1, 3, 11] {
        let mut sum = vec![Complex64::ZERO; image.len()];
        for transmits in chunks(11, size) {
            let part = select(&geometry, Part::Transmits, &transmits);
            let some = data.select(Axis(2), &transmits);
            let part = run(backend, &part, &case.options, &some);
            sum.iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| *sum += T::sum_value(*part));
        }
        let error = relative_error(sum.iter().copied().zip(image.iter().map(|sum| T::sum_value(*sum))));
        let bound = if T::PRECISION == Precision::Single { 1e-6 } else { 1e-14 };
        assert_within(&format!("{} transmits {size} at a time", T::NAME), error, bound);
    }
}

/// Channels and their positions in another order, and the two layouts.
fn channel_order<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = case::<T>();
    let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
    let data = case.data::<T>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    let mut order: Vec<usize> = (0..case.channels).collect();
    rng.shuffle(&mut order);
    let shuffled = run(
        backend,
        &select(&geometry, Part::Channels, &order),
        &case.options,
        &data.select(Axis(1), &order),
    );
    let values = |image: &ArrayD<T::Sum>| image.iter().map(|sum| T::sum_value(*sum)).collect::<Vec<_>>();
    let error = relative_error(values(&shuffled).into_iter().zip(values(&image)));
    assert_within(
        &format!("{} channels shuffled", T::NAME),
        error,
        das_bound::<T>(&case.options, terms.largest_delay),
    );

    let options = DasOptions {
        layout: ChannelLayout::TransmitChannel,
        ..case.options.clone()
    };
    let swapped = data
        .view()
        .permuted_axes([0, 2, 1, 3])
        .as_standard_layout()
        .into_owned();
    assert_same_bits(
        "channels trailing",
        &run(backend, &geometry, &options, &swapped),
        &image,
    );
}

/// A(x + a·y) = A(x) + a·A(y), with sums that are exact in the storage type.
fn linearity<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = case::<T>();
    let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
    let mut small = || {
        case.data::<T>(&mut rng)
            .mapv(|_| T::nearest(Complex64::new(rng.i32(-99..99).into(), rng.i32(-99..99).into())))
    };
    let (x, y) = (small(), small());
    let both = ndarray::Zip::from(&x)
        .and(&y)
        .map_collect(|x, y| T::nearest(x.value() - 3.0 * y.value()));
    let of = |data: &Array4<T>| run(backend, &geometry, &case.options, data).mapv(|sum| T::sum_value(sum));
    let expected = of(&x) - of(&y) * Complex64::new(3.0, 0.0);
    let error = relative_error(of(&both).into_iter().zip(expected));
    assert_within(
        &format!("{} linearity", T::NAME),
        error,
        das_bound::<T>(&case.options, terms.largest_delay),
    );
}

/// A phase that every voxel shares and weights that all double come out as factors.
fn factors(backend: &Backend) {
    let mut rng = rng();
    let case = case::<Complex<f64>>();
    let (mut geometry, _) = case.geometry(&mut rng, Precision::Double);
    let data = case.data::<Complex<f64>>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    geometry.transmit_weights *= 2.0;
    let phase = between(&mut rng, -3.0, 3.0);
    let options = DasOptions {
        phase_offsets: vec![phase; case.transmits],
        ..case.options.clone()
    };
    let turned = run(backend, &geometry, &options, &data);
    let factor = Complex64::from_polar(2.0, phase);
    let error = relative_error(turned.into_iter().zip(image.iter().map(|sum| factor * sum)));
    assert_within("twice the weight, one phase more", error, 1e-13);
}

integration_tests::on_every_backend! {
    factors: super::factors;
}

integration_tests::on_every_backend_and_type! {
    voxel_chunks;
    batch_chunks;
    memory_limits;
    voxel_memory_limits;
    transmit_chunks;
    channel_order;
    linearity;
}
