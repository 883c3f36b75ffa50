//! When a transmitted wave arrives.
//!
//! All delays are in metres of travel: divide by the sound speed for seconds. They are 0 at the transmit's origin.

use crate::geometry::{Vector, difference, distance, dot};
use cuda_std::math::Real;

/// A plane wave along the unit vector `direction`.
#[inline(always)]
pub fn plane<R: Real>(point: Vector<R>, origin: Vector<R>, direction: Vector<R>) -> R {
    dot(difference(point, origin), direction)
}

/// A wave that diverges from a virtual source behind the probe.
#[inline(always)]
pub fn diverging<R: Real>(point: Vector<R>, origin: Vector<R>, source: Vector<R>) -> R {
    distance(point, source) - distance(origin, source)
}

/// A wave that converges on a focus in front of the probe and diverges behind it.
///
/// The two sides are told apart by the plane through the focus across the beam; a point in that plane is on the
/// converging side.
#[inline(always)]
pub fn focused<R: Real>(point: Vector<R>, origin: Vector<R>, focus: Vector<R>) -> R {
    let to_focus = distance(point, focus);
    let beyond = dot(difference(point, focus), difference(focus, origin));
    distance(origin, focus) + if beyond > R::ZERO { to_focus } else { -to_focus }
}

/// A wave from one element, which fires at t = 0.
#[inline(always)]
pub fn synthetic_aperture<R: Real>(point: Vector<R>, element: Vector<R>) -> R {
    distance(point, element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wave_crosses_its_origin_at_zero() {
        let origin = [1e-3_f64, -2e-3, 0.5e-3];
        assert_eq!(plane(origin, origin, [0.6, 0.0, 0.8]), 0.0);
        assert_eq!(diverging(origin, origin, [0.0, 0.0, -10e-3]), 0.0);
        assert_eq!(focused(origin, origin, [0.0, 0.0, 30e-3]), 0.0);
        assert_eq!(synthetic_aperture(origin, origin), 0.0);
    }

    #[test]
    fn a_far_source_and_a_far_focus_are_a_plane_wave() {
        let (sine, cosine) = 0.2_f64.sin_cos();
        let direction = [sine, 0.0, cosine];
        let far = 1e7;
        let point = [5e-3, 1e-3, 40e-3];
        let expected = plane(point, [0.0; 3], direction);
        let source = direction.map(|part| -far * part);
        let focus = direction.map(|part| far * part);
        assert!((diverging(point, [0.0; 3], source) - expected).abs() < 1e-8);
        assert!((focused(point, [0.0; 3], focus) - expected).abs() < 1e-8);
    }

    #[test]
    fn the_focal_plane() {
        let focus = [0.0_f64, 0.0, 30e-3];
        let at = |x: f64, z: f64| focused([x, 0.0, z], [0.0; 3], focus);
        // On the axis the delay is the depth, through the focus without a jump.
        for z in [29.999e-3, 30e-3, 30.001e-3] {
            assert!((at(0.0, z) - z).abs() < 1e-15);
        }
        // 5 mm beside the axis the plain model jumps by twice the distance; the plane itself converges.
        assert_eq!(at(5e-3, 30e-3), 30e-3 - 5e-3);
        assert!((at(5e-3, 29.999e-3) - 25e-3).abs() < 1e-8 && (at(5e-3, 30.001e-3) - 35e-3).abs() < 1e-8);
    }
}
