//! The geometry as the backends take it: rounded to the precision of the sums, one array a coordinate.

use super::parts::Parts;
use super::{DasGeometry, DasOptions, Interpolation, Precision, TransmitLists};
use cuda_std::math::Real;
use ndarray::{Array2, Axis};
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

/// Geometry and options, rounded once; what both backends compute from.
pub(super) struct Prepared<R> {
    /// x and y, z and the channel's weight of every element.
    pub(super) elements: Vec<[R; 2]>,
    /// The normal's x and y, its z and the cosine bound of every element; empty where nothing depends on them.
    pub(super) normals: Vec<[R; 2]>,
    /// x of all voxels, then y, then z.
    pub(super) voxels: Vec<R>,
    /// Transmit offsets, `(entry, voxel)`.
    pub(super) offsets: Vec<R>,
    /// Transmit weights, `(entry, voxel)`.
    pub(super) weights: Vec<R>,
    /// The transmit of each entry, `(entry, voxel)`, −1 from the end of a list on; empty if entries are transmits.
    pub(super) transmits: Vec<i32>,
    /// Phase offsets in turns, one a transmit.
    pub(super) phases: Vec<R>,
    pub(super) aperture: Aperture<R>,
    pub(super) turns: TurnsPerSample<R>,
    pub(super) interpolation: Interpolation,
    pub(super) precision: Precision,
    pub(super) parts: Parts,
    #[cfg(feature = "cuda")]
    pub(super) grid_shape: Vec<usize>,
    /// The largest transmit weight times the largest channel weight.
    #[cfg(feature = "cuda")]
    pub(super) largest_weight: f64,
    pub(super) n_voxels: usize,
    pub(super) n_entries: usize,
}

/// A cosine bound below everything that rounding makes of −1, straight behind an element.
const HEARS_EVERYTHING: f64 = -2.0;

impl<R: Real> Prepared<R> {
    /// Rounds a geometry that was found valid.
    pub(super) fn new(geometry: &DasGeometry, options: &DasOptions) -> Self {
        let n_voxels = geometry.n_voxels();
        let n_transmits = geometry.n_transmits();
        let n_channels = geometry.n_channels();
        let round = |value: &f64| R::from_f64(*value);
        let pairs = |vectors: &Array2<f64>, fourth: &dyn Fn(usize) -> f64| {
            let mut pairs = Vec::with_capacity(2 * n_channels);
            for (channel, vector) in vectors.rows().into_iter().enumerate() {
                pairs.push([round(&vector[0]), round(&vector[1])]);
                pairs.push([round(&vector[2]), R::from_f64(fourth(channel))]);
            }
            pairs
        };
        let aperture = Aperture::new(options.f_number, options.window, options.directivity_exponent);
        let is_directive = geometry.is_directive() || options.directivity_exponent > 0.0;
        let normals = if aperture.is_limited() || is_directive {
            let bound = |channel: usize| match &geometry.element_cosine_bounds {
                Some(bounds) if bounds[channel] > -1.0 => bounds[channel],
                _ => HEARS_EVERYTHING,
            };
            let forward = || Array2::from_shape_fn((n_channels, 3), |(_, axis)| if axis == 2 { 1.0 } else { 0.0 });
            geometry
                .element_normals
                .as_ref()
                .map_or_else(|| pairs(&forward(), &bound), |normals| pairs(normals, &bound))
        } else {
            Vec::new()
        };
        let last = Axis(geometry.voxel_positions.ndim() - 1);
        let transmits = geometry.transmit_lists.as_ref().map_or_else(Vec::new, ended);
        Self {
            elements: pairs(&geometry.element_positions, &|channel| {
                geometry
                    .channel_weights
                    .as_ref()
                    .map_or(1.0, |weights| weights[channel])
            }),
            normals,
            voxels: geometry
                .voxel_positions
                .axis_iter(last)
                .flat_map(|axis| axis.map(round))
                .collect(),
            offsets: geometry.transmit_offsets.iter().map(round).collect(),
            weights: geometry.transmit_weights.iter().map(round).collect(),
            phases: (0..n_transmits)
                .map(|transmit| {
                    let radians = options.phase_offsets.get(transmit).copied().unwrap_or(0.0);
                    let turns = radians / std::f64::consts::TAU;
                    R::from_f64(turns - turns.round_ties_even())
                })
                .collect(),
            aperture,
            turns: TurnsPerSample::from_radians(options.phase_per_sample),
            interpolation: options.interpolation,
            precision: options.precision,
            parts: Parts::new(options.sum_over, n_channels, n_transmits),
            #[cfg(feature = "cuda")]
            largest_weight: {
                // What stands behind a list's end must not move the scale of those that count.
                let counts = |entry: usize| transmits.get(entry).is_none_or(|transmit| *transmit >= 0);
                let largest =
                    |weights: &mut dyn Iterator<Item = &f64>| weights.fold(0.0_f64, |most, w| most.max(w.abs()));
                let of_channels = geometry
                    .channel_weights
                    .as_ref()
                    .map_or(1.0, |weights| largest(&mut weights.iter()));
                let entries = geometry.transmit_weights.iter().enumerate();
                let mut counting = entries.filter(|(entry, _)| counts(*entry)).map(|(_, weight)| weight);
                largest(&mut counting) * of_channels
            },
            transmits,
            #[cfg(feature = "cuda")]
            grid_shape: geometry.grid_shape().to_vec(),
            n_voxels,
            n_entries: geometry.n_entries(),
        }
    }
}

/// The indices of lists, −1 from each list's end on.
fn ended(lists: &TransmitLists) -> Vec<i32> {
    let mut indices: Vec<i32> = lists.indices.iter().copied().collect();
    let n_voxels = indices.len() / lists.indices.shape().first().copied().unwrap_or(1).max(1);
    for at in n_voxels..indices.len() {
        if indices[at - n_voxels] == -1 {
            indices[at] = -1;
        }
    }
    indices
}
