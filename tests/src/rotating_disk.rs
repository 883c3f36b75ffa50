//! The rotating disk: a plane-wave acquisition of a 128-element linear probe (MUST's `PWI_disk.mat`) and what `PyMUST`
//! computes from it.
//!
//! `pwi_disk_pymust.npz` holds `PyMUST`'s IQ of the first frame, its delay-and-sum image of the first four and its
//! Doppler map of all 32. `PyMUST` takes the travel time of the plane wave as the shortest from any point of the array,
//! so that a perfect sum differs from its image by 3.1e-4.

use crate::compare::relative_error;
use crate::data::find;
use ndarray::{Array, Array2, Array3, Array4, ArrayD, ArrayView3, Axis, Dimension};
use ndarray_npy::{NpzReader, ReadableElement};
use num_complex::{Complex32, Complex64};
use std::fs::File;
use std::ops::Range;
use warpbeam::io::must::{MustAcquisition, read_plane_wave};
use warpbeam::signal::{Demodulation, demodulate};
use warpbeam::{Acquisition, Backend, DasPlan, Grid, Medium, Probe, Reception, Transmit, Wave};

/// The acquisition and what the peer makes of it.
#[derive(Clone, Debug)]
pub struct Disk {
    /// The recording.
    pub recording: MustAcquisition,
    /// The peer's IQ data of frame 0, `(sample, channel)`.
    pub iq_frame0: Array2<Complex32>,
    /// The peer's images of frames 0 to 3, `(z, x, frame)`.
    pub das_frames0_3: Array3<Complex32>,
    /// The peer's velocities, `(z, x)`.
    pub doppler_m_s: Array2<f32>,
    /// Lateral positions of the images.
    pub x_m: Vec<f64>,
    /// Depths of the images.
    pub z_m: Vec<f64>,
}

impl Disk {
    /// The two files' contents, if they are there.
    ///
    /// # Panics
    ///
    /// Where a file is there and cannot be read.
    pub fn find() -> Option<Self> {
        let (mat, npz) = (find("PWI_disk.mat")?, find("pwi_disk_pymust.npz")?);
        let mut npz = NpzReader::new(File::open(npz).expect("a readable file")).expect("an npz file");
        let axis = |axis: Array<f32, _>| -> Vec<f64> { axis.iter().map(|value: &f32| f64::from(*value)).collect() };
        Some(Self {
            recording: read_plane_wave(mat).expect("a plane-wave acquisition"),
            iq_frame0: read(&mut npz, "iq_frame0"),
            das_frames0_3: read(&mut npz, "das_frames0_3"),
            doppler_m_s: read(&mut npz, "doppler_m_s"),
            x_m: axis(read::<f32, ndarray::Ix1>(&mut npz, "x")),
            z_m: axis(read::<f32, ndarray::Ix1>(&mut npz, "z")),
        })
    }

    /// f-number 1, boxcar, linear interpolation, one plane wave straight down, on the peer's grid.
    ///
    /// # Panics
    ///
    /// Where the plan is refused.
    pub fn plan(&self, backend: &Backend) -> DasPlan<Complex32> {
        let recording = &self.recording;
        let straight_down = Wave::Plane {
            azimuth_rad: 0.0,
            elevation_rad: 0.0,
        };
        let acquisition = Acquisition {
            probe: Probe::linear(recording.n_elements, recording.pitch_m).expect("a linear probe"),
            transmits: vec![Transmit {
                start_time_s: recording.start_time_s,
                ..Transmit::new(straight_down)
            }],
            medium: Medium {
                sound_speed_m_s: recording.sound_speed_m_s,
            },
            sampling_frequency_hz: recording.sampling_frequency_hz,
            demodulation_frequency_hz: Some(recording.center_frequency_hz),
            pulse_centre_s: 0.0,
        };
        let grid = Grid::plane(&self.x_m, &self.z_m).expect("two axes");
        let reception = Reception {
            f_number: 1.0,
            ..Reception::default()
        };
        DasPlan::for_acquisition(backend, &acquisition, &grid, &reception).expect("a good acquisition")
    }

    /// The recording's IQ data, `(frame, channel, transmit = 1, sample)`.
    ///
    /// # Panics
    ///
    /// Where demodulation is refused.
    pub fn demodulate(&self) -> Array4<Complex32> {
        let recording = &self.recording;
        let demodulation = Demodulation {
            sampling_frequency_hz: recording.sampling_frequency_hz,
            center_frequency_hz: recording.center_frequency_hz,
            start_time_s: recording.start_time_s,
            bandwidth_hz: recording.bandwidth_hz.expect("the file says the bandwidth"),
        };
        demodulate(&recording.channel_data, &demodulation).expect("a good recording")
    }

    /// The peer's frame 0 as `(channel, transmit = 1, sample)`.
    pub fn peer_iq(&self) -> ArrayView3<'_, Complex32> {
        self.iq_frame0.t().insert_axis(Axis(1))
    }

    /// Relative L2 distance of frames of an image `(frame, z, x)` from the peer's.
    ///
    /// # Panics
    ///
    /// Where the shapes differ.
    pub fn distance_from_peer(&self, image: &ArrayD<Complex32>, frames: Range<usize>) -> f64 {
        let wide = |value: &Complex32| Complex64::new(value.re.into(), value.im.into());
        relative_error(frames.flat_map(|frame| {
            let (ours, peers) = (
                image.index_axis(Axis(0), frame),
                self.das_frames0_3.index_axis(Axis(2), frame),
            );
            assert_eq!(ours.shape(), peers.shape());
            ours.iter().map(wide).zip(peers.iter().map(wide)).collect::<Vec<_>>()
        }))
    }
}

fn read<T: ReadableElement, D: Dimension>(npz: &mut NpzReader<File>, name: &str) -> Array<T, D> {
    npz.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
