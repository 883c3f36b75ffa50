//! Points and vectors.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use cuda_std::math::Real;

/// A point or a vector: x, y, z.
pub type Vector<R> = [R; 3];

/// `a − b`.
#[inline(always)]
pub fn difference<R: Real>(a: Vector<R>, b: Vector<R>) -> Vector<R> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The scalar product.
#[inline(always)]
pub fn dot<R: Real>(a: Vector<R>, b: Vector<R>) -> R {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// The length of a vector; 0 for the zero vector.
#[inline(always)]
pub fn length<R: Real>(a: Vector<R>) -> R {
    dot(a, a).sqrt()
}

/// The distance between two points.
#[inline(always)]
pub fn distance<R: Real>(a: Vector<R>, b: Vector<R>) -> R {
    length(difference(a, b))
}

/// One axis of a squared distance: `sum + (a − b)²`.
#[inline(always)]
pub fn add_squared_difference<R: Real>(sum: R, a: R, b: R) -> R {
    let difference = a - b;
    difference.mul_add(difference, sum)
}

/// The distance to a rectangle in the plane z = 0, its centre at the origin and its sides along x and y; 0 on it.
#[inline(always)]
pub fn distance_to_rectangle<R: Real>(point: Vector<R>, half_width: R, half_height: R) -> R {
    let beyond = |coordinate: R, half: R| {
        let beyond = coordinate.abs() - half;
        if beyond > R::ZERO { beyond } else { R::ZERO }
    };
    length([beyond(point[0], half_width), beyond(point[1], half_height), point[2]])
}

/// The angle between two vectors of the same length, from the lengths of their difference and of their sum: 0 to π; a right
/// angle where both are 0.
///
/// By this quotient instead of the scalar product the angle is as exact near 0 and π as elsewhere.
///
/// Source: W. Kahan, "How futile are mindless assessments of roundoff in floating-point computation?", 2006, section 12.
#[inline(always)]
pub fn angle_by_chords<R: Real>(difference: R, sum: R) -> R {
    let is_wide = difference > sum;
    let (small, large) = if is_wide { (sum, difference) } else { (difference, sum) };
    // NaN goes on, only zeros have no quotient.
    let tangent = if large == R::ZERO { R::ONE } else { small.divide(large) };
    let half = arctangent(tangent);
    let half = if is_wide { R::from_f64(FRAC_PI_2) - half } else { half };
    half + half
}

/// The angle from the x axis towards the y axis of a vector in a plane, from −π to π, within a few units in the last place;
/// 0 for the zero vector.
#[inline(always)]
pub fn angle_from_x<R: Real>(y: R, x: R) -> R {
    let (height, width) = (y.abs(), x.abs());
    let is_steep = height > width;
    let (small, large) = if is_steep { (width, height) } else { (height, width) };
    let angle = if large == R::ZERO {
        R::ZERO
    } else {
        arctangent(small.divide(large))
    };
    let angle = if is_steep {
        R::from_f64(FRAC_PI_2) - angle
    } else {
        angle
    };
    let angle = if x < R::ZERO { R::from_f64(PI) - angle } else { angle };
    if y < R::ZERO { -angle } else { angle }
}

/// The arctangent of a number from 0 to 1, within 4 units in the last place.
#[inline(always)]
fn arctangent<R: Real>(tangent: R) -> R {
    // Above tan(π/8) the angle to π/4, so that the series of 21 terms is enough for double precision.
    let (rest, base) = if tangent > R::from_f64(0.414_213_562_373_095_05) {
        ((tangent - R::ONE).divide(tangent + R::ONE), R::from_f64(FRAC_PI_4))
    } else {
        (tangent, R::ZERO)
    };
    let square = rest * rest;
    let mut series = R::ZERO;
    cuda_std::unroll!(TERM in [20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] {
        let sign = if TERM.is_multiple_of(2) { 1.0 } else { -1.0 };
        series = series.mul_add(square, R::from_f64(sign / (2 * TERM + 1) as f64));
    });
    rest.mul_add(series, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_of_equal_points_is_zero_and_tenth_of_a_millimetre_survives() {
        assert_eq!(distance([0.1_f32, 0.2, 0.3], [0.1, 0.2, 0.3]), 0.0);
        let tenth = distance([1e-4_f32, 0.0, 0.0], [0.0; 3]);
        assert!((tenth - 1e-4).abs() < 1e-11);
        assert_eq!(distance([3.0_f64, 0.0, 4.0], [0.0; 3]), 5.0);
    }

    #[test]
    fn a_rectangle_is_its_inside_its_edge_and_its_corner() {
        let to = |x, y, z| distance_to_rectangle([x, y, z], 2.0_f64, 1.0);
        assert_eq!(to(1.0, -1.0, 0.0), 0.0);
        assert_eq!(to(-1.5, 0.5, -3.0), 3.0);
        assert_eq!(to(5.0, 0.5, 4.0), 5.0);
        assert_eq!(to(-4.0, -3.0, 1.0), 3.0);
        assert!(to(f64::NAN, 0.0, 1.0) == 1.0 && to(0.0, 0.0, f64::NAN).is_nan());
    }

    #[test]
    fn angles_are_exact_at_both_ends() {
        let mut worst = [0.0_f64; 2];
        for step in 0..=100_000 {
            let angle = core::f64::consts::PI * f64::from(step) / 1e5;
            let (difference, sum) = (2.0 * (angle / 2.0).sin(), 2.0 * (angle / 2.0).cos());
            worst[0] = worst[0].max((angle_by_chords(difference, sum) - angle).abs());
            let single = angle_by_chords(difference as f32, sum as f32);
            worst[1] = worst[1].max((f64::from(single) - angle).abs());
        }
        println!("worst errors in double and single precision {worst:?}");
        assert!(worst[0] < 2e-15 && worst[1] < 1e-6, "{worst:?}");
        assert!((angle_by_chords(1e-9_f64, 2.0) - 1e-9).abs() < 1e-24);
        assert_eq!(angle_by_chords(0.0_f64, 0.0), FRAC_PI_2);
        assert!(angle_by_chords(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn angles_of_all_quadrants() {
        let mut worst = 0.0_f64;
        for step in -1000..=1000 {
            let (sine, cosine) = (PI * f64::from(step) / 1000.0).sin_cos();
            worst = worst.max((angle_from_x(3.0 * sine, 3.0 * cosine) - sine.atan2(cosine)).abs());
        }
        println!("worst error {worst:e}");
        assert!(worst < 2e-15);
        assert_eq!(angle_from_x(0.0_f64, 0.0), 0.0);
    }
}
