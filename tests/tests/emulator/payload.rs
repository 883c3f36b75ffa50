//! How much of what ALG1 fetches it uses, without hardware, and how long the emulator takes for that.
//!
//! The geometry is case `ex64`: 32×32 channels at 0.5 mm, sampled at 3.08 MHz, 64³ voxels at 0.25 mm from 10 mm on. On
//! an H200 the counters of such a kernel show 19 bytes used of each sector of 32, and 1.9 sectors a request. A few
//! warps all over the volume and a few channels all over the probe stand for the whole.

use cuda_std::emulator::{Buffer, Instruction, Report, Traffic, launch};
use cuda_std::{Global, Launch};
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use kernels::das::voxel::{DasVoxel, Instances, THREADS, Taps, Tile};
use num_complex::Complex;
use warpbeam::{Interpolation, Window};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

type Sample = Complex<f32>;

/// Metres a sampling wavelength, at 1540 m/s.
const WAVELENGTH_M: f64 = 1540.0 / 3.08e6;

struct Shape {
    channels: usize,
    transmits: usize,
    batch: usize,
    samples: usize,
}

/// Voxels and elements in metres.
fn run(shape: &Shape, voxels_m: &[[f64; 3]], elements_m: &[[f64; 3]]) -> Report {
    let &Shape {
        channels,
        transmits,
        batch,
        samples,
    } = shape;
    assert_eq!(elements_m.len(), channels);
    let n_voxels = voxels_m.len();
    let units = |metres: f64| (metres / WAVELENGTH_M) as f32;
    let elements: Vec<[f32; 2]> = elements_m
        .iter()
        .flat_map(|p| [[units(p[0]), units(p[1])], [units(p[2]), 1.0]])
        .collect();
    let voxels: Vec<f32> = (0..3)
        .flat_map(|axis| voxels_m.iter().map(move |p| units(p[axis])))
        .collect();
    // Plane waves along z.
    let offsets: Vec<f32> = (0..transmits)
        .flat_map(|_| voxels_m.iter().map(|p| units(p[2])))
        .collect();
    let data = Buffer::filled(Sample::new(1.0, -1.0), batch * channels * transmits * samples);
    let output = Buffer::filled(Sample::new(f32::NAN, f32::NAN), batch * n_voxels);
    let (elements, voxels, offsets, weights, phases) = (
        Buffer::new(&elements),
        Buffer::new(&voxels),
        Buffer::new(&offsets),
        Buffer::filled(1.0_f32, transmits * n_voxels),
        Buffer::filled(0.0_f32, transmits),
    );
    let parameters = DasVoxel::<Sample> {
        samples: data.global(),
        geometry: Geometry {
            elements: elements.global(),
            normals: Global::empty(),
            voxels: voxels.global(),
            offsets: offsets.global(),
            weights: weights.global(),
            transmits: Global::empty(),
            order: Global::empty(),
            phases: phases.global(),
            voxel_pitch: n_voxels as u64,
            first_voxel: 0,
            n_voxels: n_voxels as u64,
            aperture: Aperture::new(0.0, Window::Boxcar, 0.0),
            turns: TurnsPerSample::from_radians(-std::f64::consts::TAU),
            interpolation: Interpolation::Linear,
            n_samples: samples as i32,
            n_channels: channels as u32,
            n_transmits: transmits as u32,
            n_entries: transmits as u32,
            is_directive: 0,
            is_sparse: 0,
            is_ordered: 0,
        },
        output: Output::whole(output.global_mut(), n_voxels as u64, transmits as u32, channels as u32),
        batch_stride: (channels * transmits * samples) as u64,
        transmit_stride: samples as u64,
        channel_stride: (transmits * samples) as u64,
        n_batch: batch as u32,
        first_item: 0,
    };
    let grid = [(n_voxels as u32).div_ceil(THREADS), (batch as u32).div_ceil(8), 1];
    let launch_shape = Launch {
        grid,
        threads: THREADS,
        shared_bytes: 0,
    };
    let report = launch(&Sample::kernel(Taps::Two, Tile::Items), launch_shape, parameters)
        .unwrap_or_else(|fault| panic!("{fault}"));
    assert!(output.to_vec().iter().all(|sum| sum.is_finite()));
    report
}

/// The loads of samples: the lines with most executions.
fn samples_traffic(report: &Report) -> Traffic {
    let loads = || {
        report
            .sites
            .iter()
            .filter(|site| site.instruction == Instruction::GlobalLoad)
    };
    let most = loads().map(|site| site.traffic.executions).max().unwrap_or(0);
    let mut sum = Traffic::default();
    for site in loads().filter(|site| site.traffic.executions == most) {
        sum += site.traffic;
    }
    sum
}

fn ex64_element(column: usize, row: usize) -> [f64; 3] {
    let along = |index: usize| (index as f64 - 15.5) * 0.5e-3;
    [along(column), along(row), 0.0]
}

#[test]
fn alg1_uses_of_a_sector_what_the_hardware_counts() {
    let step = 0.25e-3;
    let lateral = |index: usize| (index as f64 - 31.5) * step;
    // Blocks of consecutive voxels, x fastest, then y: two rows each.
    let voxels: Vec<[f64; 3]> = (0..64 * 64)
        .step_by(331)
        .flat_map(|row| {
            (0..128).map(move |n| {
                let (row, x) = (row + n / 64, n % 64);
                [lateral(x), lateral(row % 64), 10e-3 + (row / 64) as f64 * step]
            })
        })
        .collect();
    let elements: Vec<[f64; 3]> = (0..1024).step_by(37).map(|m| ex64_element(m % 32, m / 32)).collect();
    let shape = Shape {
        channels: elements.len(),
        transmits: 1,
        batch: 8,
        samples: 512,
    };
    let report = run(&shape, &voxels, &elements);
    let traffic = samples_traffic(&report);
    println!(
        "ALG1 on ex64: {:.1} bytes used of a sector (hardware 19), {:.1} sectors a request (hardware 1.9), {:.2} s",
        traffic.bytes_per_sector(),
        traffic.sectors_per_request(),
        report.seconds
    );
    assert!((17.5..=20.5).contains(&traffic.bytes_per_sector()));
    assert!((1.8..=2.1).contains(&traffic.sectors_per_request()));
}

#[test]
fn alg1_takes_less_than_two_seconds() {
    let voxels: Vec<[f64; 3]> = (0..256_usize)
        .map(|n| [(n / 16) as f64 * 1e-3 - 8e-3, 0.0, 10e-3 + (n % 16) as f64 * 1e-3])
        .collect();
    let elements: Vec<[f64; 3]> = (0..64).map(|m| ex64_element(4 * (m % 8), 4 * (m / 8))).collect();
    let shape = Shape {
        channels: 64,
        transmits: 2,
        batch: 8,
        samples: 512,
    };
    let report = run(&shape, &voxels, &elements);
    println!("{:.3} s of 2 s allowed", report.seconds);
    assert!(report.seconds < 2.0);
}
