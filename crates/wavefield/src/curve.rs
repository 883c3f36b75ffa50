//! Morton's curve through a cube of cells: points that are close along it are close in space.

use crate::geometry::Vector;

/// Bits of a coordinate in a place on the curve; three of them fill [`Curve::BITS`].
const BITS: u32 = 21;

/// What a step along z counts, which is depth for most: the wave goes there and back.
const DEPTH: f64 = 2.0;

/// The curve through the cube that holds some points, z twice as long as x and y.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// The lowest coordinates of the cube.
    least: Vector<f64>,
    /// 0 where all points are in the first cell.
    cells_per_length: f64,
}

impl Curve {
    /// Bits of a place.
    pub const BITS: u32 = 3 * BITS;

    /// Through points whose coordinates along x, y and z lie within these ranges.
    #[must_use]
    pub fn through(ranges: [[f64; 2]; 3]) -> Self {
        let [x, y, [nearest, deepest]] = ranges;
        let ranges = [x, y, [DEPTH * nearest, DEPTH * deepest]];
        let side = ranges
            .iter()
            .fold(0.0, |side, [least, most]| f64::max(side, most - least));
        Self {
            least: ranges.map(|[least, _]| least),
            // Points in one place, or a cube too large for a number: all in the first cell.
            cells_per_length: if side > 0.0 && side.is_finite() {
                f64::from((1_u32 << BITS) - 1) / side
            } else {
                0.0
            },
        }
    }

    /// Where on the curve a point's cell is: the bits of its three coordinates in turn.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, point: Vector<f64>) -> u64 {
        let bits = |coordinate: f64, axis: usize| {
            let cell = (coordinate - self.least[axis]) * self.cells_per_length;
            // What is no number is in the first cell.
            spread_bits(if cell > 0.0 { cell as u32 } else { 0 }) << axis
        };
        bits(point[0], 0) | bits(point[1], 1) | bits(DEPTH * point[2], 2)
    }
}

/// The lowest [`BITS`] bits with two zeros between each and the next.
#[inline(always)]
const fn spread_bits(cell: u32) -> u64 {
    let bits = (cell & ((1 << BITS) - 1)) as u64;
    let bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    let bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    let bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    let bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_three_apart() {
        for bit in 0..BITS {
            assert_eq!(spread_bits(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread_bits(u32::MAX), (0..BITS).map(|bit| 1_u64 << (3 * bit)).sum());
    }

    #[test]
    fn the_ends_of_the_cube_are_the_ends_of_the_curve() {
        let curve = Curve::through([[-1.0, 3.0], [5.0, 9.0], [0.5, 2.5]]);
        assert_eq!(curve.place([-1.0, 5.0, 0.5]), 0);
        assert_eq!(curve.place([3.0, 9.0, 2.5]), (1 << Curve::BITS) - 1);
        assert_eq!(curve.place([f64::NAN, 5.0, 0.5]), 0);
        let flat = Curve::through([[1.0, 1.0]; 3]);
        assert_eq!(flat.place([1.0; 3]), 0);
        let endless = Curve::through([[-f64::MAX, f64::MAX], [0.0; 2], [0.0; 2]]);
        assert_eq!(endless.place([f64::MAX, 0.0, 0.0]), 0);
    }
}
