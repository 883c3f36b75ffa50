//! Shapes and options of a delay-and-sum as data, and random geometry that fits them.

use crate::das::{Terms, terms};
use crate::random::{between, normal_within};
use crate::sample::{Precision, TestSample};
use fastrand::Rng;
use ndarray::{Array1, Array2, Array4, ArrayD, IxDyn};
use warpbeam::{Algorithm, ChannelLayout, DasGeometry, DasOptions, Interpolation, SumOver, TransmitLists, Window};

/// Where the elements are and where they look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// In the plane z = 0, looking along +z by default.
    Planar,
    /// On an arc around a centre behind it, each looking along its radius.
    Convex,
    /// Anywhere, looking anywhere within 60° of +z.
    Free,
}

/// A delay-and-sum to be checked.
#[derive(Clone, Debug)]
pub struct Case {
    /// Receive channels.
    pub channels: usize,
    /// Transmits.
    pub transmits: usize,
    /// Samples.
    pub samples: usize,
    /// Frames.
    pub batch: usize,
    /// The voxel grid's shape.
    pub grid: Vec<usize>,
    /// The elements.
    pub elements: Elements,
    /// Cosine bounds around this value, some elements with none (−1).
    pub cosine_bound: Option<f64>,
    /// Lists of up to so many transmits for every voxel; `None` for all transmits everywhere.
    pub longest_list: Option<usize>,
    /// Whether channels have weights.
    pub has_channel_weights: bool,
    /// Samples between t = 0 and the nearest voxels; the deeper, the larger the delays.
    pub depth: f64,
    /// Everything else.
    pub options: DasOptions,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            channels: 17,
            transmits: 3,
            samples: 96,
            batch: 3,
            grid: vec![5, 4, 7],
            elements: Elements::Planar,
            cosine_bound: None,
            longest_list: None,
            has_channel_weights: false,
            depth: 0.0,
            options: DasOptions::default(),
        }
    }
}

/// The largest part of the voxels that may be left out because rounding decides about them.
pub const AMBIGUOUS_LIMIT: f64 = 0.05;

impl Case {
    /// Voxels.
    pub fn n_voxels(&self) -> usize {
        self.grid.iter().product()
    }

    /// One line for reports.
    pub fn describe(&self) -> String {
        let options = &self.options;
        let layout = match options.layout {
            ChannelLayout::ChannelTransmit => "mq",
            ChannelLayout::TransmitChannel => "qm",
        };
        let interpolation = match options.interpolation {
            Interpolation::Nearest => "nearest",
            Interpolation::Linear => "linear",
            Interpolation::Quadratic => "quadratic",
            Interpolation::Cubic => "cubic",
            Interpolation::Lanczos3 => "lanczos-3",
        };
        let window = match options.window {
            Window::Boxcar => "boxcar".to_owned(),
            Window::Hann => "hann".to_owned(),
            Window::Hamming => "hamming".to_owned(),
            Window::Tukey { taper } => format!("tukey {taper}"),
        };
        format!(
            "B {} M {} Q {} K {} voxels {:?} {:?} {layout} {interpolation} F {} {window} cone {:?} κ {} φ {}{}",
            self.batch,
            self.channels,
            self.transmits,
            self.samples,
            self.grid,
            self.elements,
            options.f_number,
            self.cosine_bound,
            options.phase_per_sample,
            options.phase_offsets.len(),
            self.describe_rest(),
        )
    }

    /// What is not the default, and seldom.
    fn describe_rest(&self) -> String {
        let options = &self.options;
        let mut rest = String::new();
        let mut add = |is_set: bool, what: String| {
            if is_set {
                rest += &what;
            }
        };
        add(
            options.algorithm != Algorithm::Auto,
            format!(" {:?}", options.algorithm),
        );
        add(
            options.sum_over != SumOver::ChannelsAndTransmits,
            format!(" sum over {:?}", options.sum_over),
        );
        add(
            options.precision != warpbeam::Precision::Full,
            format!(" {:?}", options.precision),
        );
        add(
            options.directivity_exponent != 0.0,
            format!(" cos^{}", options.directivity_exponent),
        );
        add(self.has_channel_weights, " channel weights".to_owned());
        add(
            self.longest_list.is_some(),
            format!(" lists of {}", self.longest_list.unwrap_or(0)),
        );
        rest
    }

    /// Random geometry: delays from before the first to beyond the last sample, some voxels on elements, some behind.
    ///
    /// Drawn again until rounding decides about few voxels only.
    ///
    /// # Panics
    ///
    /// Where that takes more than 50 draws.
    pub fn geometry(&self, rng: &mut Rng, precision: Precision) -> (DasGeometry, Terms) {
        for _ in 0..50 {
            let geometry = self.draw(rng);
            let terms = terms(&geometry, &self.options, precision, self.samples);
            if terms.ambiguous_share() <= AMBIGUOUS_LIMIT {
                return (geometry, terms);
            }
        }
        panic!(
            "{}: more than {AMBIGUOUS_LIMIT} of the voxels ambiguous in every draw",
            self.describe()
        );
    }

    /// Random geometry as it comes.
    ///
    /// # Panics
    ///
    /// Never: the shapes fit each other.
    pub fn draw(&self, rng: &mut Rng) -> DasGeometry {
        let (element_positions, normals) = self.draw_elements(rng);
        let mut voxels = Array2::from_shape_fn((self.n_voxels(), 3), |(_, axis)| match axis {
            2 => between(rng, -4.0, 60.0),
            _ => between(rng, -25.0, 25.0),
        });
        // Every 13th voxel lies on an element.
        for n in (5..self.n_voxels()).step_by(13) {
            if self.channels > 0 {
                voxels
                    .row_mut(n)
                    .assign(&element_positions.row(rng.usize(..self.channels)));
            }
        }
        let mut shape = self.grid.clone();
        shape.push(3);
        let voxel_positions = voxels
            .into_shape_with_order(IxDyn(&shape))
            .expect("as many numbers as voxels × 3");
        let mut per_voxel = vec![self.longest_list.unwrap_or(self.transmits)];
        per_voxel.extend_from_slice(&self.grid);
        let end = self.samples as f64;
        let transmit_offsets = ArrayD::from_shape_simple_fn(IxDyn(&per_voxel), || match rng.u32(..20) {
            0 => between(rng, -2e6, -end),
            1 => between(rng, end, 2e6),
            _ => self.depth + between(rng, -20.0, end - self.depth - 20.0),
        });
        let transmit_weights = ArrayD::from_shape_simple_fn(IxDyn(&per_voxel), || match rng.u32(..20) {
            0 => 0.0,
            _ => between(rng, -1.0, 1.0),
        });
        let cosine_bounds = self.cosine_bound.map(|bound| {
            Array1::from_shape_simple_fn(self.channels, || match rng.u32(..5) {
                0 => -1.0,
                _ => bound + between(rng, -0.05, 0.05),
            })
        });
        let transmit_lists = self.longest_list.map(|_| TransmitLists {
            n_transmits: self.transmits,
            indices: ArrayD::from_shape_simple_fn(IxDyn(&per_voxel), || match rng.u32(..6) {
                0 => -1,
                _ => rng.i32(0..self.transmits as i32),
            }),
        });
        let channel_weights = self.has_channel_weights.then(|| {
            Array1::from_shape_simple_fn(self.channels, || match rng.u32(..8) {
                0 => 0.0,
                _ => between(rng, -1.0, 2.0),
            })
        });
        DasGeometry {
            element_positions,
            voxel_positions,
            transmit_offsets,
            transmit_weights,
            transmit_lists,
            channel_weights,
            element_normals: normals,
            element_cosine_bounds: cosine_bounds,
        }
    }

    fn draw_elements(&self, rng: &mut Rng) -> (Array2<f64>, Option<Array2<f64>>) {
        let mut positions = Array2::zeros((self.channels, 3));
        let mut normals = Array2::zeros((self.channels, 3));
        for m in 0..self.channels {
            let (position, normal) = match self.elements {
                Elements::Planar => (
                    [between(rng, -20.0, 20.0), between(rng, -20.0, 20.0), 0.0],
                    [0.0, 0.0, 1.0],
                ),
                Elements::Convex => {
                    let (sine, cosine) = between(rng, -0.6, 0.6).sin_cos();
                    let radius = 40.0;
                    (
                        [radius * sine, between(rng, -5.0, 5.0), radius * (cosine - 1.0)],
                        [sine, 0.0, cosine],
                    )
                }
                Elements::Free => (
                    [
                        between(rng, -20.0, 20.0),
                        between(rng, -20.0, 20.0),
                        between(rng, -5.0, 5.0),
                    ],
                    normal_within(rng, std::f64::consts::FRAC_PI_3),
                ),
            };
            for axis in 0..3 {
                positions[[m, axis]] = position[axis];
                normals[[m, axis]] = normal[axis];
            }
        }
        (positions, (self.elements != Elements::Planar).then_some(normals))
    }

    /// Random data in the options' layout.
    pub fn data<T: TestSample>(&self, rng: &mut Rng) -> Array4<T> {
        Array4::from_shape_simple_fn(self.data_shape(), || T::random(rng))
    }

    /// The data's shape in the options' layout.
    pub fn data_shape(&self) -> (usize, usize, usize, usize) {
        match self.options.layout {
            ChannelLayout::ChannelTransmit => (self.batch, self.channels, self.transmits, self.samples),
            ChannelLayout::TransmitChannel => (self.batch, self.transmits, self.channels, self.samples),
        }
    }

    /// The output's shape.
    pub fn output_shape(&self) -> Vec<usize> {
        let apart: &[usize] = match self.options.sum_over {
            SumOver::ChannelsAndTransmits => &[],
            SumOver::Channels => &[self.transmits],
            SumOver::Transmits => &[self.channels],
            SumOver::Neither => &[self.channels, self.transmits],
        };
        [&[self.batch], apart, self.grid.as_slice()].concat()
    }
}
