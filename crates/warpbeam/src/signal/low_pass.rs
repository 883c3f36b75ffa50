//! A Butterworth low-pass that runs over a signal forwards and backwards, so that it delays nothing.
//!
//! The analogue prototype becomes digital by the bilinear transform with the cut-off prewarped, in second-order
//! sections: with K = tan(π · cut-off / sampling frequency) and the order N,
//!
//! ```text
//! |H(ω)|² = 1 / (1 + (ω/ω_c)^2N),  Q_k = 1 / (2·sin((2k+1)·π/2N))
//! H_k(z) = K²·(1 + z⁻¹)² / ((1 + K/Q_k + K²) + 2·(K² − 1)·z⁻¹ + (1 − K/Q_k + K²)·z⁻²)
//! ```
//!
//! and for odd N one section K·(1 + z⁻¹) / ((1 + K) + (K − 1)·z⁻¹). The two runs together have the gain |H|²: 1/2 at
//! the cut-off. At its ends a signal is continued by its mirror image about the end point, and each run starts in the
//! state of a constant signal of the first value, so that a constant passes unchanged from end to end.
//!
//! Source: F. Gustafsson, "Determining the initial states in forward-backward filtering", IEEE Trans. Signal Process.
//! 44(4), 988–992, 1996.

use std::array::from_fn;
use std::f64::consts::PI;

/// Signals that are filtered together, so that the processor's vector units have something to do: the recursion of one
/// signal alone waits for each of its own results.
pub(super) const LANES: usize = 8;

/// One sample of each lane.
pub(super) type Lanes = [f64; LANES];

const ORDER: usize = 5;
const SECTIONS: usize = ORDER.div_ceil(2);
/// Length of the mirrored continuation at each end, in samples; three times the filter's memory.
const EDGE: usize = 3 * (ORDER + 1);

/// b0 + b1·z⁻¹ + b2·z⁻² over 1 + a1·z⁻¹ + a2·z⁻².
#[derive(Clone, Copy, Debug)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
}

/// Fifth-order Butterworth low-pass.
#[derive(Clone, Debug)]
pub(super) struct LowPass {
    sections: [Section; SECTIONS],
}

impl LowPass {
    /// `cutoff` as a fraction of the sampling frequency, between 0 and 1/2.
    pub(super) fn new(cutoff: f64) -> Self {
        let k = (PI * cutoff).tan();
        let first_order = Section {
            b: [k / (1.0 + k), k / (1.0 + k), 0.0],
            a: [(k - 1.0) / (k + 1.0), 0.0],
        };
        let mut sections = [first_order; SECTIONS];
        for (index, section) in sections.iter_mut().take(ORDER / 2).enumerate() {
            let k_over_q = 2.0 * k * ((2 * index + 1) as f64 * PI / (2 * ORDER) as f64).sin();
            let norm = 1.0 / (1.0 + k_over_q + k * k);
            let b0 = k * k * norm;
            section.b = [b0, 2.0 * b0, b0];
            section.a = [2.0 * (k * k - 1.0) * norm, (1.0 - k_over_q + k * k) * norm];
        }
        Self { sections }
    }

    /// How many places [`run_both_ways`](Self::run_both_ways) wants at each end of a signal of `n_samples`.
    pub(super) fn edge(n_samples: usize) -> usize {
        EDGE.min(n_samples.saturating_sub(1))
    }

    /// Filters the signal between `line`'s outermost `edge` places, which are overwritten.
    pub(super) fn run_both_ways(&self, line: &mut [Lanes], edge: usize) {
        let last = line.len() - 1;
        let (start, end) = (line[edge], line[last - edge]);
        for distance in 1..=edge {
            let (after, before) = (line[edge + distance], line[last - edge - distance]);
            line[edge - distance] = from_fn(|lane| 2.0 * start[lane] - after[lane]);
            line[last - edge + distance] = from_fn(|lane| 2.0 * end[lane] - before[lane]);
        }
        self.run(line[0], line.iter_mut());
        self.run(line[last], line.iter_mut().rev());
    }

    /// One run, which starts as if the signal had always been `first`.
    fn run<'a>(&self, first: Lanes, line: impl Iterator<Item = &'a mut Lanes>) {
        let mut states = self.sections.map(|Section { b, a }| {
            let second = b[2] - a[1];
            [
                first.map(|value| (b[1] - a[0] + second) * value),
                first.map(|value| second * value),
            ]
        });
        for sample in line {
            for (Section { b, a }, state) in self.sections.iter().zip(&mut states) {
                for lane in 0..LANES {
                    let input = sample[lane];
                    let output = b[0] * input + state[0][lane];
                    state[0][lane] = b[1] * input - a[0] * output + state[1][lane];
                    state[1][lane] = b[2] * input - a[1] * output;
                    sample[lane] = output;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filters one signal, in the first lane.
    fn filter(cutoff: f64, signal: &[f64]) -> Vec<f64> {
        let edge = LowPass::edge(signal.len());
        // What is not the signal must not matter.
        let mut line = vec![[f64::NAN; LANES]; signal.len() + 2 * edge];
        for (place, &sample) in line[edge..].iter_mut().zip(signal) {
            *place = [sample; LANES];
        }
        LowPass::new(cutoff).run_both_ways(&mut line, edge);
        line[edge..edge + signal.len()].iter().map(|lanes| lanes[0]).collect()
    }

    #[test]
    fn the_gain_is_the_prototype_s_squared() {
        for cutoff in [0.01, 0.05625, 0.25, 0.45] {
            let n = 40_000;
            for frequency in [0.1 * cutoff, 0.7 * cutoff, cutoff, 0.5 * (cutoff + 0.5)] {
                let signal: Vec<f64> = (0..n).map(|k| (2.0 * PI * frequency * k as f64).cos()).collect();
                let filtered = filter(cutoff, &signal);
                // Far from the ends; as a cosine has no sine part, this is gain and delay in one.
                let middle = n / 4..3 * n / 4;
                let gain = (PI * frequency).tan() / (PI * cutoff).tan();
                let gain = 1.0 / (1.0 + gain.powi(2 * 5));
                let worst = middle
                    .map(|k| (filtered[k] - gain * signal[k]).abs())
                    .fold(0.0, f64::max);
                println!(
                    "cut-off {cutoff}, frequency {frequency}: gain {gain:.6}, off by {worst:.2e} of 1e-10 allowed"
                );
                assert!(worst < 1e-10);
            }
        }
    }

    #[test]
    fn constants_and_ramps_pass_to_the_very_ends() {
        for n in [1, 2, 3, 18, 19, 20, 1000] {
            for value in filter(0.1, &vec![-2.5; n]) {
                assert!((value + 2.5).abs() < 1e-12, "{n}: {value}");
            }
        }
        let ramp: Vec<f64> = (0..200).map(f64::from).collect();
        let filtered = filter(0.2, &ramp);
        let worst = ramp
            .iter()
            .zip(&filtered)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        println!("ramp off by {worst:.2e} of 1e-2 allowed");
        assert!(worst < 1e-2);
    }

    #[test]
    fn lanes_do_not_touch_each_other() {
        let edge = LowPass::edge(64);
        let mut line = vec![[0.0; LANES]; 64 + 2 * edge];
        line[edge + 30][3] = 1.0;
        line[edge + 5][6] = f64::NAN;
        LowPass::new(0.2).run_both_ways(&mut line, edge);
        let alone: Vec<f64> = (0..64).map(|k| f64::from(u8::from(k == 30))).collect();
        for (lanes, expected) in line[edge..].iter().zip(filter(0.2, &alone)) {
            assert_eq!(lanes[3].to_bits(), expected.to_bits());
            assert_eq!(lanes[0].to_bits(), 0);
        }
    }
}
