//! When a transmitted wave arrives.
//!
//! All delays are in metres of travel: divide by the sound speed for seconds. They are 0 at the transmit's origin.

use crate::geometry::{Vector, difference, distance, dot, length};
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

/// As [`focused`], but a plane wave between the two planes `margin` before and behind the focus across the beam.
///
/// O. M. H. Rindal, A. Rodriguez-Molares and A. Austeng, "A simple, artifact-free, virtual source model", IEEE
/// International Ultrasonics Symposium 2018: no jump at the focus, small ones at the two planes.
#[inline(always)]
pub fn focused_hybrid<R: Real>(point: Vector<R>, origin: Vector<R>, focus: Vector<R>, margin: R) -> R {
    let beam = difference(focus, origin);
    let focal_length = length(beam);
    let beyond = dot(difference(point, focus), beam).divide(focal_length);
    if beyond < margin && -beyond < margin {
        focal_length + beyond
    } else {
        focused(point, origin, focus)
    }
}

/// As [`focused`] within the double cone that an aperture and its focus make, and from its surface to its surface, along
/// the beam, what lies linearly between.
///
/// N. Q. Nguyen and R. W. Prager, "High-resolution ultrasound imaging with unified pixel-based beamforming", IEEE
/// Transactions on Medical Imaging 35(1), 2016. The cone's surface is 2 F times as far from the focus along the beam as
/// across it, F the focal length over the aperture's width, so that outside the cone the wave is a plane one that
/// travels √(1 + 4 F²) / 2 F times as far. There is no jump anywhere.
#[inline(always)]
pub fn focused_unified<R: Real>(point: Vector<R>, origin: Vector<R>, focus: Vector<R>, f_number: R) -> R {
    let (beam, from_focus) = (difference(focus, origin), difference(point, focus));
    let focal_length = length(beam);
    let beyond = dot(from_focus, beam).divide(focal_length);
    let steepness = f_number + f_number;
    let squared = dot(from_focus, from_focus);
    let across_squared = squared - beyond * beyond;
    if beyond * beyond < steepness * steepness * across_squared {
        let slant = steepness.mul_add(steepness, R::ONE).sqrt();
        beyond.divide(steepness).mul_add(slant, focal_length)
    } else {
        focused(point, origin, focus)
    }
}

/// Where a point lies in the beam: how far along it from its origin, and the square of how far beside its axis.
#[inline(always)]
pub fn in_beam<R: Real>(point: Vector<R>, origin: Vector<R>, direction: Vector<R>) -> (R, R) {
    let offset = difference(point, origin);
    let along = dot(offset, direction);
    let across = [0, 1, 2].map(|axis| (-along).mul_add(direction[axis], offset[axis]));
    (along, dot(across, across))
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

    #[test]
    fn a_plane_wave_around_the_focus() {
        let focus = [3e-3_f64, 0.0, 40e-3];
        let beam = length(focus);
        let direction = focus.map(|part| part / beam);
        let margin = 2e-3;
        for along in [-1.99e-3, -0.5e-3, 0.0, 1.2e-3, 1.99e-3] {
            // 5 mm beside the axis, across the beam.
            let point = [0, 1, 2].map(|axis| focus[axis] + along * direction[axis] + [0.0, 5e-3, 0.0][axis]);
            let delay = focused_hybrid(point, [0.0; 3], focus, margin);
            assert!((delay - (beam + along)).abs() < 1e-15, "{along}");
        }
        for along in [-2.01e-3, 2.01e-3, -20e-3, 25e-3] {
            let point = [0, 1, 2].map(|axis| focus[axis] + along * direction[axis] + [0.0, 5e-3, 0.0][axis]);
            let delay = focused_hybrid(point, [0.0; 3], focus, margin);
            assert_eq!(delay, focused(point, [0.0; 3], focus));
        }
    }

    #[test]
    fn the_unified_model_has_no_jump() {
        let (focus, f_number) = ([0.0_f64, 0.0, 30e-3], 1.5);
        let at = |x: f64, z: f64| focused_unified([x, 0.0, z], [0.0; 3], focus, f_number);
        for x in [0.0, 1e-6, 0.7e-3, 5e-3, 12e-3] {
            // 12 µm a step: no step of the delay is longer than √(1 + 1/9) times that.
            for step in 0..5000 {
                let z = f64::from(step) * 12e-6;
                let change = at(x, z + 12e-6) - at(x, z);
                assert!((0.0..=12e-6 * 1.055).contains(&change), "{change:e} at {x}, {z}");
            }
        }
        // The surface of the cone, 3 mm from the focal plane a millimetre beside the axis, belongs to both.
        let spherical = focused([1e-3, 0.0, 27e-3 - 1e-12], [0.0; 3], focus);
        assert!((at(1e-3, 27e-3 + 1e-12) - spherical).abs() < 1e-11);
        // Halfway from surface to surface the wave is where its focus is.
        assert!((at(5e-3, 30e-3) - 30e-3).abs() < 1e-15);
        // Within the cone it is spherical.
        assert_eq!(at(1e-3, 10e-3), focused([1e-3, 0.0, 10e-3], [0.0; 3], focus));
    }

    #[test]
    fn along_and_beside_a_beam() {
        let (sine, cosine) = 0.3_f64.sin_cos();
        let (along, across_squared) = in_beam(
            [2.0 + 5.0 * sine + 3.0 * cosine, 7.0, 1.0 + 5.0 * cosine - 3.0 * sine],
            [2.0, 3.0, 1.0],
            [sine, 0.0, cosine],
        );
        assert!((along - 5.0).abs() < 1e-12 && (across_squared - 25.0).abs() < 1e-12);
    }
}
