//! The kernels that sum spherical waves, launched as the library does, against the f64 oracle.

use cuda_std::emulator::{Buffer, Options, launch, launch_with};
use cuda_std::{GlobalMut, Launch};
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::greens::{Counts, GreensCase, Wavenumbers};
use integration_tests::random::rng;
use integration_tests::sample::Precision;
use kernels::greens::halves::{Halves, Store, greens_store_halves};
use kernels::greens::{CHUNK, Greens, GreensAdd, RUN, SEGMENT, Spacing, TARGETS_PER_BLOCK, THREADS, Tile, greens_add};
use num_complex::{Complex, Complex32, Complex64};
use wavefield::phase::TurnsPerSample;

const NAN: Complex32 = Complex::new(f32::NAN, f32::NAN);

fn pairs(wavenumbers: impl Iterator<Item = f64>) -> Buffer<[f32; 2]> {
    let turns = wavenumbers.map(TurnsPerSample::<f32>::from_radians);
    Buffer::new(&turns.map(|turns| [turns.high, turns.low]).collect::<Vec<_>>())
}

/// How waves and amplitudes are multiplied.
#[derive(Clone, Copy)]
enum Sums {
    Single(Tile),
    Halves,
}

/// Sums with halves, amplitudes below 1 scaled by a power of two that is found or given.
fn halves(spacing: Spacing, greens: Greens, wave_scale: f32, options: Options) {
    let n_batch = greens.n_batch as usize;
    let peaks = Buffer::new(&vec![0.99_f32.to_bits(); n_batch]);
    let inverses = Buffer::filled(f32::NAN, n_batch);
    let mut store = Store {
        amplitudes: greens.weights,
        peaks: peaks.global(),
        halves: GlobalMut::empty(),
        inverses: inverses.global_mut(),
        exponent: 12,
        has_exponent: u32::from(spacing == Spacing::Any),
        n_batch: greens.n_batch,
        n_sources: greens.n_sources,
        n_frequencies: greens.n_frequencies,
    };
    let pairs = Buffer::filled([0x7e00_7e00_u32; 2], store.n_pairs());
    store.halves = pairs.global_mut();
    launch(&greens_store_halves, store.launch(), store).unwrap_or_else(|fault| panic!("{fault}"));
    let parameters = Halves {
        greens,
        amplitudes: pairs.global(),
        inverses: inverses.global(),
        wave_scale,
        inverse_wave_scale: 1.0 / wave_scale,
    };
    let shape = parameters.launch(greens.n_sources.div_ceil(greens.sources_per_part));
    launch_with(&spacing.halves_kernel(), shape, parameters, options).unwrap_or_else(|fault| panic!("{fault}"));
}

/// The sums `(part, batch, target, frequency)`.
fn run(
    case: &GreensCase,
    spacing: Spacing,
    sums: impl Into<Sums>,
    sources_per_part: usize,
    seed: u64,
) -> Vec<Complex32> {
    let sums = sums.into();
    let (n_batch, n_sources, n_frequencies) = case.amplitudes.dim();
    let n_targets = case.targets.nrows();
    let k = &case.wavenumbers;
    let step = (k[k.len() - 1] - k[0]) / (k.len() - 1).max(1) as f64;
    let wavenumbers = match spacing {
        Spacing::Any => pairs(k.iter().copied()),
        Spacing::Even => pairs((0..n_frequencies.div_ceil(RUN as usize)).map(|run| {
            let first = (run * RUN as usize).min(n_frequencies - RUN as usize);
            k[0] + step * (first + RUN as usize / 2) as f64
        })),
    };
    let sources: Vec<[f32; 4]> = case
        .sources
        .rows()
        .into_iter()
        .map(|row| [row[0] as f32, row[1] as f32, row[2] as f32, f32::NAN])
        .collect();
    let targets: Vec<f32> = case
        .targets
        .columns()
        .into_iter()
        .flatten()
        .map(|&value| value as f32)
        .collect();
    let weights: Vec<Complex32> = case
        .amplitudes
        .iter()
        .map(|x| Complex::new(x.re as f32, x.im as f32))
        .collect();
    let n_parts = n_sources.div_ceil(sources_per_part);
    let options = Options {
        seed,
        ..Options::default()
    };
    let (sources, targets, weights) = (Buffer::new(&sources), Buffer::new(&targets), Buffer::new(&weights));
    let output = Buffer::filled(NAN, n_parts * n_batch * n_targets * n_frequencies);
    let parameters = Greens {
        sources: sources.global(),
        targets: targets.global(),
        wavenumbers: wavenumbers.global(),
        weights: weights.global(),
        output: output.global_mut(),
        step: TurnsPerSample::from_radians(step),
        target_pitch: n_targets as u64,
        first_target: 0,
        n_targets: n_targets as u32,
        n_sources: n_sources as u32,
        sources_per_part: sources_per_part as u32,
        n_frequencies: n_frequencies as u32,
        n_batch: n_batch as u32,
        first_item: 0,
        first_output_item: 0,
        n_output_items: n_batch as u32,
    };
    let Sums::Single(tile) = sums else {
        // The largest distance, give or take a factor of two, divided by 2⁸.
        let sides = case.targets.fold(0.0_f64, |most, at| most.max(at.abs()));
        halves(spacing, parameters, (sides.log2().floor() - 8.0).exp2() as f32, options);
        return output.to_vec();
    };
    let shape = Launch {
        grid: [
            (n_targets as u32).div_ceil(TARGETS_PER_BLOCK) * tile.runs(spacing, n_frequencies as u32),
            (n_batch as u32).div_ceil(tile.items()),
            n_parts as u32,
        ],
        threads: THREADS,
        shared_bytes: tile.shared_bytes(spacing),
    };
    launch_with(&tile.kernel(spacing), shape, parameters, options).unwrap_or_else(|fault| panic!("{fault}"));
    output.to_vec()
}

impl From<Tile> for Sums {
    fn from(tile: Tile) -> Self {
        Self::Single(tile)
    }
}

/// The sums of the parts, by the kernel that adds them.
fn added(parts: &[Complex32], n_parts: usize) -> Vec<Complex32> {
    let n_numbers = parts.len() / n_parts;
    let parts = Buffer::new(parts);
    let output = Buffer::filled(NAN, n_numbers + 3);
    let parameters = GreensAdd {
        parts: parts.global(),
        output: output.global_mut(),
        first: 3,
        n_numbers: n_numbers as u64,
        n_parts: n_parts as u32,
    };
    let shape = Launch {
        grid: [(n_numbers as u32).div_ceil(THREADS), 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    launch(&greens_add, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"));
    output.to_vec()[3..].to_vec()
}

fn check(case: &GreensCase, what: &str, sums: &[Complex32]) {
    check_within(case, what, sums, case.bound(Precision::Single));
}

fn check_within(case: &GreensCase, what: &str, sums: &[Complex32], bound: f64) {
    let expected = case.sums();
    assert_eq!(sums.len(), expected.len(), "{what}: number of sums");
    let got = sums
        .iter()
        .map(|sum| Complex64::new(f64::from(sum.re), f64::from(sum.im)));
    let error = relative_error(got.zip(expected.iter().copied()));
    assert_within(what, error, bound);
}

/// With halves: tails of everything, batches of less than a tile and of more, parts of the sum.
#[test]
fn sums_with_halves() {
    let mut rng = rng();
    for (counts, phase) in [
        ([1, 3, 70, 16], 3.0),
        ([8, 16, 64, 16], 100.0),
        ([11, 21, 7, 37], 1e4),
        ([3, 40, 17, 19], 1e3),
    ] {
        let [batch, sources, targets, frequencies] = counts;
        let counts = Counts {
            batch,
            sources,
            targets,
            frequencies,
        };
        for (spacing, wavenumbers) in [(Spacing::Even, Wavenumbers::Even), (Spacing::Any, Wavenumbers::Random)] {
            let case = GreensCase::random(&mut rng, counts, wavenumbers, phase, Precision::Single);
            let what = format!("halves, {spacing:?} {counts:?}, phase {phase}");
            let bound = 1e-3 + case.bound(Precision::Single);
            let whole = run(&case, spacing, Sums::Halves, sources.next_multiple_of(16), rng.u64(..));
            check_within(&case, &what, &whole, bound);
            let again = run(&case, spacing, Sums::Halves, sources.next_multiple_of(16), rng.u64(..));
            assert!(bits(&whole) == bits(&again), "{what}: the order of lanes counts");
            let parts = run(&case, spacing, Sums::Halves, 16, rng.u64(..));
            check_within(&case, &what, &added(&parts, sources.div_ceil(16)), bound);
        }
    }
}

/// Every tile and spacing, with tails of everything.
#[test]
fn sums_of_every_kernel() {
    let mut rng = rng();
    for (counts, phase) in [
        ([1, 1, 1, 1], 3.0),
        ([3, 19, 7, 16], 100.0),
        ([6, 5, TARGETS_PER_BLOCK as usize + 45, 17], 1e4),
        ([2, CHUNK as usize * 2, 131, 29], 1e4),
        ([5, CHUNK as usize + 1, 3, 41], 1.0),
        ([1, 37, 2, 3], 1e4),
    ] {
        let [batch, sources, targets, frequencies] = counts;
        let counts = Counts {
            batch,
            sources,
            targets,
            frequencies,
        };
        for spacing in [Spacing::Even, Spacing::Any] {
            let wavenumbers = match spacing {
                Spacing::Even if frequencies < RUN as usize => continue,
                Spacing::Even => Wavenumbers::Even,
                Spacing::Any => Wavenumbers::Random,
            };
            let case = GreensCase::random(&mut rng, counts, wavenumbers, phase, Precision::Single);
            let one = run(&case, spacing, Tile::One, sources.next_multiple_of(16), rng.u64(..));
            check(&case, &format!("{spacing:?} {counts:?}, phase {phase}"), &one);
            let four = run(&case, spacing, Tile::Four, sources.next_multiple_of(16), rng.u64(..));
            assert!(bits(&one) == bits(&four), "{spacing:?} {counts:?}: tiles differ");
        }
    }
}

fn bits(sums: &[Complex32]) -> Vec<[u32; 2]> {
    sums.iter().map(|sum| [sum.re.to_bits(), sum.im.to_bits()]).collect()
}

/// Sums that go to memory on the way, and parts that are added afterwards.
#[test]
fn segments_and_parts() {
    let mut rng = rng();
    let counts = Counts {
        batch: 1,
        sources: 2 * SEGMENT as usize + 21,
        targets: 2,
        frequencies: 16,
    };
    let case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 1e3, Precision::Single);
    let whole = run(&case, Spacing::Even, Tile::One, 3 * SEGMENT as usize, rng.u64(..));
    check(&case, "in segments", &whole);
    let parts = run(&case, Spacing::Even, Tile::One, 1600, rng.u64(..));
    check(&case, "in parts", &added(&parts, 3));
}

/// The same bits, whatever the order in which lanes and warps advance.
#[test]
fn results_do_not_depend_on_the_order_of_lanes() {
    let mut rng = rng();
    let counts = Counts {
        batch: 2,
        sources: 35,
        targets: 40,
        frequencies: 20,
    };
    let case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 1e3, Precision::Single);
    let first = bits(&run(&case, Spacing::Even, Tile::Four, 48, 1));
    for seed in 2..5 {
        assert_eq!(
            bits(&run(&case, Spacing::Even, Tile::Four, 48, seed)),
            first,
            "seed {seed}"
        );
    }
}
