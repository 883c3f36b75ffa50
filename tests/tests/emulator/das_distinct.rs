//! The kernels that multiply the distinct samples of a voxel tile, launched as the library does, against the f64 oracle.

use crate::das_inputs::{Inputs, Stored, taps};
use crate::permute::{batch_inner, dense};
use cuda_std::emulator::{Buffer, Instruction, Options, Report, Traffic, launch_with};
use cuda_std::half::F16;
use cuda_std::{Global, Launch};
use fastrand::Rng;
use half::f16;
use integration_tests::case::{Case, Elements};
use integration_tests::compare::{assert_within, das_bound};
use integration_tests::das::{Terms, terms};
use integration_tests::random::{between, rng};
use integration_tests::sample::{Precision, TestSample};
use kernels::das::batch::{Rows, per_vector};
use kernels::das::distinct::{DasDistinct, Instances, Instructions, NEAR_TOP, Split, THREADS, Tile, VOXELS_PER_BLOCK};
use kernels::das::geometry::Geometry;
use kernels::das::output::{Items, Output};
use kernels::das::permute::{self, Permute, sample_tiles, tile_items};
use kernels::das::sample::{Sample, Value};
use kernels::das::scale::{Plane, Scaling};
use kernels::das::voxel::Taps;
use ndarray::{Array1, Array2, Array4, ArrayD, IxDyn};
use num_complex::{Complex, Complex64};
use std::marker::PhantomData;
use warpbeam::{DasGeometry, DasOptions, Interpolation, Window};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

/// A delay-and-sum with everything that the kernel can do besides.
struct Setup {
    geometry: DasGeometry,
    options: DasOptions,
    n_samples: usize,
    n_batch: usize,
    /// Weights of the channels.
    channel_weights: Vec<f32>,
    /// For each entry and voxel the transmit; none if entries are transmits.
    lists: Option<Array2<i32>>,
    transmits_per_part: usize,
    channels_per_part: usize,
    beta: f32,
    items: Items,
    marks: Vec<u32>,
    scales: Vec<f32>,
}

impl Setup {
    fn new(geometry: DasGeometry, options: DasOptions, n_samples: usize, n_batch: usize) -> Self {
        let (n_channels, n_transmits) = (geometry.n_channels(), geometry.n_transmits());
        Self {
            geometry,
            options,
            n_samples,
            n_batch,
            channel_weights: vec![1.0; n_channels],
            lists: None,
            transmits_per_part: n_transmits,
            channels_per_part: n_channels,
            beta: 0.0,
            items: Items::All,
            marks: Vec::new(),
            scales: Vec::new(),
        }
    }

    fn of_case(case: &Case, rng: &mut Rng) -> Self {
        Self::new(case.draw(rng), case.options.clone(), case.samples, case.batch)
    }

    fn n_transmit_parts(&self) -> usize {
        self.geometry.n_transmits().div_ceil(self.transmits_per_part)
    }

    fn n_parts(&self) -> usize {
        self.n_transmit_parts() * self.geometry.n_channels().div_ceil(self.channels_per_part)
    }

    fn is_wanted(&self, item: usize) -> bool {
        match self.items {
            Items::All => true,
            Items::Marked => self.marks[item] != 0,
            Items::Unmarked => self.marks[item] == 0,
        }
    }

    /// The oracle's terms: a voxel's transmits that its list lacks weigh nothing.
    fn terms(&self) -> Terms {
        let mut geometry = self.geometry.clone();
        if let Some(lists) = &self.lists {
            let n_voxels = geometry.n_voxels();
            let weights = geometry.transmit_weights.as_slice_mut().expect("contiguous");
            for (at, weight) in weights.iter_mut().enumerate() {
                let (transmit, voxel) = ((at / n_voxels) as i32, at % n_voxels);
                let end = lists.column(voxel).iter().position(|&entry| entry < 0);
                if !lists
                    .column(voxel)
                    .iter()
                    .take(end.unwrap_or(lists.nrows()))
                    .any(|&entry| entry == transmit)
                {
                    *weight = 0.0;
                }
            }
        }
        terms(&geometry, &self.options, Precision::Single, self.n_samples)
    }

    /// The sums `(batch, part, voxel)`.
    fn expected<T: TestSample>(&self, terms: &Terms, data: &Array4<T>, before: &[Complex64]) -> Vec<Complex64> {
        let (n_parts, n_voxels) = (self.n_parts(), self.geometry.n_voxels());
        let mut sums = vec![Complex64::ZERO; self.n_batch * n_parts * n_voxels];
        for term in &terms.list {
            let part = term.channel / self.channels_per_part * self.n_transmit_parts()
                + term.transmit / self.transmits_per_part;
            let mut factor = Complex64::from(term.weight * f64::from(self.channel_weights[term.channel]));
            if T::IS_COMPLEX {
                factor *= Complex64::from_polar(1.0, term.phase);
            }
            for item in 0..self.n_batch {
                let sample = |k: usize| data[[item, term.channel, term.transmit, k]].value();
                let value: Complex64 = term.taps.iter().map(|(k, weight)| sample(*k) * *weight).sum();
                sums[(item * n_parts + part) * n_voxels + term.voxel] += factor * value;
            }
        }
        for (at, sum) in sums.iter_mut().enumerate() {
            if let Some(&scale) = self.scales.get(at / (n_parts * n_voxels)) {
                *sum *= f64::from(scale);
            }
            if self.beta != 0.0 {
                *sum += before[at] * f64::from(self.beta);
            }
        }
        sums
    }

    /// What transmits have for voxels, by entry; an entry without a transmit holds what must not be used.
    fn entries(&self, of_transmits: &ArrayD<f64>) -> Buffer<f32> {
        let of_transmits: Vec<f32> = of_transmits.iter().map(|&value| value as f32).collect();
        let Some(lists) = &self.lists else {
            return Buffer::new(&of_transmits);
        };
        let of_entry = |((_, voxel), &transmit): ((usize, usize), &i32)| match usize::try_from(transmit) {
            Ok(transmit) => of_transmits[transmit * lists.ncols() + voxel],
            Err(_) => f32::NAN,
        };
        Buffer::new(&lists.indexed_iter().map(of_entry).collect::<Vec<_>>())
    }

    /// Launches the kernel on samples in its storage; what was in the output before is what it holds on the way in.
    fn launch<S: Instances<Value: Number>>(
        &self,
        (instructions, tile): (Instructions, Tile),
        samples: &Buffer<S>,
        n_vectors: usize,
        output: &Buffer<S::Value>,
        seed: u64,
    ) -> Report {
        let (geometry, options) = (&self.geometry, &self.options);
        let inputs = Inputs::<f32>::new(geometry, options);
        let n_voxels = inputs.n_voxels;
        let elements: Vec<[f32; 2]> = (0..geometry.n_channels())
            .flat_map(|m| {
                let p = geometry.element_positions.row(m);
                [[p[0] as f32, p[1] as f32], [p[2] as f32, self.channel_weights[m]]]
            })
            .collect();
        let elements = Buffer::new(&elements);
        let [offsets, weights] =
            [&geometry.transmit_offsets, &geometry.transmit_weights].map(|array| self.entries(array));
        let transmits = Buffer::new(
            &self
                .lists
                .as_ref()
                .map_or(vec![0], |lists| lists.iter().copied().collect()),
        );
        let marks = Buffer::new(if self.marks.is_empty() { &[0] } else { &self.marks });
        let scales = Buffer::new(if self.scales.is_empty() { &[0.0] } else { &self.scales });
        let n_entries = self.lists.as_ref().map_or(geometry.n_transmits(), Array2::nrows);
        let is_directive = options.f_number > 0.0 || geometry.element_cosine_bounds.is_some();
        let parameters = DasDistinct::<S> {
            samples: samples.global(),
            geometry: Geometry {
                elements: elements.global(),
                normals: inputs.normals.global(),
                voxels: inputs.voxels.global(),
                offsets: offsets.global(),
                weights: weights.global(),
                transmits: if self.lists.is_some() {
                    transmits.global()
                } else {
                    Global::empty()
                },
                phases: inputs.phases.global(),
                order: Global::empty(),
                is_ordered: 0,
                voxel_pitch: n_voxels as u64,
                first_voxel: 0,
                n_voxels: n_voxels as u64,
                aperture: Aperture::new(options.f_number, options.window, 0.0),
                turns: TurnsPerSample::from_radians(options.phase_per_sample),
                interpolation: wavefield::sampling::Interpolation::Linear,
                n_samples: self.n_samples as i32,
                n_channels: geometry.n_channels() as u32,
                n_transmits: geometry.n_transmits() as u32,
                n_entries: n_entries as u32,
                is_directive: u32::from(is_directive),
                is_sparse: u32::from(self.lists.is_some()),
            },
            output: Output {
                values: output.global_mut(),
                scales: if self.scales.is_empty() {
                    Global::empty()
                } else {
                    scales.global()
                },
                marks: if self.marks.is_empty() {
                    Global::empty()
                } else {
                    marks.global()
                },
                beta: self.beta,
                n_voxels: n_voxels as u64,
                n_parts: self.n_parts() as u32,
                n_transmit_parts: self.n_transmit_parts() as u32,
                transmits_per_part: self.transmits_per_part as u32,
                channels_per_part: self.channels_per_part as u32,
                first_part: 0,
                first_item: 0,
                items: self.items,
                is_scaled: u32::from(!self.scales.is_empty()),
            },
            gain: NEAR_TOP,
            n_batch: self.n_batch as u32,
            n_vectors: n_vectors as u32,
        };
        let taps = taps(self.options.interpolation);
        let variant = S::variant(instructions, taps, tile).expect("a kernel for this type");
        let shape = Launch {
            grid: [
                (n_voxels as u32).div_ceil(VOXELS_PER_BLOCK),
                (self.n_batch as u32).div_ceil(variant.items),
                self.n_parts() as u32,
            ],
            threads: THREADS,
            shared_bytes: variant.shared_bytes,
        };
        let options = Options {
            seed,
            ..Options::default()
        };
        launch_with(&variant.kernel, shape, parameters, options).unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// Runs and compares.
    fn check<T: Storage>(&self, form: (Instructions, Tile), rng: &mut Rng, what: &str) -> Report {
        let terms = self.terms();
        let shape = (
            self.n_batch,
            self.geometry.n_channels(),
            self.geometry.n_transmits(),
            self.n_samples,
        );
        let data = Array4::from_shape_simple_fn(shape, || T::Sample::random(rng));
        let (samples, n_vectors) = T::store(&data);
        let n_voxels = self.geometry.n_voxels();
        let before: Vec<<T::Stored as Sample>::Value> = (0..self.n_batch * self.n_parts() * n_voxels)
            .map(|_| {
                if self.beta == 0.0 {
                    Number::nan()
                } else {
                    Number::any(rng)
                }
            })
            .collect();
        let output = Buffer::new(&before);
        let report = self.launch::<T::Stored>(form, &samples, n_vectors, &output, rng.u64(..));
        let exact: Vec<Complex64> = before.iter().map(|value| value.exact()).collect();
        let expected = self.expected(&terms, &data, &exact);
        let (mut difference, mut norm, mut compared) = (0.0, 0.0, 0);
        for (at, (value, expected)) in std::iter::zip(output.to_vec(), expected).enumerate() {
            if !self.is_wanted(at / (self.n_parts() * n_voxels)) {
                assert!(
                    value.has_same_bits(before[at]),
                    "{what}: an item that is not wanted was written"
                );
                continue;
            }
            if terms.ambiguous[at % n_voxels] {
                continue;
            }
            compared += 1;
            difference += (value.exact() - expected).norm_sqr();
            norm += expected.norm_sqr();
        }
        assert!(compared > 0, "{what}: nothing was compared");
        let bound = T::bound(&self.options, terms.largest_delay);
        let error = if difference == 0.0 {
            0.0
        } else {
            (difference / norm).sqrt()
        };
        assert_within(&format!("{} {form:?} {what}, {compared} sums", T::NAME), error, bound);
        report
    }
}

/// A sum on the device.
trait Number: Value<Real = f32> {
    fn nan() -> Self;
    fn any(rng: &mut Rng) -> Self;
    fn exact(self) -> Complex64;
    fn has_same_bits(self, other: Self) -> bool;
}

impl Number for f32 {
    fn nan() -> Self {
        Self::NAN
    }
    fn any(rng: &mut Rng) -> Self {
        between(rng, -3.0, 3.0) as Self
    }
    fn exact(self) -> Complex64 {
        Complex64::from(f64::from(self))
    }
    fn has_same_bits(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Number for Complex<f32> {
    fn nan() -> Self {
        Self::new(f32::NAN, f32::NAN)
    }
    fn any(rng: &mut Rng) -> Self {
        Self::new(Number::any(rng), Number::any(rng))
    }
    fn exact(self) -> Complex64 {
        Complex64::new(f64::from(self.re), f64::from(self.im))
    }
    fn has_same_bits(self, other: Self) -> bool {
        self.re.has_same_bits(other.re) && self.im.has_same_bits(other.im)
    }
}

/// A sample type and how it is stored for the kernels.
trait Storage {
    const NAME: &'static str;
    type Sample: TestSample;
    type Stored: Instances<Value: Number>;
    /// Samples and vectors of a sample's batch.
    fn store(data: &Array4<Self::Sample>) -> (Buffer<Self::Stored>, usize);
    fn bound(options: &DasOptions, largest_delay: f64) -> f64;
}

struct Halves;
struct ComplexHalves;
struct Singles;
struct ComplexSingles;

macro_rules! as_they_are {
    ($($name:ident: $sample:ty, $bound:expr;)*) => { $(
        impl Storage for $name {
            const NAME: &'static str = stringify!($name);
            type Sample = $sample;
            type Stored = <$sample as Stored>::Stored;
            fn store(data: &Array4<Self::Sample>) -> (Buffer<Self::Stored>, usize) {
                let stored = data.map(|sample| sample.stored());
                let n_vectors = data.dim().0.div_ceil(per_vector::<Self::Stored>());
                let zero = <Self::Stored as Sample>::ZERO;
                let (copy, _) = batch_inner(&stored.view().into_dyn(), zero, Rows::INSIDE, Scaling::none());
                (copy, n_vectors)
            }
            fn bound(options: &DasOptions, largest_delay: f64) -> f64 {
                let bound: fn(&DasOptions, f64) -> f64 = $bound;
                bound(options, largest_delay)
            }
        }
    )* };
}

as_they_are! {
    Halves: f16, |_, _| 1e-3;
    ComplexHalves: Complex<f16>, |_, _| 1e-3;
    Singles: f32, |_, _| 1e-3;
    ComplexSingles: Complex<f32>, |_, _| 1e-3;
}

/// Samples split into two planes of halves.
struct SplitSamples<T, H>(PhantomData<(T, H)>);

type SplitSingles = SplitSamples<f32, F16>;
type SplitComplexSingles = SplitSamples<Complex<f32>, Complex<F16>>;
type SplitIntegers = SplitSamples<i16, F16>;
type SplitComplexIntegers = SplitSamples<Complex<i16>, Complex<F16>>;

/// A half or a complex number of halves.
trait Half: Sample {
    /// Not a number.
    const STALE: Self;
}

impl Half for F16 {
    const STALE: Self = Self(u16::MAX);
}

impl Half for Complex<F16> {
    const STALE: Self = Self::new(F16(u16::MAX), F16(u16::MAX));
}

/// A number's halves by the oracle.
fn halves(value: f64) -> [f64; 2] {
    let high = f16::from_f64(value).to_f64();
    [high, f16::from_f64(value - high).to_f64()]
}

impl<T, H> Storage for SplitSamples<T, H>
where
    T: Stored<Stored: permute::Instances<H>>,
    H: Half<Value: Number>,
    Split<H>: Instances<Value: Number>,
{
    const NAME: &'static str = T::NAME;
    type Sample = T;
    type Stored = Split<H>;
    fn store(data: &Array4<T>) -> (Buffer<Self::Stored>, usize) {
        let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
        let pitch = n_batch.next_multiple_of(per_vector::<H>());
        let input = Buffer::new(&data.iter().map(|sample| sample.stored()).collect::<Vec<_>>());
        let n_rows = n_transmits * (n_channels * n_samples + Rows::INSIDE.silence as usize);
        let output = Buffer::filled(H::STALE, n_rows * 2 * pitch);
        let parameters = Permute::<T::Stored, H> {
            data: dense(&input, [n_batch, n_channels, n_transmits, n_samples]),
            output: output.global_mut(),
            scaling: Scaling::none(),
            rows: Rows::INSIDE,
            n_planes: 2,
            plane: Plane::High,
            batch_pitch: pitch as u32,
        };
        let tiles = n_transmits as u32 * sample_tiles::<H>(Rows::INSIDE, n_channels as u32, n_samples as u32);
        let shape = Launch {
            grid: [tiles, (pitch as u32).div_ceil(tile_items::<H>()), 1],
            threads: permute::THREADS,
            shared_bytes: permute::shared_bytes::<H>(),
        };
        let kernel = <T::Stored as permute::Instances<H>>::kernel().expect("a kernel for this type");
        for plane in [Plane::High, Plane::Low] {
            let parameters = Permute { plane, ..parameters };
            launch_with(&kernel, shape, parameters, Options::default()).unwrap_or_else(|fault| panic!("{fault}"));
        }
        let stored = output.to_vec();
        for (at, stored) in stored.iter().enumerate() {
            let (row, plane, item) = (at / pitch / 2, at / pitch % 2, at % pitch);
            let (q, row) = (row / (n_rows / n_transmits), row % (n_rows / n_transmits));
            let exact = if row < n_channels * n_samples && item < n_batch {
                let value = data[[item, row / n_samples, q, row % n_samples]].value();
                Complex64::new(halves(value.re)[plane], halves(value.im)[plane])
            } else {
                Complex64::ZERO
            };
            assert_eq!(
                stored.widen().exact(),
                exact,
                "transmit {q} row {row} plane {plane} item {item}"
            );
        }
        let split: Vec<_> = stored.into_iter().map(Split).collect();
        (Buffer::new(&split), pitch / per_vector::<H>())
    }
    fn bound(options: &DasOptions, largest_delay: f64) -> f64 {
        das_bound::<T>(options, largest_delay)
    }
}

/// The tiles that there are kernels for.
fn tiles<T: Storage>(instructions: Instructions) -> Vec<Tile> {
    let tiles = [Tile::Wide, Tile::Narrow];
    let exists = |tile: &Tile| T::Stored::variant(instructions, Taps::Two, *tile).is_some();
    tiles.into_iter().filter(exists).collect()
}

/// Options that use all that a kernel can do.
fn all_options(interpolation: Interpolation, is_complex: bool) -> DasOptions {
    DasOptions {
        interpolation,
        phase_per_sample: if is_complex { -0.9 } else { 0.0 },
        phase_offsets: if is_complex { vec![300.0, -2.0, 0.5] } else { Vec::new() },
        f_number: 0.7,
        window: Window::Tukey { taper: 0.25 },
        ..DasOptions::default()
    }
}

/// Geometry that leaves delays within `spread` samples of each other in every tile.
fn tight(rng: &mut Rng, n_voxels: usize, n_channels: usize, n_transmits: usize, spread: f64) -> DasGeometry {
    let extent = spread.min(8.0) / 8.0;
    let centre = [between(rng, -2.0, 2.0), between(rng, -2.0, 2.0), between(rng, 3.0, 9.0)];
    let bases: Vec<f64> = (0..n_transmits).map(|_| between(rng, 5.0, 20.0)).collect();
    DasGeometry {
        element_positions: Array2::from_shape_fn((n_channels, 3), |(_, axis)| match axis {
            2 => 0.0,
            _ => between(rng, -10.0, 10.0),
        }),
        voxel_positions: Array2::from_shape_fn((n_voxels, 3), |(_, axis)| centre[axis] + between(rng, 0.0, extent))
            .into_dyn(),
        transmit_offsets: ArrayD::from_shape_fn(IxDyn(&[n_transmits, n_voxels]), |at| {
            bases[at[0]] + between(rng, 0.0, (spread - extent).max(0.0))
        }),
        transmit_weights: ArrayD::from_shape_simple_fn(IxDyn(&[n_transmits, n_voxels]), || between(rng, -1.0, 1.0)),
        element_normals: None,
        element_cosine_bounds: None::<Array1<f64>>,
        ..DasGeometry::default()
    }
}

/// Every interpolation and tile with every option, delays from before the first to beyond the last sample.
fn options_of<T: Storage>(instructions: Instructions) {
    let mut rng = rng();
    for interpolation in [Interpolation::Linear, Interpolation::Nearest] {
        for tile in tiles::<T>(instructions) {
            let case = Case {
                channels: 11,
                transmits: 2,
                batch: T::Stored::variant(instructions, Taps::Two, tile).map_or(0, |variant| variant.items) as usize
                    + 3,
                // A warp, and voxels of the next one.
                grid: vec![37],
                elements: Elements::Convex,
                cosine_bound: Some(0.4),
                options: all_options(interpolation, T::Sample::IS_COMPLEX),
                ..Case::default()
            };
            let mut setup = Setup::of_case(&case, &mut rng);
            setup.channel_weights = (0..case.channels)
                .map(|_| between(&mut rng, -1.0, 1.0) as f32)
                .collect();
            setup.check::<T>((instructions, tile), &mut rng, &case.describe());
        }
    }
}

/// Delays that spread over 0 to 200 samples, any batch, voxels one and a prime.
fn spreads_of<T: Storage>(instructions: Instructions) {
    let mut rng = rng();
    let tiles = tiles::<T>(instructions);
    // Where all voxels want the same samples, or there is one, many batch items: few sums may cancel by chance.
    let shapes = [
        (0.0, 16, 61),
        (7.0, 3, 61),
        (8.0, 1, 61),
        (40.0, 33, 1),
        (200.0, 64, 61),
        (3.0, 100, 31),
    ];
    for (turn, (spread, batch, n_voxels)) in shapes.into_iter().enumerate() {
        for interpolation in [Interpolation::Linear, Interpolation::Nearest] {
            let options = DasOptions {
                interpolation,
                phase_per_sample: 1.1,
                ..DasOptions::default()
            };
            let geometry = tight(&mut rng, n_voxels, 9, 2, spread);
            let samples = if spread > 100.0 { 256 } else { 96 };
            let what = format!("spread {spread} B {batch} voxels {n_voxels} {interpolation:?}");
            Setup::new(geometry, options, samples, batch).check::<T>(
                (instructions, tiles[turn % tiles.len()]),
                &mut rng,
                &what,
            );
        }
    }
}

/// Recordings of two to seven samples.
fn short_recordings_of<T: Storage>(instructions: Instructions) {
    let mut rng = rng();
    for samples in 2..=7 {
        let mut geometry = tight(&mut rng, 53, 5, 3, 1.0);
        geometry
            .transmit_offsets
            .mapv_inplace(|_| between(&mut rng, -18.0, samples as f64));
        let options = DasOptions {
            interpolation: [Interpolation::Linear, Interpolation::Nearest][samples % 2],
            ..DasOptions::default()
        };
        let what = format!("K {samples}");
        Setup::new(geometry, options, samples, 5).check::<T>((instructions, Tile::Narrow), &mut rng, &what);
    }
}

/// Lists of transmits, parts, former contents, scales and marks.
fn extras_of<T: Storage>(instructions: Instructions) {
    let mut rng = rng();
    let case = Case {
        channels: 10,
        transmits: 5,
        batch: 6,
        grid: vec![41],
        options: DasOptions {
            phase_per_sample: if T::Sample::IS_COMPLEX { 0.7 } else { 0.0 },
            phase_offsets: if T::Sample::IS_COMPLEX {
                vec![1.0, 2.0, -40.0, 3.0, 0.25]
            } else {
                Vec::new()
            },
            ..DasOptions::default()
        },
        ..Case::default()
    };
    let form = (instructions, Tile::Narrow);
    for is_sparse in [false, true] {
        let mut setup = Setup::of_case(&case, &mut rng);
        if is_sparse {
            let mut lists = Array2::from_elem((4, 41), -1);
            for mut list in lists.columns_mut() {
                let mut order: Vec<i32> = (0..5).collect();
                rng.shuffle(&mut order);
                let length = rng.usize(..=4);
                for (entry, transmit) in std::iter::zip(&mut list, order).take(length) {
                    *entry = transmit;
                }
            }
            setup.lists = Some(lists);
        }
        setup.check::<T>(form, &mut rng, &format!("sparse {is_sparse}"));
        setup.transmits_per_part = 2;
        setup.channels_per_part = 7;
        setup.check::<T>(
            form,
            &mut rng,
            &format!("sparse {is_sparse}, parts of 2 transmits and 7 channels"),
        );
        setup.transmits_per_part = 5;
        setup.channels_per_part = 1;
        setup.scales = (0..6).map(|_| between(&mut rng, 0.5, 2.0) as f32).collect();
        setup.check::<T>(form, &mut rng, &format!("sparse {is_sparse}, a part a channel, scaled"));
        setup.channels_per_part = 10;
        setup.beta = -0.75;
        setup.marks = vec![0, 1, 7, 0, 0, 2];
        for items in [Items::All, Items::Marked, Items::Unmarked] {
            setup.items = items;
            setup.check::<T>(form, &mut rng, &format!("sparse {is_sparse}, beta, {items:?}"));
        }
    }
}

macro_rules! on_every_form {
    ($($name:ident: $storage:ident, $instructions:ident;)*) => { $(
        mod $name {
            use super::{Instructions, extras_of, options_of, short_recordings_of, spreads_of};

            #[test]
            fn options() {
                options_of::<super::$storage>(Instructions::$instructions);
            }

            #[test]
            fn spreads() {
                spreads_of::<super::$storage>(Instructions::$instructions);
            }

            #[test]
            fn short_recordings() {
                short_recordings_of::<super::$storage>(Instructions::$instructions);
            }

            #[test]
            fn extras() {
                extras_of::<super::$storage>(Instructions::$instructions);
            }
        }
    )* };
}

on_every_form! {
    real_f16: Halves, Mma;
    complex_f16: ComplexHalves, Mma;
    f16_by_wmma: Halves, Wmma;
    complex_f16_by_wmma: ComplexHalves, Wmma;
    real_tf32: Singles, Mma;
    complex_tf32: ComplexSingles, Mma;
    real_f32: SplitSingles, Mma;
    complex_f32: SplitComplexSingles, Mma;
    real_i16: SplitIntegers, Mma;
    complex_i16: SplitComplexIntegers, Mma;
}

/// Case `ex64`, a few bricks of 4×4×2 voxels all over the volume and channels side by side: every byte of a sector that is
/// fetched is used.
#[test]
fn every_byte_that_is_fetched_is_used() {
    let mut rng = rng();
    let wavelength_m = 1540.0 / 3.08e6;
    let units = |metres: f64| metres / wavelength_m;
    let lateral = |index: usize| units((index as f64 - 31.5) * 0.25e-3);
    let bricks: Vec<[usize; 3]> = (0..16 * 16 * 32)
        .step_by(653)
        .map(|brick| [brick % 16 * 4, brick / 16 % 16 * 4, brick / 256 * 2])
        .collect();
    let voxels: Vec<[f64; 3]> = bricks
        .iter()
        .flat_map(|&[x, y, z]| {
            (0..32).map(move |n| {
                let depth = 10e-3 + (z + n / 16) as f64 * 0.25e-3;
                [lateral(x + n % 4), lateral(y + n / 4 % 4), units(depth)]
            })
        })
        .collect();
    let along = |index: usize| units((index as f64 - 15.5) * 0.5e-3);
    let (n_voxels, n_channels) = (voxels.len(), 40);
    let geometry = DasGeometry {
        element_positions: Array2::from_shape_fn((n_channels, 3), |(m, axis)| match axis {
            0 => along(m % 32),
            1 => along(m / 32 * 13),
            _ => 0.0,
        }),
        voxel_positions: Array2::from_shape_fn((n_voxels, 3), |(n, axis)| voxels[n][axis]).into_dyn(),
        transmit_offsets: Array2::from_shape_fn((1, n_voxels), |(_, n)| voxels[n][2]).into_dyn(),
        transmit_weights: Array2::ones((1, n_voxels)).into_dyn(),
        element_normals: None,
        element_cosine_bounds: None::<Array1<f64>>,
        ..DasGeometry::default()
    };
    let options = DasOptions {
        phase_per_sample: std::f64::consts::TAU,
        ..DasOptions::default()
    };
    let form = (Instructions::Mma, Tile::Wide);
    let report = Setup::new(geometry, options, 512, 64).check::<ComplexHalves>(form, &mut rng, "ex64");
    let sum = |instruction: Instruction| {
        let mut sum = Traffic::default();
        for site in report.sites.iter().filter(|site| site.instruction == instruction) {
            sum += site.traffic;
        }
        sum
    };
    let (traffic, products) = (sum(Instruction::Copy), sum(Instruction::MatrixMultiply));
    let terms = (bricks.len() * n_channels) as f64;
    println!(
        "ALG4 on ex64: {:.1} bytes used of a sector of 32, {:.1} sectors a request (9 at least); for 32 voxels, 64 items and a \
         channel {:.1} products, {:.0} bank conflicts; {:.2} s",
        traffic.bytes_per_sector(),
        traffic.sectors_per_request(),
        products.requests as f64 / terms,
        report.sites.iter().map(|site| site.traffic.bank_conflicts).sum::<u64>() as f64 / terms,
        report.seconds
    );
    assert!(traffic.bytes_per_sector() >= 32.0);
    assert!(traffic.sectors_per_request() >= 9.0);
}
