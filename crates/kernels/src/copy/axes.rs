//! Axes of a launch: their lengths as divisors, their strides on both sides.

/// Axes that a launch has at most: one more than an array, for complex numbers taken apart or an axis that is cut.
pub const MOST_AXES: usize = 9;

/// Units that a launch has fewer than.
pub const UNITS_BELOW: u32 = 1 << 31;

/// A number to divide by, prepared so that dividing is a multiplication and a shift.
///
/// With `2^(l-1) < divisor ≤ 2^l` and `m = ⌊2^(31+l) / divisor⌋ + 1`, `⌊n · m / 2^(31+l)⌋` is the quotient for all
/// `n < 2³¹`: `m · divisor` exceeds the power by at most the divisor, so the product exceeds its right value by less than
/// `1 / divisor`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    number: u32,
    multiplier: u32,
    shift: u32,
}

impl Divisor {
    /// Prepares a number from 1 to 2³¹.
    ///
    /// # Panics
    ///
    /// For another number.
    pub const fn new(divisor: u32) -> Self {
        assert!(divisor > 0 && divisor <= UNITS_BELOW);
        let shift = 31 + (u32::BITS - (divisor - 1).leading_zeros());
        Self {
            number: divisor,
            multiplier: ((1_u64 << shift) / divisor as u64 + 1) as u32,
            shift,
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.number
    }

    /// Quotient and remainder of a number below 2³¹.
    #[inline(always)]
    pub const fn divide(self, dividend: u32) -> (u32, u32) {
        let quotient = ((dividend as u64 * self.multiplier as u64) >> self.shift) as u32;
        (quotient, dividend.wrapping_sub(quotient.wrapping_mul(self.number)))
    }
}

/// An axis of a launch.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Positions along it.
    pub length: Divisor,
    /// Units from one to the next in the input.
    pub input_stride: i64,
    /// Units from one to the next in the output.
    pub output_stride: i64,
}

impl Axis {
    /// An axis that a launch does not have.
    pub const NONE: Self = Self {
        length: Divisor::new(1),
        input_stride: 0,
        output_stride: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_right_at_every_edge() {
        let mut divisors: Vec<u32> = (1..=300).collect();
        for power in 8..=31 {
            let power = 1_u32 << power;
            divisors.extend([power - 1, power, power + 1]);
        }
        divisors.extend([UNITS_BELOW / 3, UNITS_BELOW / 3 + 1, 641, 65_521, 2_147_483_647]);
        divisors.retain(|&divisor| divisor <= UNITS_BELOW);
        for divisor in divisors {
            let prepared = Divisor::new(divisor);
            let last = (UNITS_BELOW - 1) / divisor;
            for quotient in [0, 1, 2, last / 2, last.saturating_sub(1), last] {
                let first = u64::from(quotient) * u64::from(divisor);
                for number in [
                    first.saturating_sub(1),
                    first,
                    first + 1,
                    first + u64::from(divisor) - 1,
                ] {
                    if number < u64::from(UNITS_BELOW) {
                        let number = number as u32;
                        assert_eq!(
                            prepared.divide(number),
                            (number / divisor, number % divisor),
                            "{number} / {divisor}"
                        );
                    }
                }
            }
        }
    }
}
