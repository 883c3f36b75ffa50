//! The windowed kernels and the permutation to rows, against a sum in f64 of their own, over shapes that are meant to hurt.

use crate::permute::dense;
use cuda_std::emulator::{Buffer, Options, launch, launch_with};
use cuda_std::half::F16;
use cuda_std::{Element, Global, Launch};
use half::f16;
use integration_tests::compare::assert_within;
use integration_tests::das::samples_and_weights;
use integration_tests::random::{between, rng};
use kernels::das::distinct::{NEAR_TOP, Split};
use kernels::das::geometry::Geometry;
use kernels::das::output::{Items, Output};
use kernels::das::permute_rows::{self, ITEMS, PermuteRows, sample_tiles, shared_bytes};
use kernels::das::scale::{Plane, Scaling, Source};
use kernels::das::voxel::Taps;
use kernels::das::window::add::{self, AddRanges, Ranges};
use kernels::das::window::{DasWindow, Instance, Instances, Shape, Windowed};
use num_complex::{Complex, Complex64};
use wavefield::aperture::{Aperture, Window};
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::{Interpolation, MOST_TAPS};

/// The bound on the L2 error of halves relative to the root of the sum of the squares of all terms, weight × sample.
///
/// Halves have 11 bits, and an operand's entry is rounded three times: about 3.4e-4 where the roundings are independent. Not relative
/// to the sums: terms cancel by chance, their errors do not. Real samples at equal delays give every voxel the same few factors, and
/// where these happen to be small, so are all sums.
const BOUND: f64 = 6e-4;

/// The bound on the error of each sum of halves relative to its terms' magnitudes: three roundings at their worst, and a little for
/// sums in single precision.
const WORST: f64 = 3.0 * (1.0 + 1.0 / 32.0) / 2048.0;

/// The same for numbers that are two halves: what is left out of a product, and the roundings of sample, fraction, factor, product and
/// sums in single precision; a cosine is no better than 1e-6.
const WORST_OF_SPLIT: f64 = 24.0 / 16_777_216.0 + 1.5e-6;

/// The exponent of two by which numbers that are two halves are scaled.
const EXPONENT: i32 = 14;

/// Terms of different rounding from which on they are not all bad: `(Σ t²)² / Σ t⁴`, their number where they are alike. Of an entry,
/// channel and tap, which voxels at equal delays share, and of these for each voxel.
const LEAST_TERMS: [f64; 2] = [12.0, 200.0];

fn number_of_terms(squares: impl Iterator<Item = f64> + Clone) -> f64 {
    let fourth: f64 = squares.clone().map(|square| square * square).sum();
    squares.sum::<f64>().powi(2) / fourth.max(f64::MIN_POSITIVE)
}

/// A sum, and what its error is measured against.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: Complex64,
    /// Of the terms.
    magnitudes: f64,
    /// Of the terms.
    squares: f64,
    /// What delays in single precision, and entries below a half's normal numbers, may change.
    besides: f64,
}

impl Sum {
    fn add(&mut self, term: Complex64) {
        self.value += term;
        self.magnitudes += term.norm();
        self.squares += term.norm_sqr();
    }
}

/// The sums of a part.
struct Expected {
    /// `(batch, voxel)`.
    sums: Vec<Sum>,
    /// Voxels about which rounding decides.
    ambiguous: Vec<bool>,
    /// The squares of the terms, `(entry and channel and tap, voxel)`.
    squares: Vec<f64>,
}

/// A delay-and-sum: counts, and how the delays of neighbouring voxels differ.
#[derive(Clone, Debug)]
struct Case {
    voxels: usize,
    channels: usize,
    transmits: usize,
    samples: usize,
    batch: usize,
    /// Samples between the least and the largest delay of 16 consecutive voxels, about.
    spread: f64,
    /// The delay of the first voxel, about; the others' are later.
    first_delay: f64,
    /// Entries of a voxel's list; 0 for an entry a transmit.
    entries: usize,
    /// Transmits and channels of a part.
    part: [usize; 2],
    beta: f32,
    is_marked: bool,
    cosine_bound: f64,
    gain: f32,
    interpolation: Interpolation,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            voxels: 150,
            channels: 11,
            transmits: 2,
            samples: 64,
            batch: 5,
            spread: 5.0,
            first_delay: 4.0,
            entries: 0,
            part: [usize::MAX, usize::MAX],
            beta: 0.0,
            is_marked: false,
            cosine_bound: -1.0,
            gain: 1.0,
            interpolation: Interpolation::Linear,
        }
    }
}

impl Case {
    /// Parts along transmits and along channels.
    fn parts(&self) -> [usize; 2] {
        [
            self.transmits.div_ceil(self.part[0].min(self.transmits)),
            self.channels.div_ceil(self.part[1].min(self.channels)),
        ]
    }
}

/// A sample type of the kernels: the data it is made of, their exact value, and the exact value of a sum.
trait Stored: Instances {
    type Data: permute_rows::Instances<Self::Rows> + Clone;
    const IS_COMPLEX: bool;
    const IS_SPLIT: bool;
    fn data(value: Complex64) -> Self::Data;
    fn exact(data: Self::Data) -> Complex64;
    fn exact_sum(sum: Self::Value) -> Complex64;
    fn rounded(value: Complex64) -> Self::Value;

    /// What weights are multiplied by besides the case's gain.
    fn top() -> f32 {
        if Self::IS_SPLIT { NEAR_TOP } else { 1.0 }
    }

    /// The exponent of two by which data are scaled.
    fn exponent() -> i32 {
        if Self::IS_SPLIT { EXPONENT } else { 0 }
    }
}

fn half(value: f64) -> F16 {
    F16(f16::from_f64(value).to_bits())
}

fn exact(value: F16) -> f64 {
    f16::from_bits(value.0).to_f64()
}

impl Stored for Complex<F16> {
    type Data = Self;
    const IS_COMPLEX: bool = true;
    const IS_SPLIT: bool = false;
    fn data(value: Complex64) -> Self {
        Complex::new(half(value.re), half(value.im))
    }
    fn exact(data: Self) -> Complex64 {
        Complex::new(exact(data.re), exact(data.im))
    }
    fn exact_sum(sum: Complex<f32>) -> Complex64 {
        Complex::new(f64::from(sum.re), f64::from(sum.im))
    }
    fn rounded(value: Complex64) -> Complex<f32> {
        Complex::new(value.re as f32, value.im as f32)
    }
}

impl Stored for F16 {
    type Data = Self;
    const IS_COMPLEX: bool = false;
    const IS_SPLIT: bool = false;
    fn data(value: Complex64) -> Self {
        half(value.re)
    }
    fn exact(data: Self) -> Complex64 {
        Complex::new(exact(data), 0.0)
    }
    fn exact_sum(sum: f32) -> Complex64 {
        Complex::new(f64::from(sum), 0.0)
    }
    fn rounded(value: Complex64) -> f32 {
        value.re as f32
    }
}

impl Stored for Split<Complex<F16>> {
    type Data = Complex<f32>;
    const IS_COMPLEX: bool = true;
    const IS_SPLIT: bool = true;
    fn data(value: Complex64) -> Complex<f32> {
        Complex::new(value.re as f32, value.im as f32)
    }
    fn exact(data: Complex<f32>) -> Complex64 {
        Complex::new(f64::from(data.re), f64::from(data.im))
    }
    fn exact_sum(sum: Complex<f32>) -> Complex64 {
        Complex::<F16>::exact_sum(sum)
    }
    fn rounded(value: Complex64) -> Complex<f32> {
        Complex::<F16>::rounded(value)
    }
}

impl Stored for Split<F16> {
    type Data = f32;
    const IS_COMPLEX: bool = false;
    const IS_SPLIT: bool = true;
    fn data(value: Complex64) -> f32 {
        value.re as f32
    }
    fn exact(data: f32) -> Complex64 {
        Complex::new(f64::from(data), 0.0)
    }
    fn exact_sum(sum: f32) -> Complex64 {
        F16::exact_sum(sum)
    }
    fn rounded(value: Complex64) -> f32 {
        F16::rounded(value)
    }
}

/// Everything that is random about a case, as the device gets it.
struct Problem<S: Stored> {
    case: Case,
    elements: Vec<[f32; 4]>,
    voxels: Vec<[f32; 3]>,
    /// Offset, weight and transmit, `(entry, voxel)`.
    entries: Vec<(f32, f32, i32)>,
    phases: Vec<f32>,
    radians_per_sample: f64,
    /// `(batch, channel, transmit, sample)`.
    data: Vec<S::Data>,
    former: Vec<Complex64>,
    /// The voxels by their places; empty for their own order.
    order: Vec<u32>,
}

impl<S: Stored> Problem<S> {
    fn new(case: &Case, rng: &mut fastrand::Rng) -> Self {
        let entries = if case.entries == 0 {
            case.transmits
        } else {
            case.entries
        };
        let elements = (0..case.channels)
            .map(|_| {
                let weight = if rng.u32(..8) == 0 { 0.0 } else { between(rng, 0.3, 1.0) };
                [between(rng, -6.0, 6.0), between(rng, -6.0, 6.0), 0.0, weight].map(|number| number as f32)
            })
            .collect();
        // A line of voxels, for the most part away from the elements.
        let step = case.spread / 15.0 / 1.6;
        let depth = |n: usize| 3.0 + step * n as f64 + case.spread.min(1.0) * 0.01 * (n % 7) as f64;
        let voxels: Vec<_> = (0..case.voxels)
            .map(|n| [0.3 * step * n as f64, 0.2, depth(n)].map(|number| number as f32))
            .collect();
        let mut list = Vec::new();
        for entry in 0..entries {
            for n in 0..case.voxels {
                let transmit = match (case.entries, rng.u32(..9)) {
                    (0, _) => entry as i32,
                    (_, 0) => -1,
                    _ => (n / 20 + entry + rng.usize(..2)) as i32 % case.transmits as i32,
                };
                let offset = case.first_delay - 7.0 + 0.6 * step * n as f64 + f64::from(transmit);
                let weight = if rng.u32(..10) == 0 {
                    0.0
                } else {
                    between(rng, -1.0, 1.0)
                };
                list.push((offset as f32, weight as f32 / case.gain, transmit));
            }
        }
        let count = case.batch * case.channels * case.transmits * case.samples;
        Self {
            case: case.clone(),
            elements,
            voxels,
            entries: list,
            phases: (0..case.transmits).map(|_| between(rng, -0.5, 0.5) as f32).collect(),
            radians_per_sample: -2.1,
            data: (0..count)
                .map(|_| S::data(Complex64::new(between(rng, -1.0, 1.0), between(rng, -1.0, 1.0))))
                .collect(),
            former: (0..case.batch * case.voxels)
                .map(|_| Complex64::new(between(rng, -1.0, 1.0), between(rng, -1.0, 1.0)))
                .collect(),
            order: Vec::new(),
        }
    }

    /// The voxels of a list alone, in its order.
    fn select(&self, list: &[u32]) -> Self {
        fn columns<E: Copy>(planes: &[E], n_voxels: usize, list: &[u32]) -> Vec<E> {
            let planes = planes.chunks(n_voxels);
            planes
                .flat_map(|plane| list.iter().map(|voxel| plane[*voxel as usize]))
                .collect()
        }
        let n_voxels = self.case.voxels;
        Self {
            case: Case {
                voxels: list.len(),
                ..self.case.clone()
            },
            elements: self.elements.clone(),
            voxels: columns(&self.voxels, n_voxels, list),
            entries: columns(&self.entries, n_voxels, list),
            phases: self.phases.clone(),
            radians_per_sample: self.radians_per_sample,
            data: self.data.clone(),
            former: columns(&self.former, n_voxels, list),
            order: Vec::new(),
        }
    }

    /// The sum over transmits and channels of a part.
    fn exact(&self, transmits: std::ops::Range<usize>, channels: &std::ops::Range<usize>) -> Expected {
        let case = &self.case;
        let mut sums = vec![Sum::default(); case.batch * case.voxels];
        let mut ambiguous = vec![false; case.voxels];
        let mut squares = vec![0.0; self.entries.len() * case.channels * MOST_TAPS];
        for (index, &(offset, weight, transmit)) in self.entries.iter().enumerate() {
            let n = index % case.voxels;
            if transmit < 0 || !transmits.contains(&(transmit as usize)) || weight == 0.0 {
                continue;
            }
            let q = transmit as usize;
            for m in channels.clone() {
                let [x, y, z, channel_weight] = self.elements[m].map(f64::from);
                let [px, py, pz] = self.voxels[n].map(f64::from);
                let distance = ((px - x).powi(2) + (py - y).powi(2) + (pz - z).powi(2)).sqrt();
                let margin = (pz - z) - case.cosine_bound * distance;
                ambiguous[n] |= margin.abs() < 1e-4;
                let delay = distance + f64::from(offset);
                let (taps, is_close) = samples_and_weights(case.interpolation, delay, case.samples, 1e-4);
                ambiguous[n] |= is_close;
                if margin < 0.0 {
                    continue;
                }
                let turns = f64::from(self.phases[q]) * std::f64::consts::TAU + self.radians_per_sample * delay;
                let mut factor = Complex64::new(f64::from(weight) * channel_weight, 0.0);
                if S::IS_COMPLEX {
                    factor *= Complex64::from_polar(1.0, turns);
                }
                // A weight changes by less than twice what the delay does.
                let of_delay = 2.0_f64.powi(-23)
                    * (distance + f64::from(offset).abs())
                    * (2.0 + self.radians_per_sample.abs())
                    * factor.norm();
                // Three roundings to a multiple of 2⁻²⁴.
                let besides = of_delay + 2.0_f64.powi(-23) / f64::from(case.gain) / f64::from(S::top());
                for b in 0..case.batch {
                    let at = ((b * case.channels + m) * case.transmits + q) * case.samples;
                    let sum = &mut sums[b * case.voxels + n];
                    for (tap, (sample, weight)) in taps.iter().enumerate() {
                        let value = S::exact(self.data[at + sample]);
                        let term = factor * *weight * value;
                        sum.add(term);
                        sum.besides += besides * value.norm();
                        let of_tap = (index / case.voxels * case.channels + m) * MOST_TAPS + tap;
                        squares[of_tap * case.voxels + n] += term.norm_sqr();
                    }
                }
            }
        }
        Expected {
            sums,
            ambiguous,
            squares,
        }
    }

    /// The data in rows, and vectors of a plane of a row.
    fn rows(&self) -> (Buffer<[u32; 4]>, u32) {
        let case = &self.case;
        let pitch = case.batch.next_multiple_of(2);
        let rows = case.samples.div_ceil(S::SAMPLES_PER_ROW as usize);
        let input = Buffer::new(&self.data);
        let n_planes = if S::IS_SPLIT { 2 } else { 1 };
        let output = Buffer::filled([u32::MAX; 2], case.transmits * case.channels * rows * n_planes * pitch);
        let inverses = Buffer::filled(f32::NAN, case.batch);
        let parameters = PermuteRows::<S::Data> {
            data: dense(&input, [case.batch, case.channels, case.transmits, case.samples]),
            output: output.global_mut(),
            scaling: if S::IS_SPLIT {
                Scaling {
                    inverses: inverses.global_mut(),
                    exponent: S::exponent(),
                    source: Source::Given,
                    ..Scaling::none()
                }
            } else {
                Scaling::none()
            },
            batch_pitch: pitch as u32,
            n_planes: n_planes as u32,
            plane: Plane::High,
        };
        let shape = Launch {
            grid: [
                (case.transmits * case.channels) as u32 * sample_tiles::<S::Rows>(case.samples as u32),
                (pitch as u32).div_ceil(ITEMS),
                1,
            ],
            threads: permute_rows::THREADS,
            shared_bytes: shared_bytes::<S::Rows>(),
        };
        let kernel = <S::Data as permute_rows::Instances<S::Rows>>::kernel();
        for plane in [Plane::High, Plane::Low].into_iter().take(n_planes) {
            let parameters = PermuteRows { plane, ..parameters };
            launch(&kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
        }
        if S::IS_SPLIT {
            assert_eq!(inverses.to_vec(), vec![2.0_f32.powi(-S::exponent()); case.batch]);
        }
        let vectors: Vec<[u32; 4]> = output
            .to_vec()
            .chunks_exact(2)
            .map(|pair| [pair[0][0], pair[0][1], pair[1][0], pair[1][1]])
            .collect();
        (Buffer::new(&vectors), pitch as u32 / 2)
    }

    /// The data in columns of 64 batch items, and their number: vectors of eight items, those of a row exchanged by its number.
    fn columns(&self) -> (Buffer<[u32; 4]>, u32) {
        let case = &self.case;
        let n_columns = case.batch.div_ceil(64);
        let n_rows = 2 * case.samples.next_multiple_of(4);
        let n_vectors = case.transmits * case.channels * n_columns * n_rows * 8;
        let vectors: Vec<[u32; 4]> = (0..n_vectors)
            .map(|at| {
                let (row, column) = (at / 8 % n_rows, at / 8 / n_rows % n_columns);
                let (sample, part, first_item) = (row / 2, row % 2, 64 * column + 8 * ((at % 8) ^ (row % 8)));
                let channel = at / 8 / n_rows / n_columns;
                let (q, m) = (channel / case.channels, channel % case.channels);
                let bits = |item: usize| {
                    if item >= case.batch || sample >= case.samples {
                        return 0;
                    }
                    let at = ((item * case.channels + m) * case.transmits + q) * case.samples + sample;
                    let value = S::exact(self.data[at]);
                    u32::from(half([value.re, value.im][part]).0)
                };
                [0, 2, 4, 6].map(|item| bits(first_item + item) | bits(first_item + item + 1) << 16)
            })
            .collect();
        (Buffer::new(&vectors), n_columns as u32)
    }

    fn run(&self, kernel: &cuda_std::Kernel<DasWindow<S>>, shape: Shape, seed: u64) -> Vec<S::Value> {
        let case = &self.case;
        let (samples, n_vectors) = if shape.is_grouped() {
            self.columns()
        } else {
            self.rows()
        };
        let pairs = |pair: fn(&[f32; 4]) -> [[f32; 2]; 2]| {
            Buffer::new(&self.elements.iter().flat_map(pair).collect::<Vec<_>>())
        };
        let elements = pairs(|&[x, y, z, weight]| [[x, y], [z, weight]]);
        let bound = case.cosine_bound as f32;
        let normals = Buffer::new(&[[0.0, 0.0], [1.0, bound]].repeat(case.channels));
        let voxels = Buffer::new(
            &(0..3)
                .flat_map(|axis| self.voxels.iter().map(move |voxel| voxel[axis]))
                .collect::<Vec<_>>(),
        );
        let offsets = Buffer::new(&self.entries.iter().map(|entry| entry.0).collect::<Vec<_>>());
        let weights = Buffer::new(&self.entries.iter().map(|entry| entry.1).collect::<Vec<_>>());
        let transmits_of_entries = Buffer::new(&self.entries.iter().map(|entry| entry.2).collect::<Vec<_>>());
        let phases = Buffer::new(&self.phases);
        let order = Buffer::new(&self.order);
        let result = Result::new(self, S::exponent());
        let parameters = DasWindow::<S> {
            samples: samples.global(),
            geometry: Geometry {
                elements: elements.global(),
                normals: normals.global(),
                voxels: voxels.global(),
                offsets: offsets.global(),
                weights: weights.global(),
                transmits: or_empty(case.entries > 0, &transmits_of_entries),
                phases: phases.global(),
                order: or_empty(!self.order.is_empty(), &order),
                is_ordered: u32::from(!self.order.is_empty()),
                voxel_pitch: case.voxels as u64,
                first_voxel: 0,
                n_voxels: case.voxels as u64,
                aperture: Aperture::new(0.0, Window::Boxcar, 0.0),
                turns: TurnsPerSample::from_radians(self.radians_per_sample),
                interpolation: case.interpolation,
                n_samples: case.samples as i32,
                n_channels: case.channels as u32,
                n_transmits: case.transmits as u32,
                n_entries: if case.entries == 0 {
                    case.transmits
                } else {
                    case.entries
                } as u32,
                is_directive: u32::from(case.cosine_bound > -1.0),
                is_sparse: u32::from(case.entries > 0),
            },
            output: result.output(case),
            gain: case.gain * S::top(),
            n_batch: case.batch as u32,
            n_vectors,
        };
        let launch = Launch {
            grid: [
                (case.voxels as u32).div_ceil(shape.voxels()),
                (case.batch as u32).div_ceil(shape.items),
                case.parts().into_iter().product::<usize>() as u32,
            ],
            threads: shape.threads(),
            shared_bytes: shape.shared_bytes(),
        };
        let options = Options {
            seed,
            ..Options::default()
        };
        launch_with(kernel, launch, parameters, options).unwrap_or_else(|fault| panic!("{case:?}\n{fault}"));
        result.values.to_vec()
    }

    /// The sums of a case whose parts are `ranges` of the channels, added.
    fn add(&self, ranges: &[S::Value], n_ranges: usize) -> Vec<S::Value>
    where
        S: Windowed<Value: Ranges>,
    {
        let case = &self.case;
        let (sums, result) = (Buffer::new(ranges), Result::new(self, 0));
        let n_layers = 2;
        let parameters = AddRanges::<S::Value> {
            sums: sums.global(),
            output: result.output(case),
            n_ranges: n_ranges as u32,
            n_batch: case.batch as u32,
            n_layers,
        };
        let shape = Launch {
            grid: [
                (case.voxels as u32).div_ceil(add::THREADS),
                n_layers,
                case.parts().into_iter().product::<usize>() as u32,
            ],
            threads: add::THREADS,
            shared_bytes: 0,
        };
        launch(&<S::Value as Ranges>::adding(), shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
        result.values.to_vec()
    }

    /// Compares a result with the exact sums.
    fn check(&self, what: &str, result: &[S::Value]) {
        let case = &self.case;
        let [transmits, channels] = [case.part[0].min(case.transmits), case.part[1].min(case.channels)];
        let (mut difference, mut norm, mut compared, mut worst) = (0.0, 0.0, 0, 0.0_f64);
        let mut parts = Vec::new();
        for first_channel in (0..case.channels).step_by(channels) {
            for first_transmit in (0..case.transmits).step_by(transmits) {
                parts.push(self.exact(
                    first_transmit..(first_transmit + transmits).min(case.transmits),
                    &(first_channel..(first_channel + channels).min(case.channels)),
                ));
            }
        }
        for b in 0..case.batch {
            for (part, Expected { sums, ambiguous, .. }) in parts.iter().enumerate() {
                for n in 0..case.voxels {
                    let got = S::exact_sum(result[(b * parts.len() + part) * case.voxels + n]);
                    let former = self.former[b * case.voxels + n];
                    let former = S::exact_sum(S::rounded(former));
                    if case.is_marked && b % 2 == 1 {
                        assert!(got.re.is_nan() || got == former, "a marked item was written");
                        continue;
                    }
                    let scale = if case.is_marked { f64::from(scale_of(b)) } else { 1.0 };
                    let sum = sums[b * case.voxels + n];
                    let error = (got - (sum.value * scale + f64::from(case.beta) * former)).norm();
                    if !ambiguous[n] {
                        difference += error * error;
                        norm += sum.squares * scale * scale + (f64::from(case.beta) * former).norm_sqr();
                        compared += 1;
                        let worst_of_terms = if S::IS_SPLIT { WORST_OF_SPLIT } else { WORST };
                        let allowed = scale * (worst_of_terms * sum.magnitudes + sum.besides)
                            + 1e-6 * (f64::from(case.beta) * former).norm();
                        assert!(
                            error <= allowed,
                            "{what}: item {b}, voxel {n}: {error:e} of {allowed:e}"
                        );
                        worst = worst.max(error / allowed.max(f64::MIN_POSITIVE));
                    }
                }
            }
        }
        assert!(compared > 0, "nothing was compared");
        let squares = parts.iter().flat_map(|part| &part.squares).copied();
        let shared = parts.iter().flat_map(|part| part.squares.chunks(case.voxels));
        let terms = [
            number_of_terms(shared.map(|of_voxels| of_voxels.iter().sum())),
            number_of_terms(squares),
        ];
        let label = format!(
            "{what}: {compared} sums of {:.0} and {:.0} terms, {worst:.2} of what each may, {case:?}",
            terms[0], terms[1]
        );
        let error = if difference == 0.0 {
            0.0
        } else {
            (difference / norm).sqrt()
        };
        if terms[0] < LEAST_TERMS[0] || terms[1] < LEAST_TERMS[1] {
            println!("{error:9.2e} of few terms: {label}");
        } else {
            let bound = if S::IS_SPLIT {
                // As the library's: delays and phases cannot be rounded better.
                1e-5 + 2.0_f64.powi(-24) * case.samples as f64 * (2.0 + self.radians_per_sample.abs())
            } else {
                BOUND
            };
            assert_within(&label, error, bound);
        }
    }
}

/// Where a case's result is written: what was there before, marks and scales.
struct Result<S: Stored> {
    values: Buffer<S::Value>,
    /// Of two by which the samples were scaled.
    exponent: i32,
    scales: Buffer<f32>,
    marks: Buffer<u32>,
}

impl<S: Stored> Result<S> {
    fn new(problem: &Problem<S>, exponent: i32) -> Self {
        let case = &problem.case;
        let n_parts: usize = case.parts().into_iter().product();
        let nan = S::rounded(Complex64::new(f64::NAN, f64::NAN));
        let former: Vec<_> = (0..case.batch)
            .flat_map(|b| (0..n_parts).flat_map(move |_| b * case.voxels..(b + 1) * case.voxels))
            .map(|at| {
                if case.beta == 0.0 {
                    nan
                } else {
                    S::rounded(problem.former[at])
                }
            })
            .collect();
        let scale = |item| 2.0_f32.powi(-exponent) * if case.is_marked { scale_of(item) } else { 1.0 };
        Self {
            values: Buffer::new(&former),
            exponent,
            scales: Buffer::new(&(0..case.batch).map(scale).collect::<Vec<_>>()),
            marks: Buffer::new(&(0..case.batch as u32).map(|item| item % 2).collect::<Vec<_>>()),
        }
    }

    fn output(&self, case: &Case) -> Output<S::Value> {
        let [transmits, channels] = [case.part[0].min(case.transmits), case.part[1].min(case.channels)];
        let [transmit_parts, channel_parts] = case.parts();
        let is_scaled = case.is_marked || self.exponent != 0;
        Output {
            values: self.values.global_mut(),
            scales: or_empty(is_scaled, &self.scales),
            marks: or_empty(case.is_marked, &self.marks),
            beta: case.beta,
            n_voxels: case.voxels as u64,
            n_parts: (transmit_parts * channel_parts) as u32,
            n_transmit_parts: transmit_parts as u32,
            transmits_per_part: transmits as u32,
            channels_per_part: channels as u32,
            first_part: 0,
            first_item: 0,
            items: if case.is_marked { Items::Unmarked } else { Items::All },
            is_scaled: u32::from(is_scaled),
        }
    }
}

fn scale_of(item: usize) -> f32 {
    [1.0, 4.0, 0.5][item % 3]
}

fn or_empty<T: Element>(is_there: bool, buffer: &Buffer<T>) -> Global<T> {
    if is_there { buffer.global() } else { Global::empty() }
}

/// Runs a case on the instances of a sample type, on one of those that differ in the batch items of a block alone: they give the same
/// bits, see [`batch_items_of_a_block_do_not_matter`].
fn check<S: Stored>(case: &Case, rng: &mut fastrand::Rng) {
    let problem = Problem::<S>::new(case, rng);
    let taps = match case.interpolation {
        Interpolation::Nearest => Taps::One,
        Interpolation::Linear => Taps::Two,
        _ => Taps::Any,
    };
    let alike = |shape: Shape| Shape { items: 0, ..shape };
    let mut instances: Vec<_> = S::instances()
        .into_iter()
        .filter(|instance| instance.taps == taps)
        .collect();
    rng.shuffle(&mut instances);
    let mut shapes = Vec::new();
    for Instance { kernel, shape, .. } in instances {
        if shapes.contains(&alike(shape)) {
            continue;
        }
        shapes.push(alike(shape));
        let result = problem.run(&kernel, shape, rng.u64(..));
        problem.check(kernel.info.name, &result);
    }
}

fn check_all(case: &Case, rng: &mut fastrand::Rng) {
    check::<Complex<F16>>(case, rng);
    check::<F16>(case, rng);
    check::<Split<Complex<F16>>>(case, rng);
    check::<Split<F16>>(case, rng);
}

#[test]
fn spreads() {
    let mut rng = rng();
    for spread in [0.0, 3.0, 4.0, 7.0, 8.0, 40.0] {
        let samples = 64 + 12 * spread as usize;
        check_all(
            &Case {
                samples,
                spread,
                ..Case::default()
            },
            &mut rng,
        );
    }
}

#[test]
fn ends_of_the_recording() {
    let mut rng = rng();
    for first_delay in [-30.0, -5.0, 20.0, 38.0] {
        check_all(
            &Case {
                first_delay,
                samples: 41,
                ..Case::default()
            },
            &mut rng,
        );
    }
    for samples in [2, 3, 4, 5, 7, 8, 9] {
        check_all(
            &Case {
                samples,
                first_delay: -3.0,
                voxels: 97,
                spread: 2.0,
                ..Case::default()
            },
            &mut rng,
        );
    }
}

#[test]
fn batches_and_voxel_counts() {
    let mut rng = rng();
    for (batch, voxels) in [(1, 131), (3, 29), (33, 40), (64, 1), (100, 9)] {
        check_all(
            &Case {
                batch,
                voxels,
                channels: 25,
                ..Case::default()
            },
            &mut rng,
        );
    }
}

#[test]
fn lists_of_transmits() {
    let mut rng = rng();
    for part in [[usize::MAX, usize::MAX], [2, 3]] {
        check_all(
            &Case {
                transmits: 5,
                entries: 3,
                part,
                ..Case::default()
            },
            &mut rng,
        );
    }
}

#[test]
fn parts_and_what_is_done_with_the_sum() {
    let mut rng = rng();
    check_all(
        &Case {
            transmits: 3,
            part: [2, 7],
            beta: -0.75,
            ..Case::default()
        },
        &mut rng,
    );
    check_all(
        &Case {
            is_marked: true,
            beta: 0.5,
            ..Case::default()
        },
        &mut rng,
    );
    check_all(
        &Case {
            cosine_bound: 0.8,
            is_marked: true,
            ..Case::default()
        },
        &mut rng,
    );
}

fn added<S: Stored + Windowed<Value: Ranges>>(rng: &mut fastrand::Rng) {
    for part in [[usize::MAX, 4], [2, 5]] {
        let case = Case {
            transmits: 3,
            part,
            ..Case::default()
        };
        let mut problem = Problem::<S>::new(&case, rng);
        let Instance { kernel, shape, .. } = S::instances().remove(0);
        let ranges = problem.run(&kernel, shape, rng.u64(..));
        problem.case = Case {
            part: [part[0], usize::MAX],
            beta: 0.5,
            is_marked: true,
            ..case
        };
        let sums = problem.add(&ranges, case.channels.div_ceil(part[1]));
        problem.check("ranges of channels", &sums);
    }
}

/// Channels in ranges, each with a sum, and those added.
#[test]
fn ranges_of_channels() {
    let mut rng = rng();
    added::<Complex<F16>>(&mut rng);
    added::<F16>(&mut rng);
    added::<Split<Complex<F16>>>(&mut rng);
    added::<Split<F16>>(&mut rng);
}

/// Every interpolation: delays that spread little and much, few samples, ends, and channels that not all voxels hear.
#[test]
fn interpolations() {
    let mut rng = rng();
    for interpolation in [
        Interpolation::Nearest,
        Interpolation::Quadratic,
        Interpolation::Cubic,
        Interpolation::Lanczos3,
    ] {
        let case = Case {
            interpolation,
            voxels: 131,
            ..Case::default()
        };
        let wide = Case {
            spread: 40.0,
            samples: 400,
            entries: 2,
            ..case.clone()
        };
        let short = Case {
            samples: 5,
            first_delay: -3.0,
            spread: 2.0,
            voxels: 97,
            ..case.clone()
        };
        let limited = Case {
            samples: 41,
            first_delay: 20.0,
            cosine_bound: 0.8,
            batch: 33,
            voxels: 40,
            ..case.clone()
        };
        for case in [case, wide, short, limited] {
            check_all(&case, &mut rng);
        }
    }
}

/// Kernels that differ in the batch items of a block alone give the same bits; how many pairs of them there are.
fn same_bits<S: Stored>(rng: &mut fastrand::Rng) -> usize
where
    S::Value: PartialEq + std::fmt::Debug,
{
    let case = Case {
        batch: 35,
        spread: 9.0,
        voxels: 300,
        channels: 37,
        samples: 128,
        ..Case::default()
    };
    let problem = Problem::<S>::new(&case, rng);
    let mut pairs = 0;
    let instances = S::instances();
    for (index, one) in instances.iter().enumerate() {
        for other in &instances[..index] {
            let alike = Shape {
                items: other.shape.items,
                ..one.shape
            };
            if one.taps == other.taps && alike == other.shape {
                let results = [one, other].map(|instance| problem.run(&instance.kernel, instance.shape, 1));
                assert_eq!(
                    results[0], results[1],
                    "{} and {}",
                    one.kernel.info.name, other.kernel.info.name
                );
                pairs += 1;
            }
        }
    }
    pairs
}

/// A run may be cut along the batch.
#[test]
fn batch_items_of_a_block_do_not_matter() {
    let mut rng = rng();
    assert!(same_bits::<Complex<F16>>(&mut rng) > 0, "there are no such kernels");
    same_bits::<F16>(&mut rng);
    same_bits::<Split<Complex<F16>>>(&mut rng);
    same_bits::<Split<F16>>(&mut rng);
}

/// Weights of any magnitude, which halves could not hold.
#[test]
fn weights_of_any_magnitude() {
    let mut rng = rng();
    for gain in [2.0_f32.powi(-40), 2.0_f32.powi(60)] {
        check_all(
            &Case {
                gain,
                ..Case::default()
            },
            &mut rng,
        );
    }
}

/// What is not finite in batch item 33 leaves the sums of the others as they were.
fn spoiled<S: Stored>(rng: &mut fastrand::Rng)
where
    S::Value: PartialEq + std::fmt::Debug,
{
    let case = Case {
        batch: 70,
        ..Case::default()
    };
    let mut problem = Problem::<S>::new(&case, rng);
    let Instance { kernel, shape, .. } = S::instances().remove(0);
    let clean = problem.run(&kernel, shape, 1);
    let of_item = case.channels * case.transmits * case.samples;
    for at in 0..of_item {
        problem.data[33 * of_item + at] = S::data(Complex64::new(f64::NAN, f64::INFINITY));
    }
    let result = problem.run(&kernel, shape, 1);
    for (index, (got, expected)) in result.iter().zip(&clean).enumerate() {
        if index / case.voxels != 33 {
            assert_eq!(got, expected, "sum {index}");
        }
    }
    assert!(
        result[33 * case.voxels..34 * case.voxels]
            .iter()
            .any(|sum| S::exact_sum(*sum).re.is_nan())
    );
}

/// Samples that are not finite spoil their own batch item alone.
#[test]
fn what_is_not_finite_stays_in_its_batch_item() {
    let mut rng = rng();
    spoiled::<Complex<F16>>(&mut rng);
    spoiled::<F16>(&mut rng);
    spoiled::<Split<Complex<F16>>>(&mut rng);
    spoiled::<Split<F16>>(&mut rng);
}

/// Blocks of an order alone, their voxels one after the other, give the bits that all voxels in that order give.
fn blocks_alone<S: Stored>(interpolation: Interpolation, taps: Taps, rng: &mut fastrand::Rng)
where
    S::Value: PartialEq + std::fmt::Debug,
{
    for Instance { kernel, shape, .. } in S::instances().into_iter().filter(|instance| instance.taps == taps) {
        let block = shape.voxels() as usize;
        let case = Case {
            voxels: 2 * block + 43,
            channels: 9,
            spread: 6.0,
            interpolation,
            ..Case::default()
        };
        let mut whole = Problem::<S>::new(&case, rng);
        // Neighbours stay together, as they do in the library's orders.
        let mut order: Vec<u32> = (0..case.voxels as u32).collect();
        order.chunks_mut(40).for_each(|some| rng.shuffle(some));
        order.reverse();
        whole.order.clone_from(&order);
        let expected = whole.run(&kernel, shape, rng.u64(..));
        for list in order.chunks(block) {
            let sums = whole.select(list).run(&kernel, shape, rng.u64(..));
            for (item, sums) in sums.chunks(list.len()).enumerate() {
                for (voxel, sum) in list.iter().zip(sums) {
                    let expected = &expected[item * case.voxels + *voxel as usize];
                    assert_eq!(sum, expected, "{}, item {item}, voxel {voxel}", kernel.info.name);
                }
            }
        }
    }
}

/// A run may be cut along the voxels.
#[test]
fn blocks_of_an_order_stand_alone() {
    let mut rng = rng();
    for (interpolation, taps) in [(Interpolation::Linear, Taps::Two), (Interpolation::Cubic, Taps::Any)] {
        blocks_alone::<Complex<F16>>(interpolation, taps, &mut rng);
        blocks_alone::<F16>(interpolation, taps, &mut rng);
        blocks_alone::<Split<Complex<F16>>>(interpolation, taps, &mut rng);
        blocks_alone::<Split<F16>>(interpolation, taps, &mut rng);
    }
}
