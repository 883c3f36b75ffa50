//! Which elements a voxel listens to, and how much: f-number, window, directivity.

use crate::geometry::{Vector, dot};
use cuda_std::math::Real;

/// A window over the receive aperture, from its centre (u = 0) to its edge (u = 1); 0 outside.
///
/// All of them are `edge + (1 − edge) · cos²(π/2 · max(0, u − flat) / (1 − flat))`: small weights near the edge are squares
/// of small numbers, not what is left of a sum of large ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// 1 everywhere.
    Boxcar,
    /// `(1 + cos πu) / 2`.
    Hann,
    /// `0.54 + 0.46 cos πu`.
    Hamming,
    /// Flat up to `1 − taper`, then a cosine to 0; taper from 0 (boxcar) to 1 (Hann).
    Tukey {
        /// The tapered part of the half-aperture.
        taper: f64,
    },
}

/// What a kernel needs to know of the receive aperture.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Aperture<R> {
    /// Half-aperture per depth, `1 / (2 F)`; 0 uses all elements.
    pub half_width_per_depth: R,
    /// Where the taper begins, as a part of the half-aperture.
    pub flat: R,
    /// How many times the taper goes into the half-aperture; 0 for none.
    pub tapers: R,
    /// The weight at the edge.
    pub edge: R,
    /// The power of the cosine that an element hears with; 0 hears alike from everywhere.
    pub directivity_exponent: R,
}

impl<R: Real> Aperture<R> {
    /// The aperture of an f-number (0: all elements), a window, and elements that hear with a power of the cosine.
    pub fn new(f_number: f64, window: Window, directivity_exponent: f64) -> Self {
        let (flat, tapers, edge) = match window {
            Window::Boxcar | Window::Tukey { taper: 0.0 } => (1.0, 0.0, 1.0),
            Window::Hann => (0.0, 1.0, 0.0),
            Window::Hamming => (0.0, 1.0, 0.08),
            Window::Tukey { taper } => (1.0 - taper, 1.0 / taper, 0.0),
        };
        Self {
            half_width_per_depth: R::from_f64(if f_number == 0.0 { 0.0 } else { 0.5 / f_number }),
            flat: R::from_f64(flat),
            tapers: R::from_f64(tapers),
            edge: R::from_f64(edge),
            directivity_exponent: R::from_f64(directivity_exponent),
        }
    }

    /// Whether the f-number cuts at all.
    #[inline(always)]
    pub fn is_limited(&self) -> bool {
        self.half_width_per_depth > R::ZERO
    }

    /// The weight of an element seen from a voxel `depth` along the element's normal and `lateral` across it.
    ///
    /// At depth 0 the aperture is a point, behind the element there is none.
    #[inline(always)]
    pub fn weight(&self, depth: R, lateral_squared: R) -> R {
        let half_width = depth * self.half_width_per_depth;
        if !(depth >= R::ZERO && lateral_squared <= half_width * half_width) {
            return R::ZERO;
        }
        if self.tapers == R::ZERO {
            return R::ONE;
        }
        let lateral = lateral_squared.sqrt();
        // Positive only where the half-width is.
        let beyond = lateral - self.flat * half_width;
        if beyond > R::ZERO {
            let tapered = (beyond * self.tapers).divide(half_width);
            let tapered = if tapered < R::ONE { tapered } else { R::ONE };
            let (cosine, _) = (tapered * (R::HALF * R::HALF)).cos_sin_turn();
            (R::ONE - self.edge).mul_add(cosine * cosine, self.edge)
        } else {
            R::ONE
        }
    }
}

/// An element's receive weight for a voxel: its directivity, a cone or a power of the cosine or both, times the aperture.
///
/// `offset` points from the element to the voxel and `distance` is its length. The voxel is heard where the cosine of
/// the angle to the unit normal is at least `cosine_bound` (−1 hears everything), a voxel on the element always and with
/// weight 1. A power of the cosine hears nothing from behind.
#[inline(always)]
pub fn receive_weight<R: Real>(
    offset: Vector<R>,
    distance: R,
    normal: Vector<R>,
    cosine_bound: R,
    aperture: &Aperture<R>,
) -> R {
    let depth = dot(offset, normal);
    let is_heard = depth >= cosine_bound * distance;
    if !is_heard {
        return R::ZERO;
    }
    let directivity = if aperture.directivity_exponent == R::ZERO || distance == R::ZERO {
        R::ONE
    } else if depth > R::ZERO {
        let cosine = depth.divide(distance);
        // Rounding may leave more than 1.
        (if cosine < R::ONE { cosine } else { R::ONE }).power(aperture.directivity_exponent)
    } else {
        R::ZERO
    };
    if !aperture.is_limited() {
        return directivity;
    }
    // From the vector across the normal: the difference of two squares would lose the small ones.
    let across = [
        (-depth).mul_add(normal[0], offset[0]),
        (-depth).mul_add(normal[1], offset[1]),
        (-depth).mul_add(normal[2], offset[2]),
    ];
    directivity * aperture.weight(depth, dot(across, across))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::length;

    const UP: Vector<f64> = [0.0, 0.0, 1.0];

    fn weight(offset: Vector<f64>, f_number: f64, window: Window) -> f64 {
        receive_weight(offset, length(offset), UP, -1.0, &Aperture::new(f_number, window, 0.0))
    }

    #[test]
    fn half_width_is_depth_over_twice_the_f_number() {
        // 30 mm deep at F 1.5: 10 mm to either side, 66 elements at 0.3 mm pitch.
        let active = (0..128)
            .filter(|element| {
                let x = (f64::from(*element) - 63.5) * 0.3e-3;
                weight([-x, 0.0, 30e-3], 1.5, Window::Boxcar) == 1.0
            })
            .count();
        assert_eq!(active, 66);
    }

    #[test]
    fn the_edge_belongs_to_the_aperture() {
        assert_eq!(weight([1.0, 0.0, 2.0], 1.0, Window::Boxcar), 1.0);
        assert_eq!(weight([1.0 + 1e-12, 0.0, 2.0], 1.0, Window::Boxcar), 0.0);
        assert!(weight([1.0, 0.0, 2.0], 1.0, Window::Hann).abs() < 1e-15);
        assert!((weight([1.0, 0.0, 2.0], 1.0, Window::Hamming) - 0.08).abs() < 1e-15);
    }

    #[test]
    fn windows_between_centre_and_edge() {
        for step in 0..=100 {
            let u = f64::from(step) / 100.0;
            let at = |window| weight([u, 0.0, 2.0], 1.0, window);
            let cosine = (core::f64::consts::PI * u).cos();
            assert!((at(Window::Hann) - f64::midpoint(1.0, cosine)).abs() < 1e-12);
            assert!((at(Window::Hamming) - (0.54 + 0.46 * cosine)).abs() < 1e-12);
            assert_eq!(at(Window::Tukey { taper: 0.0 }), at(Window::Boxcar));
            assert!((at(Window::Tukey { taper: 1.0 }) - at(Window::Hann)).abs() < 1e-12);
            let tukey = if u <= 0.75 {
                1.0
            } else {
                f64::midpoint(1.0, (core::f64::consts::PI * (u - 0.75) / 0.25).cos())
            };
            assert!((at(Window::Tukey { taper: 0.25 }) - tukey).abs() < 1e-12);
        }
    }

    #[test]
    fn depth_counts_along_the_normal() {
        let (sine, cosine) = 25.0_f64.to_radians().sin_cos();
        let normal = [sine, 0.0, cosine];
        let ahead = [20e-3 * sine, 0.0, 20e-3 * cosine];
        let aperture = Aperture::new(2.0, Window::Boxcar, 0.0);
        let side = |lateral: f64| {
            let offset = [ahead[0] + lateral * cosine, 0.0, ahead[2] - lateral * sine];
            receive_weight(offset, length(offset), normal, -1.0, &aperture)
        };
        assert_eq!((side(4.99e-3), side(-4.99e-3)), (1.0, 1.0));
        assert_eq!((side(5.01e-3), side(-5.01e-3)), (0.0, 0.0));
    }

    #[test]
    fn directivity_is_a_cone_and_an_element_hears_itself() {
        let open = Aperture::new(0.0, Window::Boxcar, 0.0);
        let bound = 60.0_f64.to_radians().cos();
        let at = |degrees: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            receive_weight([sine, 0.0, cosine], 1.0, UP, bound, &open)
        };
        assert_eq!((at(59.9), at(60.1), at(180.0)), (1.0, 0.0, 0.0));
        assert_eq!(receive_weight([0.0; 3], 0.0, UP, bound, &open), 1.0);
        assert_eq!(weight([0.0, 0.0, -1.0], 0.0, Window::Boxcar), 1.0);
        assert_eq!(weight([0.0, 0.0, -1.0], 1.0, Window::Boxcar), 0.0);
    }
    #[test]
    fn smooth_directivity_is_a_power_of_the_cosine() {
        for exponent in [0.5, 1.0, 2.0, 7.3] {
            let aperture = Aperture::new(0.0, Window::Boxcar, exponent);
            for degrees in (0..180_i32).filter(|degrees| *degrees != 90) {
                let (sine, cosine) = f64::from(degrees).to_radians().sin_cos();
                let weight = receive_weight([3.0 * sine, 0.0, 3.0 * cosine], 3.0, UP, -1.0, &aperture);
                let exact = if degrees < 90 { cosine.powf(exponent) } else { 0.0 };
                assert!(
                    (weight - exact).abs() < 1e-14,
                    "{degrees} degrees to the power of {exponent}"
                );
            }
            assert_eq!(receive_weight([0.0; 3], 0.0, UP, -1.0, &aperture), 1.0);
        }
    }
}
