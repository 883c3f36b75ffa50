//! The unitless geometry of a delay-and-sum: positions and delays in samples.

use crate::{Error, Result};
use ndarray::{Array1, Array2, ArrayD, ArrayRef, Dimension};

/// Where elements and voxels are and when each transmit reaches a voxel, all in samples (metres · `f_s` / c).
///
/// What ffdas's `das` takes, one to one: `src`, `dst`, `off`, `w` and `srcdir`.
///
/// The default is empty: something to fill the rest of a geometry from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DasGeometry {
    /// Element positions, `(channel, 3)`.
    pub element_positions: Array2<f64>,
    /// Voxel positions, `(.., 3)`; the leading axes are the grid's and come back in the output.
    pub voxel_positions: ArrayD<f64>,
    /// Sample index at which a transmit reaches a voxel, `(transmit, ..)`: transmit delay − start time + pulse centre.
    pub transmit_offsets: ArrayD<f64>,
    /// Weight of a transmit in a voxel, `(transmit, ..)`.
    pub transmit_weights: ArrayD<f64>,
    /// Lists of transmits where every voxel has its own (ffdas's `das_sparse`): offsets and weights are then `(entry, ..)`.
    pub transmit_lists: Option<TransmitLists>,
    /// Weights of the channels, `(channel,)`; without them each counts 1.
    pub channel_weights: Option<Array1<f64>>,
    /// Unit normals of the elements, `(channel, 3)`; without them all elements look along +z.
    pub element_normals: Option<Array2<f64>>,
    /// Cosine bounds, `(channel,)`: an element hears a voxel where the cosine of the angle to its normal is at least
    /// this; without them it hears everything.
    pub element_cosine_bounds: Option<Array1<f64>>,
}

/// For every voxel the transmits that are summed there.
#[derive(Clone, Debug, PartialEq)]
pub struct TransmitLists {
    /// Transmits of the data.
    pub n_transmits: usize,
    /// The number of a transmit, `(entry, ..)`; −1 ends a voxel's list, and what follows it does not matter.
    pub indices: ArrayD<i32>,
}

/// How far from 1 a unit normal's length may be.
const UNIT_TOLERANCE: f64 = 1e-3;

impl DasGeometry {
    /// Receive channels.
    pub fn n_channels(&self) -> usize {
        self.element_positions.nrows()
    }

    /// Transmits.
    pub fn n_transmits(&self) -> usize {
        self.transmit_lists
            .as_ref()
            .map_or_else(|| self.n_entries(), |lists| lists.n_transmits)
    }

    /// Entries of a voxel: its transmits, or the length of the longest list.
    pub(super) fn n_entries(&self) -> usize {
        self.transmit_offsets.shape().first().copied().unwrap_or(0)
    }

    /// The voxel grid's shape.
    pub fn grid_shape(&self) -> &[usize] {
        let shape = self.voxel_positions.shape();
        &shape[..shape.len().saturating_sub(1)]
    }

    /// Voxels.
    pub fn n_voxels(&self) -> usize {
        self.grid_shape().iter().product()
    }

    /// Whether any element's directivity cuts.
    pub(super) fn is_directive(&self) -> bool {
        self.element_cosine_bounds
            .as_ref()
            .is_some_and(|bounds| bounds.iter().any(|bound| *bound > -1.0))
    }

    /// Checks shapes and values.
    ///
    /// # Errors
    ///
    /// Names the array and what is wrong with it: axes, shape, a value that is not finite, a normal that is no unit
    /// vector, a cosine outside [−1, 1], a transmit that there is not.
    pub fn validate(&self) -> Result<()> {
        let last_is_three = |what, shape: &[usize]| match shape.last() {
            Some(3) => Ok(()),
            _ => Err(Error::WrongAxes {
                what,
                expected: "a last axis of 3 (x, y, z)",
                got: shape.to_vec(),
            }),
        };
        last_is_three("element_positions", self.element_positions.shape())?;
        last_is_three("voxel_positions", self.voxel_positions.shape())?;
        if self.transmit_offsets.ndim() == 0 {
            return Err(Error::WrongAxes {
                what: "transmit_offsets",
                expected: "(transmit, ..) with the voxel grid's axes",
                got: Vec::new(),
            });
        }
        let mut per_voxel = vec![self.n_entries()];
        per_voxel.extend_from_slice(self.grid_shape());
        expect_shape("transmit_offsets", &per_voxel, self.transmit_offsets.shape())?;
        expect_shape("transmit_weights", &per_voxel, self.transmit_weights.shape())?;
        finite("element_positions", &self.element_positions)?;
        finite("voxel_positions", &self.voxel_positions)?;
        finite("transmit_offsets", &self.transmit_offsets)?;
        finite("transmit_weights", &self.transmit_weights)?;
        if let Some(lists) = &self.transmit_lists {
            expect_shape("transmit_lists", &per_voxel, lists.indices.shape())?;
            lists.validate()?;
        }
        if let Some(weights) = &self.channel_weights {
            expect_shape("channel_weights", &[self.n_channels()], weights.shape())?;
            finite("channel_weights", weights)?;
        }
        if let Some(normals) = &self.element_normals {
            expect_shape("element_normals", self.element_positions.shape(), normals.shape())?;
            finite("element_normals", normals)?;
            for normal in normals.rows() {
                let length = normal.dot(&normal).sqrt();
                if (length - 1.0).abs() > UNIT_TOLERANCE {
                    return Err(Error::OutOfRange {
                        what: "the length of an element normal",
                        value: length,
                        requirement: "1 (a unit vector)",
                    });
                }
            }
        }
        if let Some(bounds) = &self.element_cosine_bounds {
            expect_shape("element_cosine_bounds", &[self.n_channels()], bounds.shape())?;
            finite("element_cosine_bounds", bounds)?;
            if let Some(bound) = bounds.iter().find(|bound| bound.abs() > 1.0) {
                return Err(Error::OutOfRange {
                    what: "an element cosine bound",
                    value: *bound,
                    requirement: "a cosine, from -1 (hears everything) to 1",
                });
            }
        }
        Ok(())
    }
}

impl TransmitLists {
    /// Refuses a number that is neither a transmit's nor −1, wherever it stands.
    fn validate(&self) -> Result<()> {
        let is_possible =
            |index: i32| index == -1 || usize::try_from(index).is_ok_and(|index| index < self.n_transmits);
        match self.indices.indexed_iter().find(|(_, index)| !is_possible(**index)) {
            None => Ok(()),
            Some((position, index)) => Err(Error::NoSuchTransmit {
                index: ndarray::Dimension::slice(&position).to_vec(),
                value: *index,
                n_transmits: self.n_transmits,
            }),
        }
    }
}

/// Refuses an array of another shape.
pub(super) fn expect_shape(what: &'static str, expected: &[usize], got: &[usize]) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::ShapeMismatch {
        what,
        expected: expected.to_vec(),
        got: got.to_vec(),
    })
}

/// Refuses NaN, infinity, and what single precision would make infinite.
fn finite<D: Dimension>(what: &'static str, array: &ArrayRef<f64, D>) -> Result<()>
where
    D::Pattern: PatternIndex,
{
    let limit = f64::from(f32::MAX);
    let bad = array
        .indexed_iter()
        .find(|(_, value)| !(-limit..=limit).contains(*value));
    match bad {
        None => Ok(()),
        Some((index, value)) => Err(Error::NotFinite {
            what,
            index: index.to_vec(),
            value: *value,
        }),
    }
}

/// An index of any number of axes, as a list.
trait PatternIndex {
    fn to_vec(self) -> Vec<usize>;
}

impl PatternIndex for usize {
    fn to_vec(self) -> Vec<usize> {
        vec![self]
    }
}

impl PatternIndex for (usize, usize) {
    fn to_vec(self) -> Vec<usize> {
        vec![self.0, self.1]
    }
}

impl PatternIndex for ndarray::IxDyn {
    fn to_vec(self) -> Vec<usize> {
        ndarray::Dimension::slice(&self).to_vec()
    }
}
