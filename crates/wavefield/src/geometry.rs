//! Points and vectors.

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
}
