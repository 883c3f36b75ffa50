//! The rotating disk: a plane-wave acquisition of a 128-element linear probe (MUST's `PWI_disk.mat`) and what `PyMUST`
//! computes from it.
//!
//! `pwi_disk_pymust.npz` holds `PyMUST`'s IQ of the first frame, its delay-and-sum image of the first four and its Doppler
//! map of all 32. `PyMUST` takes the travel time of the plane wave as the shortest from any point of the array, so that a
//! perfect sum differs from its image by 3.1e-4.

use integration_tests::compare::{assert_within, relative_error};
use integration_tests::data::find;
use ndarray::{Array2, Array3, ArrayBase, ArrayD, Axis, Data, Dimension, OwnedRepr, s};
use ndarray_npy::{NpzReader, ReadableElement};
use num_complex::{Complex32, Complex64};
use std::fs::File;
use std::path::Path;
use warpbeam::io::must::{MustAcquisition, read_plane_wave};
use warpbeam::signal::{ColorDoppler, Demodulation, color_doppler, demodulate};
use warpbeam::{Acquisition, Backend, DasPlan, Grid, Medium, Probe, Reception, Transmit, Wave};

/// What `PyMUST` computed.
struct Peer {
    iq_frame0: Array2<Complex32>,
    das_frames0_3: Array3<Complex32>,
    doppler_m_s: Array2<f32>,
    x_m: Vec<f64>,
    z_m: Vec<f64>,
}

fn read<T: ReadableElement, D: Dimension>(npz: &mut NpzReader<File>, name: &str) -> ArrayBase<OwnedRepr<T>, D> {
    npz.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Peer {
    fn open(path: &Path) -> Self {
        let mut npz = NpzReader::new(File::open(path).unwrap()).unwrap();
        let mut axis_m = |name| {
            read::<f32, ndarray::Ix1>(&mut npz, name)
                .iter()
                .map(|value| f64::from(*value))
                .collect()
        };
        let (x_m, z_m) = (axis_m("x"), axis_m("z"));
        Self {
            iq_frame0: read(&mut npz, "iq_frame0"),
            das_frames0_3: read(&mut npz, "das_frames0_3"),
            doppler_m_s: read(&mut npz, "doppler_m_s"),
            x_m,
            z_m,
        }
    }
}

/// f-number 1, boxcar, linear interpolation, one plane wave straight down.
fn plan(backend: &Backend, recording: &MustAcquisition, peer: &Peer) -> DasPlan<Complex32> {
    let transmit = Transmit {
        start_time_s: recording.start_time_s,
        ..Transmit::new(Wave::Plane {
            azimuth_rad: 0.0,
            elevation_rad: 0.0,
        })
    };
    let acquisition = Acquisition {
        probe: Probe::linear(recording.n_elements, recording.pitch_m).unwrap(),
        transmits: vec![transmit],
        medium: Medium {
            sound_speed_m_s: recording.sound_speed_m_s,
        },
        sampling_frequency_hz: recording.sampling_frequency_hz,
        demodulation_frequency_hz: Some(recording.center_frequency_hz),
        pulse_centre_s: 0.0,
    };
    let grid = Grid::plane(&peer.x_m, &peer.z_m).unwrap();
    let reception = Reception {
        f_number: 1.0,
        ..Reception::default()
    };
    DasPlan::for_acquisition(backend, &acquisition, &grid, &reception).unwrap()
}

fn distance_to<S: Data<Elem = Complex32>, D: Dimension>(image: &ArrayD<Complex32>, peer: &ArrayBase<S, D>) -> f64 {
    let wide = |value: &Complex32| Complex64::new(value.re.into(), value.im.into());
    assert_eq!(image.shape(), peer.shape());
    relative_error(image.iter().map(wide).zip(peer.iter().map(wide)))
}

/// `PyMUST`'s IQ through our sum is `PyMUST`'s image.
fn delay_and_sum(backend: &Backend) {
    let (Some(mat), Some(npz)) = (find("PWI_disk.mat"), find("pwi_disk_pymust.npz")) else {
        return;
    };
    let (recording, peer) = (read_plane_wave(mat).unwrap(), Peer::open(&npz));
    // (sample, channel) to (channel, transmit, sample).
    let data = peer.iq_frame0.t().insert_axis(Axis(1));
    let image = plan(backend, &recording, &peer).run(data).unwrap();
    assert_within(
        "delay-and-sum of PyMUST's IQ",
        distance_to(&image, &peer.das_frames0_3.slice(s![.., .., 0])),
        1e-3,
    );
}

/// From the int16 samples of the file to velocities.
fn whole_chain(backend: &Backend) {
    let (Some(mat), Some(npz)) = (find("PWI_disk.mat"), find("pwi_disk_pymust.npz")) else {
        return;
    };
    let (recording, peer) = (read_plane_wave(mat).unwrap(), Peer::open(&npz));
    let demodulation = Demodulation {
        sampling_frequency_hz: recording.sampling_frequency_hz,
        center_frequency_hz: recording.center_frequency_hz,
        start_time_s: recording.start_time_s,
        bandwidth_hz: recording.bandwidth_hz.unwrap(),
    };
    let iq = demodulate(&recording.channel_data, &demodulation).unwrap();
    let frames = plan(backend, &recording, &peer).run(iq.view()).unwrap();
    assert_eq!(frames.shape(), [32, 251, 251]);
    for frame in 0..4 {
        let image = frames.index_axis(Axis(0), frame).to_owned();
        let error = distance_to(&image, &peer.das_frames0_3.slice(s![.., .., frame]));
        assert_within(&format!("frame {frame} from RF"), error, 1e-3);
    }

    let doppler = ColorDoppler {
        center_frequency_hz: recording.center_frequency_hz,
        pulse_repetition_frequency_hz: recording.pulse_repetition_frequency_hz,
        sound_speed_m_s: recording.sound_speed_m_s,
    };
    assert!((doppler.nyquist_velocity_m_s() - 0.74).abs() < 1e-12);
    let velocities = color_doppler(&frames, &doppler).unwrap();
    // The disk has 10 mm radius around (0, 22.9 mm); at its rim the map is half noise.
    let inside: Vec<(f64, f64)> = velocities
        .indexed_iter()
        .filter(|(index, _)| peer.x_m[index[1]].hypot(peer.z_m[index[0]] - 22.9e-3) < 9.5e-3)
        .map(|(index, velocity)| (f64::from(*velocity), f64::from(peer.doppler_m_s[[index[0], index[1]]])))
        .collect();
    assert!(inside.len() > 25_000);
    let correlation = correlation(&inside);
    println!(
        "Doppler map against PyMUST's: correlation {correlation:.5} over {} voxels, 0.98 needed",
        inside.len()
    );
    assert!(correlation > 0.98);
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let mean = pairs
        .iter()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - mean.0, b - mean.1);
        aa += a * a;
        ab += a * b;
        bb += b * b;
    }
    ab / (aa * bb).sqrt()
}

integration_tests::on_every_backend! {
    delay_and_sum: super::delay_and_sum;
    whole_chain: super::whole_chain;
}
