//! What a delay-and-sum does beyond its geometry.

use super::SumOver;
use super::geometry::expect_shape;
use crate::{Error, Result};
use kernels::das::scale::LARGEST_EXPONENT;
use wavefield::aperture::Window;
use wavefield::sampling::Interpolation;

/// The order of the middle axes of channel data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelLayout {
    /// `(batch, channel, transmit, sample)`.
    #[default]
    ChannelTransmit,
    /// `(batch, transmit, channel, sample)`.
    TransmitChannel,
}

/// How a GPU goes about the sum; the CPU has one way for all.
///
/// Each gives the same bits for the same data, however the batch and the work are split; among each other they agree within
/// rounding. Which one [`Algorithm::Auto`] takes depends on the number of frames; on an H100 or H200 it may also take windows
/// of complex `f16` by products of four warps together, whose bits are those of no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The one that is fastest for the type and size of the data.
    #[default]
    Auto,
    /// A thread a voxel, samples in the order they come in. Takes every sample type and no memory.
    Voxel,
    /// A thread a voxel that finds the distance to an element once for several transmits: for one frame, or a few. Takes every
    /// sample type and no memory.
    Frame,
    /// Lanes that share a voxel, samples copied with the batch innermost: for many frames at once.
    ///
    /// The copy is as large as the data, the batch rounded up to 16 bytes; the plan makes room for it at the first run
    /// and keeps it. Where there is room for a part only, the batch is taken in parts; where there is none,
    /// [`Algorithm::Voxel`] does the work, whose bits are the same but for the sign of a sum that underflowed to 0. Not for
    /// `f64`.
    Batch,
    /// Matrix instructions over the distinct samples of a tile of neighbouring voxels, for nearest and linear interpolation. A
    /// copy as for [`Algorithm::Batch`].
    ///
    /// Halves are multiplied as they are; `f32` and `i16` samples are split into two halves each, or follow
    /// [`Precision::Tf32`] and [`Precision::F16`]. Splitting and TF32 need compute capability 8.0. Batch items with samples
    /// that are not finite go the way of [`Algorithm::Voxel`]. Not for `f64`.
    Distinct,
    /// Matrix instructions over windows of consecutive samples of a tile of neighbouring voxels. A copy as for
    /// [`Algorithm::Batch`].
    ///
    /// Halves are multiplied as they are; `f32` and `i16` samples are split into two halves each, for nearest and linear
    /// interpolation, or follow [`Precision::F16`], for every interpolation.
    ///
    /// Where there are few voxels, ranges of channels are summed at once and then added, for which there is room beside the copy.
    /// Batch items with samples that are not finite go the way of [`Algorithm::Voxel`]. Needs compute capability 8.0. Not for
    /// `f64`.
    Window,
}

/// How a plan on a GPU finds the fastest way to sum, tile shapes included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Autotune {
    /// By a rule from the sizes.
    #[default]
    Rule,
    /// By timing every way that the algorithm leaves open, at the first [`DasPlan::run_into`](super::DasPlan::run_into) of a
    /// size.
    ///
    /// That run takes much longer and allocates. The answer is kept on disk for the device, the driver, the library's version
    /// and the class of shape, each count up to the next power of two: in the folder `warpbeam` of the system's folder for
    /// caches, or of the one that the environment's `WARPBEAM_CACHE` names.
    Measure,
}

/// How accurately samples and products are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Samples as they come, sums as accurate as `f32` is (`f64` for `f64` samples).
    #[default]
    Full,
    /// [`Algorithm::Distinct`] may round `f32` samples and their weights to TF32, 11 bits; the others ignore it.
    Tf32,
    /// `f32` samples are rounded to `f16` as they are copied, which halves what a GPU moves; sums stay `f32`.
    ///
    /// Each batch item is first multiplied by a power of two, and its image divided by it: data in pascals and in counts
    /// neither overflow nor sink below the normal numbers. Samples that are `f16` stay as they are, and so do `i16`
    /// but with matrix instructions. The copy is the only form in which samples are read: [`Algorithm::Voxel`],
    /// [`Algorithm::Frame`] and `f64` samples do not take this.
    F16 {
        /// The exponent of 2 for all batch items; `None` brings each one's largest sample to between 2¹⁴ and 2¹⁵.
        ///
        /// Samples that then are beyond ±65504 become infinite.
        exponent: Option<i32>,
    },
}

/// Options of a [`DasPlan`](super::DasPlan); the default is a plain sum of RF data over all elements.
#[derive(Clone, Debug, PartialEq)]
pub struct DasOptions {
    /// The order of the data's axes.
    pub layout: ChannelLayout,
    /// How samples are interpolated.
    pub interpolation: Interpolation,
    /// How a GPU goes about it.
    pub algorithm: Algorithm,
    /// How the fastest way is found.
    pub autotune: Autotune,
    /// How accurately samples are kept.
    pub precision: Precision,
    /// What is summed, and what becomes axes of the result.
    pub sum_over: SumOver,
    /// Phase κ per sample of delay in radians, for complex data; +2π `f_demodulation` / `f_s` for standard IQ.
    pub phase_per_sample: f64,
    /// Phase in radians that is added to κ·d, one a transmit (κ · start time · `f_s`); empty for none.
    pub phase_offsets: Vec<f64>,
    /// Receive f-number, depth over the aperture's width along an element's normal; 0 uses all elements.
    pub f_number: f64,
    /// Window over the receive aperture; without an f-number there is no aperture to taper.
    pub window: Window,
    /// The power p of the smooth directivity: an element hears a voxel with `cos^p` of the angle to its normal, and nothing
    /// from behind; 0 for none.
    pub directivity_exponent: f64,
    /// Most device memory (host memory on the CPU) that a run may use for its own copies; `None` for what is free.
    ///
    /// Larger work is split over batch and voxels; the result does not depend on it.
    pub memory_limit_bytes: Option<u64>,
}

impl Default for DasOptions {
    fn default() -> Self {
        Self {
            layout: ChannelLayout::default(),
            interpolation: Interpolation::default(),
            algorithm: Algorithm::default(),
            autotune: Autotune::default(),
            precision: Precision::default(),
            sum_over: SumOver::default(),
            phase_per_sample: 0.0,
            phase_offsets: Vec::new(),
            f_number: 0.0,
            window: Window::Boxcar,
            directivity_exponent: 0.0,
            memory_limit_bytes: None,
        }
    }
}

impl DasOptions {
    /// Checks the values against `n_transmits` transmits.
    pub(super) fn validate(&self, n_transmits: usize) -> Result<()> {
        let refuse = |what, value: f64, requirement| {
            Err(Error::OutOfRange {
                what,
                value,
                requirement,
            })
        };
        if !self.phase_per_sample.is_finite() {
            return refuse("phase_per_sample", self.phase_per_sample, "a finite number of radians");
        }
        if !self.phase_offsets.is_empty() {
            expect_shape("phase_offsets", &[n_transmits], &[self.phase_offsets.len()])?;
        }
        for (index, offset) in self.phase_offsets.iter().enumerate() {
            if !offset.is_finite() {
                return Err(Error::NotFinite {
                    what: "phase_offsets",
                    index: vec![index],
                    value: *offset,
                });
            }
        }
        if !(self.f_number >= 0.0 && self.f_number.is_finite()) {
            return refuse("f_number", self.f_number, "a positive number, or 0 for all elements");
        }
        if !(self.directivity_exponent >= 0.0 && self.directivity_exponent.is_finite()) {
            let requirement = "a positive number, or 0 for no directivity";
            return refuse("directivity_exponent", self.directivity_exponent, requirement);
        }
        if let Precision::F16 {
            exponent: Some(exponent),
        } = self.precision
            && exponent.abs() > LARGEST_EXPONENT
        {
            return refuse("the exponent of f16 storage", f64::from(exponent), "from -126 to 126");
        }
        match self.window {
            Window::Tukey { taper } if !(0.0..=1.0).contains(&taper) => {
                refuse("the Tukey window's taper", taper, "from 0 (boxcar) to 1 (Hann)")
            }
            _ => Ok(()),
        }
    }
}
