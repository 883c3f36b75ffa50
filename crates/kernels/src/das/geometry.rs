//! What every delay-and-sum kernel is told of the geometry, and what it asks of it.

use cuda_std::Global;
use cuda_std::math::Real;
use wavefield::aperture::{Aperture, receive_weight};
use wavefield::geometry::length;
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::Interpolation;

/// Where elements and voxels are, when transmits reach them, and how channels are heard.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Geometry<R> {
    /// Two pairs an element: x and y, z and the channel's weight.
    pub elements: Global<[R; 2]>,
    /// Two pairs an element: the unit normal's x and y, its z and the cosine bound; empty if all elements hear alike.
    pub normals: Global<[R; 2]>,
    /// Voxel positions, `(3, voxel)`.
    pub voxels: Global<R>,
    /// Transmit offsets, `(entry, voxel)`; a voxel has an entry for each transmit, or a list of its own.
    pub offsets: Global<R>,
    /// Transmit weights, `(entry, voxel)`.
    pub weights: Global<R>,
    /// The transmit of each entry, `(entry, voxel)`, −1 from the end of a voxel's list on; empty if entries are transmits.
    pub transmits: Global<i32>,
    /// Phase offsets in turns, `(transmit,)`.
    pub phases: Global<R>,
    /// Voxels in the voxel arrays.
    pub voxel_pitch: u64,
    /// The first voxel of this launch.
    pub first_voxel: u64,
    /// Voxels of this launch.
    pub n_voxels: u64,
    /// The receive aperture.
    pub aperture: Aperture<R>,
    /// The carrier.
    pub turns: TurnsPerSample<R>,
    /// How samples are interpolated, where a kernel leaves it open.
    pub interpolation: Interpolation,
    /// Samples a channel.
    pub n_samples: i32,
    /// Receive channels.
    pub n_channels: u32,
    /// Transmits.
    pub n_transmits: u32,
    /// Entries of a voxel.
    pub n_entries: u32,
    /// 1 if `normals` holds something.
    pub is_directive: u32,
    /// 1 if `transmits` holds something.
    pub is_sparse: u32,
}

/// A voxel's part in a transmit.
#[derive(Clone, Copy)]
pub struct Entry<R> {
    /// The transmit; the first one where the entry does not count.
    pub transmit: u32,
    /// The transmit's delay in samples.
    pub offset: R,
    /// Its weight; 0 where the entry does not count.
    pub weight: R,
    /// Its phase in turns.
    pub phase: R,
}

impl<R: Real> Geometry<R> {
    /// A voxel's position.
    ///
    /// # Safety
    ///
    /// The arrays hold the voxel.
    #[inline(always)]
    pub unsafe fn position(&self, voxel: u64) -> [R; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            [
                self.voxels.load(voxel),
                self.voxels.load(self.voxel_pitch + voxel),
                self.voxels.load(2 * self.voxel_pitch + voxel),
            ]
        }
    }

    /// An entry of a voxel, which counts if its transmit is one of `transmits`.
    ///
    /// # Safety
    ///
    /// The arrays hold the entry and the voxel, and the phases every transmit that `transmits` has.
    #[inline(always)]
    pub unsafe fn entry(&self, entry: u32, voxel: u64, [first, end]: [u32; 2]) -> Entry<R> {
        let at = u64::from(entry) * self.voxel_pitch + voxel;
        // SAFETY: the caller's promise; a transmit that is read from the list is used only within the bounds.
        unsafe {
            let (offset, weight) = (self.offsets.load(at), self.weights.load(at));
            let (transmit, weight) = if self.is_sparse == 0 {
                (entry, weight)
            } else {
                // −1 becomes a number that no end reaches.
                let transmit = self.transmits.load(at).cast_unsigned();
                if transmit >= first && transmit < end {
                    (transmit, weight)
                } else {
                    (first, R::ZERO)
                }
            };
            let phase = self.phases.load(u64::from(transmit));
            Entry {
                transmit,
                offset,
                weight,
                phase,
            }
        }
    }

    /// The entries that may be of one of the transmits from `first` to before `end`: those themselves, or all of a list.
    #[inline(always)]
    pub fn entries(&self, [first, end]: [u32; 2]) -> [u32; 2] {
        if self.is_sparse == 0 { [first, end] } else { [0, self.n_entries] }
    }

    /// The distance from a channel's element to a point, and the channel's weight there.
    ///
    /// # Safety
    ///
    /// The arrays hold the channel.
    #[inline(always)]
    pub unsafe fn receive(&self, position: [R; 3], channel: u32) -> (R, R) {
        // SAFETY: two pairs an element.
        let ([x, y], [z, weight]) = unsafe {
            (
                self.elements.load(2 * u64::from(channel)),
                self.elements.load(2 * u64::from(channel) + 1),
            )
        };
        let from_element = [position[0] - x, position[1] - y, position[2] - z];
        let distance = length(from_element);
        if self.is_directive == 0 {
            return (distance, weight);
        }
        // SAFETY: as above.
        let ([x, y], [z, bound]) = unsafe {
            (
                self.normals.load(2 * u64::from(channel)),
                self.normals.load(2 * u64::from(channel) + 1),
            )
        };
        let heard = receive_weight(from_element, distance, [x, y, z], bound, &self.aperture);
        (distance, weight * heard)
    }
}
