//! The permutation to columns of 64 batch items: every half in its place, padding 0, items marked, traffic what the bytes need.

use cuda_std::Launch;
use cuda_std::emulator::{Buffer, Instruction, Report, launch};
use cuda_std::half::F16;
use half::f16;
use integration_tests::random::rng;
use kernels::das::permute_columns::{
    COLUMN_ITEMS, ITEMS, Instances, PARTS, PermuteColumns, ROW_VECTORS, THREADS, sample_tiles, samples_of_column,
    shared_bytes, tile_samples,
};
use kernels::das::recorded::Recorded;
use kernels::das::scale::{Scaling, Source};
use num_complex::Complex;
use std::array;

/// A number of a sample, and what should become of it.
trait Number: Copy + Send + Sync + 'static {
    /// What the memory holds between the samples.
    const STALE: Self;
    /// Whether it may be multiplied on the way.
    const IS_SCALED: bool;

    fn random(rng: &mut fastrand::Rng) -> Self;

    /// One whose half is not finite, where there is one.
    fn out_of_range(rng: &mut fastrand::Rng) -> Self;

    /// The half nearest to it times a factor.
    fn half(self, factor: f32) -> f16;

    /// Its magnitude, 0 where it is not finite.
    fn magnitude(self) -> f32;
}

impl Number for F16 {
    const STALE: Self = Self(0x7e00);
    const IS_SCALED: bool = false;

    fn random(rng: &mut fastrand::Rng) -> Self {
        Self(rng.u16(..0x7c00) | rng.u16(..2) << 15)
    }

    fn out_of_range(rng: &mut fastrand::Rng) -> Self {
        Self(rng.u16(0x7c00..0x8000) | rng.u16(..2) << 15)
    }

    fn half(self, _: f32) -> f16 {
        f16::from_bits(self.0)
    }

    fn magnitude(self) -> f32 {
        unreachable!("never scaled")
    }
}

impl Number for i16 {
    const STALE: Self = Self::MIN;
    const IS_SCALED: bool = false;

    fn random(rng: &mut fastrand::Rng) -> Self {
        rng.i16(-Self::MAX..)
    }

    fn out_of_range(rng: &mut fastrand::Rng) -> Self {
        Self::random(rng)
    }

    fn half(self, _: f32) -> f16 {
        f16::from_f32(f32::from(self))
    }

    fn magnitude(self) -> f32 {
        unreachable!("never scaled")
    }
}

impl Number for f32 {
    const STALE: Self = Self::NAN;
    const IS_SCALED: bool = true;

    fn random(rng: &mut fastrand::Rng) -> Self {
        (rng.f32() - 0.5) * 2.0_f32.powi(rng.i32(-12..12))
    }

    fn out_of_range(rng: &mut fastrand::Rng) -> Self {
        [Self::NAN, Self::INFINITY, Self::NEG_INFINITY, 3e38][rng.usize(..4)]
    }

    fn half(self, factor: f32) -> f16 {
        f16::from_f32(self * factor)
    }

    fn magnitude(self) -> f32 {
        if self.is_finite() { self.abs() } else { 0.0 }
    }
}

/// Channel data in some order of axes, forth or back, with gaps or the same again along an axis.
struct Data<N> {
    memory: Vec<Complex<N>>,
    origin: i64,
    /// Batch, channels, transmits, samples.
    shape: [usize; 4],
    strides: [i64; 4],
}

impl<N: Number> Data<N> {
    fn random(shape: [usize; 4], rng: &mut fastrand::Rng) -> Self {
        let mut order = [0, 1, 2, 3];
        rng.shuffle(&mut order);
        let (mut strides, mut origin, mut extent) = ([0; 4], 0, rng.i64(1..3));
        for axis in order {
            if rng.u32(..10) == 0 {
                continue;
            }
            let reach = (shape[axis] as i64 - 1) * extent;
            strides[axis] = extent;
            if rng.bool() {
                strides[axis] = -extent;
                origin += reach;
            }
            extent += reach + rng.i64(0..3);
        }
        let mut data = Self {
            memory: vec![Complex::new(N::STALE, N::STALE); extent as usize],
            origin,
            shape,
            strides,
        };
        for [b, m, q, k] in data.places() {
            let at = data.at([b, m, q, k]);
            data.memory[at] = Complex::new(N::random(rng), N::random(rng));
        }
        data
    }

    fn places(&self) -> impl Iterator<Item = [usize; 4]> + use<N> {
        let [n_batch, n_channels, n_transmits, n_samples] = self.shape;
        let all = n_batch * n_channels * n_transmits * n_samples;
        (0..all).map(move |index| {
            let (rest, k) = (index / n_samples, index % n_samples);
            let (rest, q) = (rest / n_transmits, rest % n_transmits);
            [rest / n_channels, rest % n_channels, q, k]
        })
    }

    fn at(&self, place: [usize; 4]) -> usize {
        let steps: i64 = place
            .iter()
            .zip(self.strides)
            .map(|(&index, stride)| index as i64 * stride)
            .sum();
        (self.origin + steps) as usize
    }

    /// Some items with a number, somewhere, that is not finite as a half.
    fn spoil(&mut self, rng: &mut fastrand::Rng) {
        for b in 0..self.shape[0] {
            if rng.u32(..4) == 0 {
                // The last sample of all, at times, which may be alone in its tile.
                let place = array::from_fn(|axis| match axis {
                    0 => b,
                    _ if rng.u32(..4) == 0 => self.shape[axis] - 1,
                    _ => rng.usize(..self.shape[axis]),
                });
                let at = self.at(place);
                let part = if rng.bool() {
                    &mut self.memory[at].re
                } else {
                    &mut self.memory[at].im
                };
                *part = N::out_of_range(rng);
            }
        }
    }

    /// The largest finite magnitude of an item.
    fn peak(&self, item: usize) -> f32 {
        let samples = self
            .places()
            .filter(|place| place[0] == item)
            .map(|place| self.memory[self.at(place)]);
        samples.fold(0.0, |peak, sample| {
            peak.max(sample.re.magnitude()).max(sample.im.magnitude())
        })
    }

    /// The columns, and which items hold something that is not finite.
    fn expected(&self, n_columns: usize, factors: &[f32]) -> (Vec<f16>, Vec<u32>) {
        let [n_batch, n_channels, n_transmits, n_samples] = self.shape;
        let mut marks = vec![0; n_batch];
        let mut halves = Vec::new();
        for q in 0..n_transmits {
            for m in 0..n_channels {
                for column in 0..n_columns {
                    for k in 0..samples_of_column(n_samples as u32) as usize {
                        for part in 0..2 {
                            let row = 2 * k + part;
                            for at in 0..64 {
                                let b = 64 * column + 8 * ((at / 8) ^ (row % 8)) + at % 8;
                                if b >= n_batch || k >= n_samples {
                                    halves.push(f16::from_bits(0));
                                    continue;
                                }
                                let sample = self.memory[self.at([b, m, q, k])];
                                let number = [sample.re, sample.im][part];
                                let half = number.half(factors[b]);
                                halves.push(half);
                                marks[b] |= u32::from(!half.is_finite());
                            }
                        }
                    }
                }
            }
        }
        (halves, marks)
    }

    /// The kernel's columns, over memory full of something else, half by half.
    fn permuted(&self, n_columns: usize, scaling: Scaling, rng: &mut fastrand::Rng) -> (Vec<f16>, Report)
    where
        Complex<N>: Instances,
    {
        let [n_batch, n_channels, n_transmits, n_samples] = self.shape.map(|n| n as u32);
        let input = Buffer::new(&self.memory);
        let vectors = n_transmits * n_channels * n_columns as u32 * samples_of_column(n_samples) * PARTS * ROW_VECTORS;
        let output = Buffer::filled([rng.u32(1..); 4], vectors as usize);
        let [batch_stride, channel_stride, transmit_stride, sample_stride] = self.strides;
        let parameters = PermuteColumns::<Complex<N>> {
            data: Recorded {
                input: input.global(),
                origin: self.origin,
                batch_stride,
                channel_stride,
                transmit_stride,
                sample_stride,
                n_batch,
                n_channels,
                n_samples,
                is_paired: 0,
            },
            output: output.global_mut(),
            scaling,
            n_columns: n_columns as u32,
        };
        let shape = Launch {
            grid: [
                n_transmits * n_channels * sample_tiles(n_samples),
                (n_columns as u32 * COLUMN_ITEMS).div_ceil(ITEMS),
                1,
            ],
            threads: THREADS,
            shared_bytes: shared_bytes(),
        };
        let kernel = <Complex<N> as Instances>::kernel();
        let report = launch(&kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
        let words = output.to_vec().into_iter().flatten();
        let halves = words.flat_map(|word| [word as u16, (word >> 16) as u16].map(f16::from_bits));
        (halves.collect(), report)
    }
}

/// The power of two that brings a peak to 2¹⁴ or just above.
fn factor_of(peak: f32) -> f32 {
    if peak == 0.0 {
        return 1.0;
    }
    let exponent = (f64::from(peak).to_bits() >> 52) as i32 - 1023;
    2.0_f32.powi((14 - exponent).clamp(-126, 126))
}

/// One case of a source of scales: halves, marks and inverses, of items that are the arrays' from the third on.
fn check_case<N: Number>(shape: [usize; 4], source: Source, rng: &mut fastrand::Rng)
where
    Complex<N>: Instances,
{
    let [n_batch, .., n_samples] = shape;
    let mut data = Data::<N>::random(shape, rng);
    let is_marking = source != Source::Unscaled || rng.bool();
    if is_marking {
        data.spoil(rng);
    }
    let exponent = if N::IS_SCALED { rng.i32(-20..20) } else { 0 };
    let factors: Vec<f32> = match source {
        Source::Unscaled => vec![1.0; n_batch],
        Source::Given => vec![2.0_f32.powi(exponent); n_batch],
        Source::Peak => (0..n_batch).map(|item| factor_of(data.peak(item))).collect(),
    };
    let (before, behind) = (3, 2);
    let around = |inside: Vec<u32>, stale: u32| [vec![stale; before], inside, vec![stale; behind]].concat();
    let peaks = if source == Source::Peak {
        (0..n_batch).map(|item| data.peak(item).to_bits()).collect()
    } else {
        vec![]
    };
    let peaks = Buffer::new(&around(peaks, f32::NAN.to_bits()));
    let marks = Buffer::filled(0_u32, before + n_batch + behind);
    let inverses = Buffer::filled(f32::NAN, before + n_batch + behind);
    let mut scaling = Scaling {
        first_item: before as u32,
        exponent,
        source,
        is_marking: is_marking.into(),
        ..Scaling::none()
    };
    // What is not used is not there.
    if source == Source::Peak {
        scaling.peaks = peaks.global();
    }
    if source != Source::Unscaled {
        scaling.inverses = inverses.global_mut();
    }
    if is_marking {
        scaling.marks = marks.global_mut();
    }
    let n_columns = n_batch.div_ceil(64) + rng.usize(..2);
    let (got, report) = data.permuted(n_columns, scaling, rng);
    let (expected, marked) = data.expected(n_columns, &factors);
    let what = format!("{shape:?}, strides {:?}, {n_columns} columns, {source:?}", data.strides);
    assert_eq!(got.len(), expected.len(), "{what}");
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let (item, row) = (index % 64, index / 64);
        let of_column = samples_of_column(n_samples as u32) as usize;
        let (part, k, column) = (row % 2, row / 2 % of_column, row / 2 / of_column);
        let is_same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
        assert!(
            is_same,
            "{what}: {got} instead of {expected}, place {item} part {part} sample {k} column {column} of all"
        );
    }
    let unmarked = vec![0; n_batch];
    assert_eq!(
        marks.to_vec(),
        around(if is_marking { marked } else { unmarked }, 0),
        "{what}"
    );
    let inverse = |factor: &f32| {
        if source == Source::Unscaled {
            f32::NAN
        } else {
            factor.recip()
        }
        .to_bits()
    };
    let inverses: Vec<u32> = inverses.to_vec().into_iter().map(f32::to_bits).collect();
    assert_eq!(
        inverses,
        around(factors.iter().map(inverse).collect(), f32::NAN.to_bits()),
        "{what}"
    );
    for instruction in [Instruction::SharedLoad, Instruction::SharedStore] {
        assert_eq!(report.traffic(instruction).bank_conflicts, 0, "{what}: {instruction:?}");
    }
}

/// Some dimensions below, some at, some beyond a column or a tile, in every source of scales that there is.
fn check<N: Number>()
where
    Complex<N>: Instances,
{
    let mut rng = rng();
    let (items, samples) = (ITEMS as usize, tile_samples() as usize);
    let fixed = [
        [1, 1, 1, 1],
        [7, 2, 1, samples - 1],
        [8, 1, 2, samples],
        [items, 2, 2, 2 * samples],
        [2 * items + 1, 1, 2, samples + 1],
    ];
    let random: [[usize; 4]; 3] =
        array::from_fn(|_| [rng.usize(1..150), rng.usize(1..4), rng.usize(1..3), rng.usize(1..300)]);
    for shape in fixed.into_iter().chain(random) {
        for source in [Source::Unscaled, Source::Given, Source::Peak] {
            if source != Source::Peak || N::IS_SCALED {
                check_case::<N>(shape, source, &mut rng);
            }
        }
    }
}

/// Whole tiles in the usual order: the sectors that the bytes need and no more.
fn assert_coalesced<N: Number>()
where
    Complex<N>: Instances,
{
    let mut rng = rng();
    let (n_batch, n_channels, n_transmits, n_samples) = (2 * ITEMS as usize, 2, 2, 2 * tile_samples() as usize);
    let shape = [n_batch, n_channels, n_transmits, n_samples];
    let mut data = Data::<N>::random(shape, &mut rng);
    data.memory = vec![Complex::new(N::random(&mut rng), N::random(&mut rng)); shape.iter().product()];
    data.origin = 0;
    data.strides = [
        n_channels * n_transmits * n_samples,
        n_transmits * n_samples,
        n_samples,
        1,
    ]
    .map(|n| n as i64);
    let (_, report) = data.permuted(1, Scaling::none(), &mut rng);
    for instruction in [Instruction::GlobalLoad, Instruction::GlobalStore] {
        let traffic = report.traffic(instruction);
        println!(
            "{}: {instruction:?} {:.1} bytes a sector, {:.1} sectors a request",
            report.kernel,
            traffic.bytes_per_sector(),
            traffic.sectors_per_request()
        );
        assert!(traffic.bytes_per_sector() >= 32.0, "{instruction:?}");
    }
    let stores = report.traffic(Instruction::GlobalStore);
    let vectors = data.memory.len() / 8 * 2;
    assert_eq!(
        [stores.executions, stores.sectors],
        [vectors as u64, vectors as u64 / 2]
    );
}

#[test]
fn complex_f16() {
    check::<F16>();
    assert_coalesced::<F16>();
}

#[test]
fn complex_i16() {
    check::<i16>();
    assert_coalesced::<i16>();
}

#[test]
fn complex_f32() {
    check::<f32>();
    assert_coalesced::<f32>();
}
