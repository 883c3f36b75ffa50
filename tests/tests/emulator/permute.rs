//! The permutation to batch-inner: every value in its place, padding 0, traffic near what the bytes need.

use cuda_std::emulator::{Buffer, Instruction, Report, launch};
use cuda_std::half::F16;
use cuda_std::{Element, Launch};
use half::f16;
use integration_tests::random::rng;
use kernels::das::batch::{Rows, per_vector};
use kernels::das::permute::{Instances, Permute, THREADS, sample_tiles, shared_bytes, tile_items, tile_samples};
use kernels::das::recorded::Recorded;
use kernels::das::sample::Sample;
use kernels::das::scale::{self, Clear, Peak, Plane, Scaling, Source, half_exponent};
use ndarray::{Array4, ArrayViewD, Axis};
use num_complex::Complex;

/// Dense data (batch, channel, transmit, sample).
pub(crate) fn dense<S: Element>(
    input: &Buffer<S>,
    [n_batch, n_channels, n_transmits, n_samples]: [usize; 4],
) -> Recorded<S> {
    let recorded = Recorded {
        input: input.global(),
        origin: 0,
        batch_stride: (n_channels * n_transmits * n_samples) as i64,
        channel_stride: (n_transmits * n_samples) as i64,
        transmit_stride: n_samples as i64,
        sample_stride: 1,
        n_batch: n_batch as u32,
        n_channels: n_channels as u32,
        n_samples: n_samples as u32,
        is_paired: 0,
    };
    // The emulator's buffers begin with a whole word.
    Recorded {
        is_paired: recorded.has_pairs(0).into(),
        ..recorded
    }
}

/// A view (batch, channel, transmit, sample) of any strides, permuted into memory full of `stale`; the launch's report.
pub(crate) fn batch_inner<S: Instances<D>, D: Sample>(
    view: &ArrayViewD<'_, S>,
    stale: D,
    rows: Rows,
    scaling: Scaling,
) -> (Buffer<D>, Report) {
    let &[n_batch, n_channels, n_transmits, n_samples] = view.shape() else {
        panic!("channel data have four axes");
    };
    // The view's memory, from its lowest element on.
    let mut lowest = view.clone();
    for axis in 0..4 {
        if lowest.strides()[axis] < 0 {
            lowest.invert_axis(Axis(axis));
        }
    }
    let memory: Vec<S> = {
        let mut order: Vec<usize> = (0..4).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(lowest.strides()[axis]));
        lowest.permuted_axes(order).iter().copied().collect()
    };
    assert_eq!(memory.len(), view.len());
    let stride = |axis: usize| view.strides()[axis] as i64;
    let origin = (0..4)
        .map(|axis| {
            if stride(axis) < 0 {
                -stride(axis) * (view.shape()[axis] as i64 - 1)
            } else {
                0
            }
        })
        .sum();
    let pitch = n_batch.next_multiple_of(per_vector::<D>());
    let input = Buffer::new(&memory);
    let rows_of_transmit = rows.of_transmit(n_channels as u32, n_samples as u32) as usize;
    let output = Buffer::filled(stale, n_transmits * rows_of_transmit * pitch);
    let recorded = Recorded {
        input: input.global(),
        origin,
        batch_stride: stride(0),
        channel_stride: stride(1),
        transmit_stride: stride(2),
        sample_stride: stride(3),
        n_batch: n_batch as u32,
        n_channels: n_channels as u32,
        n_samples: n_samples as u32,
        is_paired: 0,
    };
    // The emulator's buffers begin with a whole word.
    let recorded = Recorded {
        is_paired: recorded.has_pairs(0).into(),
        ..recorded
    };
    let parameters = Permute::<S, D> {
        data: recorded,
        output: output.global_mut(),
        scaling,
        rows,
        batch_pitch: pitch as u32,
        n_planes: 1,
        plane: Plane::High,
    };
    let tiles = n_transmits as u32 * sample_tiles::<D>(rows, n_channels as u32, n_samples as u32);
    let shape = Launch {
        grid: [tiles, (pitch as u32).div_ceil(tile_items::<D>()), 1],
        threads: THREADS,
        shared_bytes: shared_bytes::<D>(),
    };
    let kernel = S::kernel().expect("a kernel for this type");
    let report = launch(&kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    (output, report)
}

/// A full range of values, some dimensions below, some beyond a tile.
fn check<S, D>(random: impl Fn(&mut fastrand::Rng) -> S, store: impl Fn(S) -> D)
where
    S: Instances<D>,
    D: Sample + PartialEq + std::fmt::Debug,
{
    let mut rng = rng();
    let (items, samples) = (tile_items::<D>() as usize, tile_samples::<D>() as usize);
    for (n_batch, n_samples, zeros) in [
        (1, 5, Rows::INSIDE),
        (3, 40, Rows::ANY),
        (items, samples, Rows::INSIDE),
        (items + 5, samples + 1, Rows::ANY),
    ] {
        let mut data = Array4::from_shape_simple_fn((n_batch, 3, 2, n_samples), || random(&mut rng));
        for layout in 0..3 {
            let view = match layout {
                0 => data.view(),
                // Channels after transmits.
                1 => data.view().permuted_axes([0, 2, 1, 3]),
                _ => {
                    data.invert_axis(Axis(0));
                    data.invert_axis(Axis(3));
                    data.view().permuted_axes([3, 1, 2, 0])
                }
            };
            let (output, report) =
                batch_inner::<S, D>(&view.view().into_dyn(), store(random(&mut rng)), zeros, Scaling::none());
            let output = output.to_vec();
            let (n_batch, n_channels, n_transmits, n_samples) = view.dim();
            let pitch = n_batch.next_multiple_of(per_vector::<D>());
            let margin = zeros.margin as usize;
            let rows = margin + n_channels * (n_samples + margin) + zeros.silence as usize;
            for (index, &got) in output.iter().enumerate() {
                let (b, row) = (index % pitch, index / pitch);
                let (q, row) = (row / rows, row % rows);
                let place = row
                    .checked_sub(margin)
                    .map(|row| (row / (n_samples + margin), row % (n_samples + margin)));
                let (m, k) = place.unwrap_or((n_channels, 0));
                let is_sample = b < n_batch && m < n_channels && k < n_samples;
                let expected = if is_sample { store(view[[b, m, q, k]]) } else { D::ZERO };
                assert_eq!(got, expected, "batch {b} channel {m} transmit {q} sample {k}");
            }
            assert_eq!(output.len(), n_transmits * rows * pitch);
            for instruction in [Instruction::SharedLoad, Instruction::SharedStore] {
                assert_eq!(report.traffic(instruction).bank_conflicts, 0, "{instruction:?}");
            }
        }
    }
}

/// Whole tiles in the usual order: the sectors that the bytes need and no more.
fn assert_coalesced<S: Instances<D>, D: Sample>() {
    let view = Array4::from_elem(
        (tile_items::<D>() as usize, 2, 2, 2 * tile_samples::<D>() as usize),
        S::ZERO,
    );
    let (_, report) = batch_inner::<S, D>(&view.view().into_dyn(), D::ZERO, Rows::INSIDE, Scaling::none());
    for instruction in [Instruction::GlobalLoad, Instruction::GlobalStore] {
        let traffic = report.traffic(instruction);
        println!(
            "{}: {instruction:?} {:.1} bytes a sector, {:.1} sectors a request",
            report.kernel,
            traffic.bytes_per_sector(),
            traffic.sectors_per_request()
        );
        assert!(traffic.bytes_per_sector() >= 32.0);
    }
}

macro_rules! on_every_pair {
    ($($name:ident: $input:ty => $output:ty, $random:expr, $store:expr;)*) => { $(
        #[test]
        fn $name() {
            check::<$input, $output>($random, $store);
            assert_coalesced::<$input, $output>();
        }
    )* };
}

fn half(value: f32) -> F16 {
    F16(f16::from_f32(value).to_bits())
}

on_every_pair! {
    i16: i16 => i16, |rng| rng.i16(1..), |sample| sample;
    f16: F16 => F16, |rng| F16(rng.u16(1..0x7c00)), |sample| sample;
    f32: f32 => f32, |rng| rng.f32() + 0.1, |sample| sample;
    complex_i16: Complex<i16> => Complex<i16>, |rng| Complex::new(rng.i16(1..), rng.i16(1..)), |sample| sample;
    complex_f16: Complex<F16> => Complex<F16>, |rng| Complex::new(F16(rng.u16(1..0x7c00)), F16(3)), |sample| sample;
    complex_f32: Complex<f32> => Complex<f32>, |rng| Complex::new(rng.f32(), rng.f32()), |sample| sample;
    f32_to_f16: f32 => F16, |rng| rng.f32() * 1e5, half;
    complex_f32_to_f16: Complex<f32> => Complex<F16>, |rng| Complex::new(rng.f32(), -rng.f32()), |sample: Complex<f32>| {
        Complex::new(half(sample.re), half(sample.im))
    };
}

/// Peaks and scales of batch items of any magnitude, and marks where something is not finite.
#[test]
fn halves_are_scaled_item_by_item() {
    let mut rng = rng();
    let magnitudes = [1.0, 1e-12, 1e9, 0.0, 3e38, 1e-44, 2e-38, 7.0];
    let n_batch = magnitudes.len();
    let (n_channels, n_samples) = (3, 37);
    let mut data = Array4::from_shape_fn((n_batch, n_channels, 1, n_samples), |(b, ..)| {
        (rng.f32() * 2.0 - 1.0) * magnitudes[b] as f32
    });
    data[[7, 1, 0, 5]] = f32::NAN;
    data[[6, 2, 0, 6]] = f32::NEG_INFINITY;
    let flat = Buffer::new(data.as_slice().expect("contiguous"));
    let (peaks, marks) = (Buffer::filled(77_u32, n_batch), Buffer::filled(99_u32, n_batch));
    let inverses = Buffer::filled(f32::NAN, n_batch);
    let one_each = |grid| Launch {
        grid,
        threads: scale::THREADS,
        shared_bytes: 0,
    };
    let clear = Clear {
        peaks: peaks.global_mut(),
        marks: marks.global_mut(),
        n_batch: n_batch as u32,
    };
    launch(&scale::das_clear, one_each([1, 1, 1]), clear).unwrap_or_else(|fault| panic!("{fault}"));
    let peak = Peak {
        samples: flat.global(),
        peaks: peaks.global_mut(),
        n_numbers: (n_channels * n_samples) as u64,
        n_blocks: 2,
    };
    launch(&scale::das_peak, one_each([n_batch as u32, 2, 1]), peak).unwrap_or_else(|fault| panic!("{fault}"));
    let scaling = Scaling {
        peaks: peaks.global(),
        inverses: inverses.global_mut(),
        marks: marks.global_mut(),
        first_item: 0,
        exponent: 0,
        source: Source::Peak,
        is_marking: 1,
    };
    let (output, _) = batch_inner::<f32, F16>(&data.view().into_dyn(), F16(0x3c00), Rows::INSIDE, scaling);
    let (output, inverses) = (output.to_vec(), inverses.to_vec());
    for (b, item) in data.outer_iter().enumerate() {
        let peak = item
            .iter()
            .filter(|value| value.is_finite())
            .fold(0.0_f32, |peak, value| peak.max(value.abs()));
        assert_eq!(f32::from_bits(peaks.to_vec()[b]).to_bits(), peak.to_bits(), "item {b}");
        assert_eq!(
            inverses[b].to_bits(),
            2.0_f32.powi(-half_exponent(peak)).to_bits(),
            "item {b}"
        );
        let pitch = n_batch.next_multiple_of(per_vector::<F16>());
        for (index, value) in item.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let got = f16::from_bits(output[index * pitch + b].0);
            let back = got.to_f64() * f64::from(inverses[b]);
            let error = (back - f64::from(*value)).abs();
            assert!(
                error <= f64::from(peak) * 2.0_f64.powi(-11),
                "item {b}: {value} became {back}"
            );
        }
    }
    assert_eq!(marks.to_vec(), [0, 0, 0, 0, 0, 0, 1, 1]);
}

/// One channel's samples in rows of two planes, converted: each word of a plane holds the halves that it should.
fn rows_hold_halves<S, D>(data: &[S], planes: [&[[u32; 2]]; 2])
where
    S: kernels::das::permute_rows::Instances<D>,
    D: kernels::das::permute_rows::InRows,
{
    use kernels::das::permute_rows::{PermuteRows, THREADS, sample_tiles, shared_bytes};
    let n = data.len();
    let input = Buffer::new(data);
    // Each row has a plane of two batch items, and another.
    let output = Buffer::filled([u32::MAX; 2], 4 * planes[0].len());
    let parameters = PermuteRows::<S> {
        data: dense(&input, [1, 1, 1, n]),
        output: output.global_mut(),
        scaling: Scaling::none(),
        batch_pitch: 2,
        n_planes: 2,
        plane: Plane::High,
    };
    let shape = Launch {
        grid: [sample_tiles::<D>(n as u32), 1, 1],
        threads: THREADS,
        shared_bytes: shared_bytes::<D>(),
    };
    for plane in [Plane::High, Plane::Low] {
        let parameters = PermuteRows { plane, ..parameters };
        launch(&S::kernel(), shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let written = output.to_vec();
    for (index, words) in planes.into_iter().enumerate() {
        let first: Vec<_> = written.iter().skip(2 * index).step_by(4).copied().collect();
        assert_eq!(first, words, "plane {index}");
    }
}

#[test]
fn rows_of_converted_samples() {
    let word = |low: f32, high: f32| u32::from(half(low).0) | u32::from(half(high).0) << 16;
    // 4097 is between two halves.
    let [high, low] = [[word(1.0, 2.0), word(4096.0, -8.0)], [word(0.0, 0.0), word(1.0, 0.0)]];
    rows_hold_halves::<i16, F16>(&[1, 2, 4097, -8], [&[high], &[low]]);
    rows_hold_halves::<f32, F16>(&[1.0, 2.0, 4097.0, -8.0], [&[high], &[low]]);
    let [high, low] = [[word(1.0, 4096.0), word(2.0, 4.0)], [word(0.0, 1.0), word(0.0, 0.0)]];
    let samples = [Complex::new(1, 2), Complex::new(4097, 4)];
    rows_hold_halves::<Complex<i16>, Complex<F16>>(&samples, [&[high], &[low]]);
    let samples = samples.map(|sample| Complex::new(f32::from(sample.re), f32::from(sample.im)));
    rows_hold_halves::<Complex<f32>, Complex<F16>>(&samples, [&[high], &[low]]);
}
