//! The oracle of delay-and-sum: slow, in f64, term by term as the sum is written.

use crate::sample::{Precision, TestSample};
use ndarray::{Array2, Array4, Axis};
use num_complex::Complex64;
use std::ops::AddAssign;
use warpbeam::{ChannelLayout, DasGeometry, DasOptions, Interpolation, SumOver, Window};

/// One non-zero term of the sum of a voxel.
#[derive(Clone, Debug)]
pub struct Term {
    /// The voxel's number in the grid's row-major order.
    pub voxel: usize,
    /// The transmit.
    pub transmit: usize,
    /// The receive channel.
    pub channel: usize,
    /// Samples and their interpolation weights.
    pub taps: Vec<(usize, f64)>,
    /// Transmit weight times receive weight.
    pub weight: f64,
    /// How much of the weight the rounding of where the element sees the voxel may change.
    pub weight_error: f64,
    /// The phase in radians.
    pub phase: f64,
}

/// All non-zero terms of a delay-and-sum, and where rounding may decide otherwise.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The terms, voxel by voxel.
    pub list: Vec<Term>,
    /// Voxels with a delay or an element so near to a discontinuity that rounding decides on which side it is.
    pub ambiguous: Vec<bool>,
    /// The largest delay of a term, in samples.
    pub largest_delay: f64,
    layout: ChannelLayout,
    sum_over: SumOver,
    n_channels: usize,
    n_transmits: usize,
}

/// Sums `(batch, part · voxel)`, and for each how far the rounding of its receive weights may move it.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The sums.
    pub sums: Array2<Complex64>,
    /// How far, in the sums' units.
    pub weight_errors: Array2<f64>,
}

/// An answer, and whether rounding may change it.
#[derive(Clone)]
struct Decision<T> {
    value: T,
    is_close: bool,
}

/// The receive weight of an element by its own definition.
struct Receiver {
    normal: [f64; 3],
    cosine_bound: f64,
    f_number: f64,
    window: Window,
    directivity_exponent: f64,
    channel_weight: f64,
    /// Of lengths relative to the distance, within which neither side of an edge is expected.
    tolerance: f64,
    /// Of lengths relative to the distance and of cosines, as they are rounded.
    roundoff: f64,
}

/// Rounding errors of a distance and of a delay, in unit roundoffs of each summand; about twice what the arithmetic
/// allows, GPU square roots included.
const DISTANCE_ERRORS: f64 = 6.0;
const OFFSET_ERRORS: f64 = 2.0;

/// The terms for data of `samples` samples, the geometry rounded to `precision` as the library gets it.
///
/// # Panics
///
/// Where lists of transmits do not have the grid's shape.
pub fn terms(geometry: &DasGeometry, options: &DasOptions, precision: Precision, samples: usize) -> Terms {
    let round = |value: &f64| precision.round(*value);
    let elements: Vec<[f64; 3]> = geometry
        .element_positions
        .rows()
        .into_iter()
        .map(|p| [round(&p[0]), round(&p[1]), round(&p[2])])
        .collect();
    let voxel_axis = Axis(geometry.voxel_positions.ndim() - 1);
    let voxels: Vec<[f64; 3]> = geometry
        .voxel_positions
        .lanes(voxel_axis)
        .into_iter()
        .map(|p| [round(&p[0]), round(&p[1]), round(&p[2])])
        .collect();
    let per_transmit = |array: &ndarray::ArrayD<f64>| -> Vec<Vec<f64>> {
        array.outer_iter().map(|one| one.iter().map(round).collect()).collect()
    };
    let offsets = per_transmit(&geometry.transmit_offsets);
    let weights = per_transmit(&geometry.transmit_weights);
    // The transmits of every voxel: all, or its list up to the end.
    let listed: Vec<Vec<usize>> = (0..voxels.len())
        .map(|n| match &geometry.transmit_lists {
            None => (0..weights.len()).collect(),
            Some(lists) => lists
                .indices
                .outer_iter()
                .map(|entry| *entry.iter().nth(n).expect("an index a voxel"))
                .take_while(|index| *index >= 0)
                .map(|index| usize::try_from(index).expect("not negative"))
                .collect(),
        })
        .collect();
    let receivers = receivers(geometry, options, precision);
    let mut list = Vec::new();
    let mut ambiguous = vec![false; voxels.len()];
    let mut largest_delay = 0.0_f64;
    for (n, voxel) in voxels.iter().enumerate() {
        for (entry, &q) in listed[n].iter().enumerate() {
            let (offset_of_entry, weight_of_entry) = (offsets[entry][n], weights[entry][n]);
            if weight_of_entry == 0.0 {
                continue;
            }
            for (m, element) in elements.iter().enumerate() {
                let offset = [voxel[0] - element[0], voxel[1] - element[1], voxel[2] - element[2]];
                let distance = norm(offset);
                let delay = offset_of_entry + distance;
                let roundoff = precision.unit_roundoff();
                let slack = roundoff * (DISTANCE_ERRORS * distance + OFFSET_ERRORS * offset_of_entry.abs());
                let taps = taps(options.interpolation, delay, samples, slack);
                let heard = receivers[m].weight(offset);
                // What one of the two excludes for certain, the other cannot bring back.
                if (taps.value.is_none() && !taps.is_close) || (heard.value == 0.0 && !heard.is_close) {
                    continue;
                }
                ambiguous[n] |= taps.is_close || heard.is_close;
                let (Some(taps), true) = (taps.value, heard.value != 0.0) else {
                    continue;
                };
                largest_delay = largest_delay.max(delay);
                list.push(Term {
                    voxel: n,
                    transmit: q,
                    channel: m,
                    taps,
                    weight: weight_of_entry * heard.value,
                    weight_error: (weight_of_entry * receivers[m].weight_error(offset)).abs(),
                    phase: options.phase_per_sample * delay + options.phase_offsets.get(q).copied().unwrap_or(0.0),
                });
            }
        }
    }
    Terms {
        list,
        ambiguous,
        largest_delay,
        layout: options.layout,
        sum_over: options.sum_over,
        n_channels: elements.len(),
        n_transmits: geometry.n_transmits(),
    }
}

/// The elements as they receive.
fn receivers(geometry: &DasGeometry, options: &DasOptions, precision: Precision) -> Vec<Receiver> {
    let round = |value: &f64| precision.round(*value);
    (0..geometry.n_channels())
        .map(|m| Receiver {
            normal: geometry.element_normals.as_ref().map_or([0.0, 0.0, 1.0], |normals| {
                [
                    round(&normals[[m, 0]]),
                    round(&normals[[m, 1]]),
                    round(&normals[[m, 2]]),
                ]
            }),
            cosine_bound: geometry
                .element_cosine_bounds
                .as_ref()
                .map_or(-1.0, |bounds| round(&bounds[m])),
            f_number: options.f_number,
            window: options.window,
            directivity_exponent: round(&options.directivity_exponent),
            channel_weight: geometry
                .channel_weights
                .as_ref()
                .map_or(1.0, |weights| round(&weights[m])),
            tolerance: 16.0 * precision.unit_roundoff(),
            roundoff: DISTANCE_ERRORS * precision.unit_roundoff(),
        })
        .collect()
}

impl Terms {
    /// The place of a term among the parts of the sum that are kept apart, and their number.
    pub fn part(&self, term: &Term) -> (usize, usize) {
        match self.sum_over {
            SumOver::ChannelsAndTransmits => (0, 1),
            SumOver::Channels => (term.transmit, self.n_transmits),
            SumOver::Transmits => (term.channel, self.n_channels),
            SumOver::Neither => (
                term.channel * self.n_transmits + term.transmit,
                self.n_channels * self.n_transmits,
            ),
        }
    }

    fn n_parts(&self) -> usize {
        match self.sum_over {
            SumOver::ChannelsAndTransmits => 1,
            SumOver::Channels => self.n_transmits,
            SumOver::Transmits => self.n_channels,
            SumOver::Neither => self.n_channels * self.n_transmits,
        }
    }

    /// The sums `(batch, part · voxel)` over data in the options' layout.
    pub fn sum<T: TestSample>(&self, data: &Array4<T>) -> Array2<Complex64> {
        self.sum_of(data, |term, sample| {
            let factor = if T::IS_COMPLEX {
                Complex64::from_polar(1.0, term.phase) * term.weight
            } else {
                Complex64::new(term.weight, 0.0)
            };
            factor * sample
        })
    }

    /// The sums, and for each how far the rounding of its receive weights may move it, all in one direction.
    pub fn expected<T: TestSample>(&self, data: &Array4<T>) -> Expected {
        Expected {
            sums: self.sum(data),
            weight_errors: self.sum_of(data, |term, sample| term.weight_error * sample.norm()),
        }
    }

    fn sum_of<T: TestSample, S: Clone + Default + AddAssign>(
        &self,
        data: &Array4<T>,
        of: impl Fn(&Term, Complex64) -> S,
    ) -> Array2<S> {
        let n_voxels = self.ambiguous.len();
        let mut out = Array2::from_elem((data.shape()[0], self.n_parts() * n_voxels), S::default());
        for term in &self.list {
            for (b, frame) in data.outer_iter().enumerate() {
                let trace = match self.layout {
                    ChannelLayout::ChannelTransmit => frame.index_axis_move(Axis(0), term.channel),
                    ChannelLayout::TransmitChannel => frame.index_axis_move(Axis(1), term.channel),
                };
                let trace = trace.index_axis(Axis(0), term.transmit);
                let sample: Complex64 = term.taps.iter().map(|(k, weight)| trace[*k].value() * *weight).sum();
                out[[b, self.part(term).0 * n_voxels + term.voxel]] += of(term, sample);
            }
        }
        out
    }

    /// The part of the voxels that are ambiguous.
    pub fn ambiguous_share(&self) -> f64 {
        let count = self.ambiguous.iter().filter(|is_ambiguous| **is_ambiguous).count();
        count as f64 / self.ambiguous.len().max(1) as f64
    }
}

/// Samples and weights of a delay, none where it is out of range, and whether a change by `slack` would take others.
pub fn samples_and_weights(
    interpolation: Interpolation,
    delay: f64,
    samples: usize,
    slack: f64,
) -> (Vec<(usize, f64)>, bool) {
    let Decision { value, is_close } = taps(interpolation, delay, samples, slack);
    (value.unwrap_or_default(), is_close)
}

/// Samples and weights of a delay: none outside 0 ≤ d < K − 1.
fn taps(interpolation: Interpolation, delay: f64, samples: usize, slack: f64) -> Decision<Option<Vec<(usize, f64)>>> {
    let last = samples as f64 - 1.0;
    let near = |edge: f64| (delay - edge).abs() <= slack && slack > 0.0;
    let mut is_close = near(0.0) || near(last);
    if !(0.0..last).contains(&delay) {
        return Decision { value: None, is_close };
    }
    let nearest = (delay + 0.5).floor();
    // These two jump where another sample becomes the nearest.
    if matches!(interpolation, Interpolation::Nearest | Interpolation::Quadratic) {
        is_close |= near(delay.trunc() + 0.5);
    }
    let weight = |sample: usize| {
        let x = delay - sample as f64;
        match interpolation {
            Interpolation::Nearest => f64::from(u8::from((sample as f64 - nearest).abs() < 0.5)),
            Interpolation::Linear => (1.0 - x.abs()).max(0.0),
            Interpolation::Quadratic => lagrange(delay, sample as f64, [nearest - 1.0, nearest, nearest + 1.0]),
            Interpolation::Cubic => keys(x.abs()),
            Interpolation::Lanczos3 if x.abs() < 3.0 => sinc(x) * sinc(x / 3.0),
            Interpolation::Lanczos3 => 0.0,
        }
    };
    let here = delay.floor();
    let (first, count) = match interpolation {
        Interpolation::Nearest => (nearest, 1),
        Interpolation::Linear => (here, 2),
        Interpolation::Quadratic => (nearest - 1.0, 3),
        Interpolation::Cubic => (here - 1.0, 4),
        Interpolation::Lanczos3 => (here - 2.0, 6),
    };
    // Beyond the ends there is nothing.
    let value = (0..count)
        .map(|tap| first + f64::from(tap))
        .filter(|sample| (0.0..=last).contains(sample))
        .map(|sample| (sample as usize, weight(sample as usize)))
        .collect();
    Decision {
        value: Some(value),
        is_close,
    }
}

/// The Lagrange polynomial of one of three nodes.
fn lagrange(at: f64, node: f64, nodes: [f64; 3]) -> f64 {
    if nodes.iter().all(|other| (other - node).abs() > 0.5) {
        return 0.0;
    }
    let others = nodes.iter().filter(|other| (*other - node).abs() > 0.5);
    others.map(|other| (at - other) / (node - other)).product()
}

/// The cubic convolution kernel with a = −1/2.
fn keys(x: f64) -> f64 {
    const A: f64 = -0.5;
    match x {
        x if x <= 1.0 => (A + 2.0) * x.powi(3) - (A + 3.0) * x.powi(2) + 1.0,
        x if x < 2.0 => A * (x.powi(3) - 5.0 * x.powi(2) + 8.0 * x - 4.0),
        _ => 0.0,
    }
}

fn sinc(x: f64) -> f64 {
    let angle = std::f64::consts::PI * x;
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

impl Receiver {
    /// The change of the weight where lengths and cosines change by their tolerance: most where the window or the
    /// power of the cosine is steep for its value, towards the edge.
    fn weight_error(&self, offset: [f64; 3]) -> f64 {
        let distance = norm(offset);
        if distance == 0.0 {
            return 0.0;
        }
        let depth = dot(offset, self.normal);
        let change = |at: f64, by: f64, of: &dyn Fn(f64) -> f64| {
            (of(at + by) - of(at))
                .abs()
                .max((of((at - by).max(0.0)) - of(at)).abs())
        };
        let (aperture, aperture_error) = if self.f_number == 0.0 || depth <= 0.0 {
            (1.0, 0.0)
        } else {
            let half_width = depth / (2.0 * self.f_number);
            let u = self.lateral(offset) / half_width;
            let by = self.roundoff * distance * (1.0 + 0.5 / self.f_number) / half_width;
            let at_most_1 = |u: f64| window(self.window, u.min(1.0));
            (at_most_1(u), change(u, by, &at_most_1))
        };
        let cosine = (depth / distance).max(0.0);
        let power = |cosine: f64| cosine.min(1.0).powf(self.directivity_exponent);
        let (directivity, directivity_error) = if self.directivity_exponent == 0.0 {
            (1.0, 0.0)
        } else {
            (power(cosine), change(cosine, self.roundoff, &power))
        };
        self.channel_weight.abs() * (directivity * aperture_error + aperture * directivity_error)
    }

    /// From the element's axis.
    fn lateral(&self, offset: [f64; 3]) -> f64 {
        let depth = dot(offset, self.normal);
        let foot = self.normal.map(|part| part * depth);
        norm([offset[0] - foot[0], offset[1] - foot[1], offset[2] - foot[2]])
    }

    fn weight(&self, offset: [f64; 3]) -> Decision<f64> {
        let Decision { value, is_close } = self.aperture(offset);
        let distance = norm(offset);
        let cosine = dot(offset, self.normal) / distance;
        let directivity = if self.directivity_exponent == 0.0 || distance == 0.0 {
            1.0
        } else {
            cosine.max(0.0).powf(self.directivity_exponent)
        };
        // A low power of the cosine all but jumps at a right angle.
        let is_low = self.directivity_exponent > 0.0 && self.directivity_exponent < 1.0;
        let jumps = is_low && cosine != 0.0 && cosine.abs() <= self.tolerance;
        Decision {
            value: value * directivity * self.channel_weight,
            is_close: is_close || jumps,
        }
    }

    fn aperture(&self, offset: [f64; 3]) -> Decision<f64> {
        let distance = norm(offset);
        if distance == 0.0 {
            return Decision {
                value: 1.0,
                is_close: false,
            };
        }
        let slack = self.tolerance * distance;
        let depth = dot(offset, self.normal);
        if self.cosine_bound > -1.0 {
            let margin = depth - self.cosine_bound * distance;
            if margin.abs() <= slack {
                return Decision {
                    value: 1.0,
                    is_close: true,
                };
            }
            if margin < 0.0 {
                return Decision {
                    value: 0.0,
                    is_close: false,
                };
            }
        }
        if self.f_number == 0.0 {
            return Decision {
                value: 1.0,
                is_close: false,
            };
        }
        let lateral = self.lateral(offset);
        let half_width = depth / (2.0 * self.f_number);
        let is_close = (lateral - half_width).abs() <= slack * (1.0 + 0.5 / self.f_number);
        // Windows that end at 0 have no jump at the edge.
        let jumps =
            !matches!(self.window, Window::Hann) && !matches!(self.window, Window::Tukey { taper } if taper > 0.0);
        let value = if depth < 0.0 || lateral > half_width {
            0.0
        } else {
            window(self.window, lateral / half_width)
        };
        Decision {
            value,
            is_close: is_close && jumps,
        }
    }
}

/// A window from its centre (0) to its edge (1).
fn window(window: Window, u: f64) -> f64 {
    use std::f64::consts::PI;
    match window {
        Window::Boxcar => 1.0,
        Window::Hann => (PI * u / 2.0).cos().powi(2),
        Window::Hamming => 0.08 + 0.92 * (PI * u / 2.0).cos().powi(2),
        Window::Tukey { taper } if u <= 1.0 - taper => {
            debug_assert!((0.0..=1.0).contains(&taper));
            1.0
        }
        Window::Tukey { taper } => (PI * (u - (1.0 - taper)) / (2.0 * taper)).cos().powi(2),
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn norm(a: [f64; 3]) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}
