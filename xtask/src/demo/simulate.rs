//! Channel data of point scatterers, written from the physics and not from the beamformer.
//!
//! Transmit q is a spherical wave from a virtual source behind the probe that crosses the probe's centre at t = 0. A
//! scatterer at r answers once (no multiple scattering, no attenuation), and element m receives
//!
//! ```text
//! RF(t) = a · ℓ² / (|r − source| · |r − p_m|) · e^{−(t − τ − t_p)² / 2σ²} · cos(ω (t − τ − t_p))
//! τ = (|r − source| − |source| + |r − p_m|) / c
//! ```
//!
//! with the pulse's centre `t_p` after the start of the pulse and ℓ = 10 mm. What is returned is RF demodulated: mixed
//! with e^{−iωt} and freed from the double frequency, in closed form the same with `e^{−iω(τ + t_p)}` for the cosine.
//!
//! It is computed frequency by frequency: the pulse's spectrum on the scatterers, spherical waves from there to all
//! elements at once ([`GreensPlan`]), and a Fourier transform back to time, long enough that nothing comes round again.

use super::phantom::Scatterer;
use anyhow::Context;
use fastrand::Rng;
use ndarray::{Array1, Array2, Array4, ArrayViewMut2, Axis, Ix2};
use num_complex::Complex;
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::{LN_2, PI, TAU};
use warpbeam::ops::GreensPlan;
use warpbeam::{Backend, Probe};

/// Where echoes have their scatterer's amplitude: 10 mm from the source and 10 mm from the element.
const REFERENCE_M: f64 = 10e-3;

/// The part of a pulse's spectrum that is computed, in standard deviations to either side; what is left out is below 4e-6
/// of the peak. The pulse itself is as good as over after as many of its own.
const SIGMAS: f64 = 5.0;

/// How the simulated scanner transmits and records.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// The transducer, its centre at the origin.
    pub(super) probe: Probe,
    /// Virtual sources behind it, one a transmit.
    pub(super) sources_m: Vec<[f64; 3]>,
    /// Speed of sound.
    pub(super) sound_speed_m_s: f64,
    /// The pulse's carrier, which demodulation takes out.
    pub(super) center_frequency_hz: f64,
    /// Width of the pulse's spectrum between its half-amplitude points, as a part of the carrier.
    pub(super) fractional_bandwidth: f64,
    /// From the pulse's start to its centre.
    pub(super) pulse_centre_s: f64,
    /// IQ samples a second.
    pub(super) sampling_frequency_hz: f64,
    /// When the first sample is taken after a transmit.
    pub(super) start_time_s: f64,
    /// Samples a channel and transmit.
    pub(super) n_samples: usize,
    /// From one transmit to the next; a frame is all sources in turn.
    pub(super) transmit_interval_s: f64,
    /// Frames.
    pub(super) n_frames: usize,
    /// Standard deviation of the noise in the real and imaginary part.
    pub(super) noise: f64,
    /// Where the noise starts; the same seed gives the same data.
    pub(super) seed: u64,
}

/// A scatterer at the moment of one transmit.
struct Echo {
    position_m: [f64; 3],
    way_there_m: f64,
    amplitude: f64,
}

impl Scanner {
    /// From one frame to the next.
    pub(super) fn frame_interval_s(&self) -> f64 {
        self.sources_m.len() as f64 * self.transmit_interval_s
    }

    /// IQ data `(frame, channel, transmit, sample)` of `scatterers`; `advance` is called once a transmit.
    pub(super) fn record(
        &self,
        backend: &Backend,
        scatterers: &[Scatterer],
        advance: impl Fn(),
    ) -> anyhow::Result<Array4<Complex<f32>>> {
        let (n_channels, n_transmits) = (self.probe.n_elements(), self.sources_m.len());
        let mut data = Array4::zeros((self.n_frames, n_channels, n_transmits, self.n_samples));
        for event in 0..self.n_frames * n_transmits {
            let (frame, transmit) = (event / n_transmits, event % n_transmits);
            let echoes = self.echoes(scatterers, event);
            let spectra = if echoes.is_empty() {
                None
            } else {
                Some(self.spectra(backend, &echoes)?)
            };
            let mut lines = data.index_axis_mut(Axis(0), frame);
            let lines = lines.index_axis_mut(Axis(1), transmit);
            self.lines(spectra.as_ref(), lines, |channel| {
                (frame * n_channels + channel) * n_transmits + transmit
            });
            advance();
        }
        Ok(data)
    }

    /// Where the scatterers are when transmit `event` goes out, and how strongly and how late they are hit.
    fn echoes(&self, scatterers: &[Scatterer], event: usize) -> Vec<Echo> {
        let source_m = self.sources_m[event % self.sources_m.len()];
        let time_s = event as f64 * self.transmit_interval_s;
        let echo = |scatterer: &Scatterer| {
            let position_m = [0, 1, 2].map(|axis| scatterer.position_m[axis] + time_s * scatterer.velocity_m_s[axis]);
            let from_source_m = distance(position_m, source_m);
            Echo {
                position_m,
                way_there_m: from_source_m - distance([0.0; 3], source_m),
                amplitude: scatterer.amplitude * REFERENCE_M / from_source_m,
            }
        };
        scatterers.iter().map(echo).collect()
    }

    /// Standard deviation of the pulse in time: a Gaussian of width σ in time has one of 1 / (2πσ) in frequency, and half
    /// its height √(2 ln 2) of that off.
    fn sigma_s(&self) -> f64 {
        (2.0 * LN_2).sqrt() / (PI * self.fractional_bandwidth * self.center_frequency_hz)
    }

    /// Samples of a period that holds the recording and every echo.
    fn n_period(&self, echoes: &[Echo]) -> usize {
        let radius_m = self
            .probe
            .positions_m()
            .rows()
            .into_iter()
            .fold(0.0_f64, |radius, element| {
                radius.max(distance([element[0], element[1], element[2]], [0.0; 3]))
            });
        let end_s = self.start_time_s + self.n_samples as f64 / self.sampling_frequency_hz;
        let [mut first_s, mut last_s] = [self.start_time_s, end_s];
        for echo in echoes {
            let [nearest_m, furthest_m] = [-radius_m, radius_m]
                .map(|off| echo.way_there_m + (distance(echo.position_m, [0.0; 3]) + off).max(0.0));
            first_s = first_s.min(nearest_m / self.sound_speed_m_s + self.pulse_centre_s);
            last_s = last_s.max(furthest_m / self.sound_speed_m_s + self.pulse_centre_s);
        }
        let seconds = last_s - first_s + 2.0 * SIGMAS * self.sigma_s();
        (seconds * self.sampling_frequency_hz).ceil() as usize
    }

    /// What every element receives of the echoes, at the frequencies of the pulse.
    fn spectra(&self, backend: &Backend, echoes: &[Echo]) -> anyhow::Result<Spectra> {
        let n_period = self.n_period(echoes);
        let step_hz = self.sampling_frequency_hz / n_period as f64;
        let sigma_s = self.sigma_s();
        let reach = (SIGMAS / (TAU * sigma_s * step_hz)).ceil() as i64;
        let offsets_hz: Array1<f64> = (-reach..=reach).map(|bin| bin as f64 * step_hz).collect();
        // The pulse's spectrum, and the sum's weight that makes an integral of it.
        let pulse = offsets_hz.mapv(|hz| {
            let deviations = TAU * hz * sigma_s;
            TAU.sqrt() * sigma_s * step_hz * (-0.5 * deviations * deviations).exp()
        });
        let hit = Array2::from_shape_fn((echoes.len(), offsets_hz.len()), |(echo, bin)| {
            let echo = &echoes[echo];
            let hit_s = echo.way_there_m / self.sound_speed_m_s + self.pulse_centre_s;
            let turns = offsets_hz[bin] * (self.start_time_s - hit_s) - self.center_frequency_hz * hit_s;
            Complex::from_polar(echo.amplitude * REFERENCE_M * pulse[bin], TAU * turns)
        });
        let positions = Array2::from_shape_fn((echoes.len(), 3), |(echo, axis)| echoes[echo].position_m[axis]);
        // Waves that go out are e^{−ikr} where the time is e^{+iωt}.
        let wavenumbers = offsets_hz.mapv(|hz| -TAU * (self.center_frequency_hz + hz) / self.sound_speed_m_s);
        let elements = self.probe.positions_m();
        // A GPU propagates in single precision.
        let received = if backend.is_cuda() {
            let plan = GreensPlan::new(backend, &positions, &elements, &wavenumbers)?;
            let hit = hit.mapv(|value| Complex::new(value.re as f32, value.im as f32));
            plan.run(hit.view())?
                .mapv(|value| Complex::new(f64::from(value.re), f64::from(value.im)))
        } else {
            GreensPlan::new(backend, &positions, &elements, &wavenumbers)?.run(hit.view())?
        };
        Ok(Spectra {
            n_period,
            first_bin: -reach,
            received: received.into_dimensionality::<Ix2>().context("a line an element")?,
        })
    }

    /// The samples of all elements from their spectra, with noise whose seed is the line's number.
    fn lines(
        &self,
        spectra: Option<&Spectra>,
        mut lines: ArrayViewMut2<'_, Complex<f32>>,
        number: impl Fn(usize) -> usize + Sync,
    ) {
        let inverse = spectra.map(|spectra| FftPlanner::new().plan_fft_inverse(spectra.n_period));
        lines
            .outer_iter_mut()
            .into_par_iter()
            .enumerate()
            .for_each(|(channel, mut line)| {
                let mut samples = vec![Complex::new(0.0, 0.0); self.n_samples];
                if let (Some(spectra), Some(inverse)) = (spectra, &inverse) {
                    samples.resize(spectra.n_period, Complex::new(0.0, 0.0));
                    for (index, value) in spectra.received.row(channel).iter().enumerate() {
                        // What is beyond half the sampling frequency comes out where sampling puts it.
                        let bin = (spectra.first_bin + index as i64).rem_euclid(spectra.n_period as i64);
                        samples[bin as usize] += value;
                    }
                    inverse.process(&mut samples);
                }
                let mut rng =
                    Rng::with_seed(self.seed ^ (number(channel) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                for (stored, sample) in line.iter_mut().zip(samples) {
                    let noisy = sample + self.noise * gaussian(&mut rng);
                    *stored = Complex::new(noisy.re as f32, noisy.im as f32);
                }
            });
    }
}

/// What every element receives, frequency by frequency.
struct Spectra {
    /// Samples after which the transform comes round.
    n_period: usize,
    /// The first frequency's place, counted from the carrier.
    first_bin: i64,
    /// `(element, frequency)`.
    received: Array2<Complex<f64>>,
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1]).hypot(a[2] - b[2])
}

/// Two independent normal numbers (Box and Muller).
fn gaussian(rng: &mut Rng) -> Complex<f64> {
    // 1 − u is never 0.
    Complex::from_polar((-2.0 * (1.0 - rng.f64()).ln()).sqrt(), TAU * rng.f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner() -> Scanner {
        Scanner {
            probe: Probe::matrix(3, 2, 0.5e-3, 0.5e-3).unwrap(),
            sources_m: vec![[1e-3, 0.0, -8e-3], [0.0, -2e-3, -9e-3]],
            sound_speed_m_s: 1500.0,
            center_frequency_hz: 4e6,
            fractional_bandwidth: 0.5,
            pulse_centre_s: 0.7e-6,
            sampling_frequency_hz: 32e6,
            start_time_s: 20e-6,
            n_samples: 400,
            transmit_interval_s: 1e-3,
            n_frames: 2,
            noise: 0.0,
            seed: 1,
        }
    }

    #[test]
    fn an_echo_is_the_demodulated_pulse_at_its_time() {
        let scanner = scanner();
        let dot = Scatterer {
            position_m: [1e-3, 2e-3, 20e-3],
            velocity_m_s: [0.0, 0.0, -0.1],
            amplitude: 2.0,
        };
        let data = scanner.record(&Backend::cpu(), &[dot], || ()).unwrap();
        assert_eq!(data.dim(), (2, 6, 2, 400));
        for frame in 0..2 {
            for transmit in 0..2 {
                let position = [1e-3, 2e-3, 20e-3 - 0.1e-3 * (2 * frame + transmit) as f64];
                let element = [0.0, 0.25e-3, 0.0];
                let (source, channel) = (scanner.sources_m[transmit], 4);
                let (there, back) = (distance(position, source), distance(position, element));
                let tau = (there - distance(source, [0.0; 3]) + back) / 1500.0 + 0.7e-6;
                let line = data.slice(ndarray::s![frame, channel, transmit, ..]);
                // The energy's centre is the arrival, and the height there the spreading.
                let energy: f64 = line.iter().map(|iq| f64::from(iq.norm_sqr())).sum();
                let moment: f64 = line
                    .iter()
                    .enumerate()
                    .map(|(k, iq)| k as f64 * f64::from(iq.norm_sqr()))
                    .sum();
                let at = (tau - 20e-6) * 32e6;
                assert!((moment / energy - at).abs() < 1e-4, "{} for {at}", moment / energy);
                // Mixed back up, the carrier stands at phase 0 in the pulse's centre.
                let k = at.round();
                let phase = f64::from(line[k as usize].arg()) + TAU * 4e6 * tau;
                assert!((phase / TAU - (phase / TAU).round()).abs() < 1e-5);
                let height = 2.0 * 100e-6 / (there * back);
                let sigma = 32e6 * (2.0 * LN_2).sqrt() / (PI * 0.5 * 4e6);
                let expected = height * (-0.5 * ((k - at) / sigma).powi(2)).exp();
                assert!((f64::from(line[k as usize].norm()) / expected - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn the_spectrum_has_the_bandwidth_asked_for() {
        let scanner = scanner();
        let dot = Scatterer {
            position_m: [0.0, 0.0, 20e-3],
            velocity_m_s: [0.0; 3],
            amplitude: 1.0,
        };
        let data = scanner.record(&Backend::cpu(), &[dot], || ()).unwrap();
        let line = data.slice(ndarray::s![0, 0, 0, ..]);
        let at = |frequency_hz: f64| {
            let turn = |k: usize| Complex::from_polar(1.0, -TAU * frequency_hz * k as f64 / 32e6);
            line.iter()
                .enumerate()
                .map(|(k, iq)| Complex::new(f64::from(iq.re), f64::from(iq.im)) * turn(k))
                .sum::<Complex<f64>>()
                .norm()
        };
        assert!((at(1e6) / at(0.0) - 0.5).abs() < 1e-3 && (at(-1e6) / at(0.0) - 0.5).abs() < 1e-3);
    }

    #[test]
    fn noise_is_white_and_repeatable() {
        let scanner = Scanner {
            noise: 0.25,
            ..scanner()
        };
        let data = scanner.record(&Backend::cpu(), &[], || ()).unwrap();
        let n = data.len() as f64;
        let mean = data.iter().map(|iq| f64::from(iq.norm_sqr())).sum::<f64>() / n;
        // The power of n complex normal numbers scatters by 1/√n; five of that.
        assert!((mean / (2.0 * 0.25 * 0.25) - 1.0).abs() < 5.0 / n.sqrt(), "{mean}");
        assert_eq!(data, scanner.record(&Backend::cpu(), &[], || ()).unwrap());
    }

    #[test]
    fn echoes_before_and_after_the_recording_do_not_come_round() {
        let scanner = scanner();
        let dot = |depth_m| Scatterer {
            position_m: [0.0, 0.0, depth_m],
            velocity_m_s: [0.0; 3],
            amplitude: 1.0,
        };
        let data = scanner
            .record(&Backend::cpu(), &[dot(5e-3), dot(60e-3)], || ())
            .unwrap();
        // What is left out of the spectrum is all that is left of the nearer echo, of which this is the height.
        let height = 1e-4 / (distance([0.0, 0.0, 5e-3], scanner.sources_m[0]) * 5e-3);
        let most = data.iter().map(|iq| f64::from(iq.norm())).fold(0.0, f64::max);
        println!("{:.1e} of an echo's height", most / height);
        assert!(most <= 4e-6 * height);
    }
}
