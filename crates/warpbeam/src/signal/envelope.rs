//! From IQ data to what a B-mode picture shows.

use ndarray::{Array, ArrayRef, Dimension, Zip};
use num_complex::Complex;

use super::error::{SignalError, positive};
use super::sample::Real;

/// The envelope |IQ| of every sample or voxel.
pub fn envelope<T, D>(iq: &ArrayRef<Complex<T>, D>) -> Array<T, D>
where
    T: Real,
    D: Dimension,
{
    Zip::from(iq).par_map_collect(|iq| T::from_f64(iq.re.to_f64().hypot(iq.im.to_f64())))
}

/// The envelope in decibels below its maximum, from −`dynamic_range_db` to 0.
///
/// ```text
/// out = max(20·log₁₀(envelope / maximum), −dynamic range)
/// ```
///
/// The maximum is that of the finite values of the whole array. An array without a positive finite value lies at the
/// floor altogether; so do zeros and negative numbers. NaN stays NaN and infinity becomes 0 dB; neither shifts the
/// others.
///
/// # Errors
///
/// [`SignalError::OutOfRange`] for a dynamic range that is not positive and finite.
pub fn log_compress<T, D>(envelope: &ArrayRef<T, D>, dynamic_range_db: f64) -> Result<Array<T, D>, SignalError>
where
    T: Real,
    D: Dimension,
{
    positive("the dynamic range in dB", dynamic_range_db)?;
    let finite = envelope
        .iter()
        .map(|value| value.to_f64())
        .filter(|value| value.is_finite());
    let maximum = finite.fold(0.0, f64::max);
    let reference = maximum.log10();
    Ok(Zip::from(envelope).par_map_collect(|value| {
        let value = value.to_f64();
        let decibels = if value.is_nan() {
            value
        } else if value > 0.0 && maximum > 0.0 {
            // A difference of logarithms: a quotient could overflow.
            (20.0 * (value.log10() - reference)).clamp(-dynamic_range_db, 0.0)
        } else {
            -dynamic_range_db
        };
        T::from_f64(decibels)
    }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "these numbers come out exactly")]

    use ndarray::{Array2, arr1, arr2};

    use super::*;

    #[test]
    fn the_envelope_is_the_modulus_and_does_not_overflow() {
        let iq = arr2(&[
            [Complex::new(3.0_f32, -4.0), Complex::new(0.0, 0.0)],
            [Complex::new(3e38, 0.0), Complex::new(-1e-45, 0.0)],
        ]);
        assert_eq!(envelope(&iq), arr2(&[[5.0, 0.0], [3e38, 1e-45]]));
        let iq = arr1(&[Complex::new(1e300_f64, 1e300), Complex::new(f64::NAN, 0.0)]);
        let result = envelope(&iq);
        assert!((result[0] / 2.0_f64.sqrt() / 1e300 - 1.0).abs() < 1e-15);
        assert!(result[1].is_nan());
    }

    #[test]
    fn decibels_below_the_maximum() {
        let image = arr1(&[200.0_f64, 20.0, 2.0, 0.02, 0.0, -5.0]);
        let compressed = log_compress(&image, 60.0).unwrap();
        for (value, expected) in compressed.iter().zip([0.0, -20.0, -40.0, -60.0, -60.0, -60.0]) {
            assert!((value - expected).abs() < 1e-12, "{compressed}");
        }
    }

    #[test]
    fn one_bad_pixel_does_not_shift_the_others() {
        let image = arr1(&[10.0_f32, f32::NAN, 1.0, f32::INFINITY, 0.0]);
        let compressed = log_compress(&image, 40.0).unwrap();
        assert!(compressed[1].is_nan());
        assert_eq!(
            [compressed[0], compressed[2], compressed[3], compressed[4]],
            [0.0, -20.0, 0.0, -40.0]
        );
    }

    #[test]
    fn an_image_of_nothing_lies_at_the_floor() {
        assert_eq!(
            log_compress(&Array2::<f32>::zeros((3, 4)), 50.0).unwrap(),
            Array2::from_elem((3, 4), -50.0)
        );
        let nothing = log_compress(&arr2(&[[f64::NAN, f64::NEG_INFINITY]]), 50.0).unwrap();
        assert!(nothing[[0, 0]].is_nan());
        assert_eq!(nothing[[0, 1]].to_bits(), (-50.0_f64).to_bits());
        assert_eq!(log_compress(&Array2::<f32>::zeros((0, 4)), 50.0).unwrap().dim(), (0, 4));
    }

    #[test]
    fn a_dynamic_range_must_be_positive() {
        for range in [0.0, -60.0, f64::NAN, f64::INFINITY] {
            let error = log_compress(&arr1(&[1.0_f32]), range).unwrap_err();
            let expected = format!("the dynamic range in dB is {range}; it must be positive and finite");
            assert_eq!(error.to_string(), expected);
        }
    }
}
