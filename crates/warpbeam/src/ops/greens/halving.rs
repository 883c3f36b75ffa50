//! Sums of amplitudes and waves that are rounded to halves: what both are multiplied by.

use super::prepared::Prepared;
use crate::Precision;
use cuda_std::math::Real;
use half::f16;
use kernels::das::scale::{LARGEST_EXPONENT, half_exponent, power_of_two};

/// Powers of two below the largest distance by which waves are multiplied: the smallest is then 2⁻⁹ at least, so that parts of
/// it down to 2⁻⁵ are normal halves.
const BELOW_LARGEST: i32 = 8;

/// How amplitudes and waves are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Halving {
    /// The exponent of 2 that amplitudes are multiplied by; each item's own without one.
    pub(super) exponent: Option<i32>,
    wave_exponent: i32,
}

impl Halving {
    /// What a precision asks for.
    pub(super) fn of<R: Real>(precision: Precision, prepared: &Prepared<R>) -> Option<Self> {
        let Precision::F16 { exponent } = precision else {
            return None;
        };
        let points = || prepared.sources.iter().chain(&prepared.targets);
        let sides = [0, 1, 2].map(|axis| {
            let ends = points().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], point| {
                let at = point[axis].to_f64();
                [least.min(at), most.max(at)]
            });
            ends[1] - ends[0]
        });
        let largest = sides[0].hypot(sides[1]).hypot(sides[2]);
        let limit = |exponent: i32| exponent.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT);
        Some(Self {
            exponent: exponent.map(limit),
            wave_exponent: limit(largest.log2().floor() as i32 - BELOW_LARGEST),
        })
    }

    /// What waves are multiplied by, and the inverse.
    pub(super) fn wave_scale(&self) -> [f32; 2] {
        [power_of_two(self.wave_exponent), power_of_two(-self.wave_exponent)]
    }

    /// What amplitudes with such a largest part are multiplied by, and the inverse.
    pub(super) fn amplitude_scale(&self, largest: f32) -> [f32; 2] {
        let exponent = self.exponent.unwrap_or_else(|| half_exponent(largest));
        [power_of_two(exponent), power_of_two(-exponent)]
    }
}

/// The nearest half.
pub(super) fn rounded<R: Real>(value: R) -> R {
    R::from_f64(f16::from_f64(value.to_f64()).to_f64())
}

/// What halves have at most, or less.
pub(super) fn bounded<R: Real>(value: R) -> R {
    R::from_f64(value.to_f64().min(f64::from(f16::MAX)))
}
