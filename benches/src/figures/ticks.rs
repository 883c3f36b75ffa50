//! Where an axis has its ticks, and how numbers are written beside them.

/// An axis from pixel to pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) pixels: [i32; 2],
    pub(super) is_logarithmic: bool,
}

impl Axis {
    /// A logarithmic axis with all values inside, and room around them.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, pixels: [i32; 2]) -> Self {
        let (low, high) = extent(values.filter(|value| *value > 0.0)).unwrap_or((1.0, 10.0));
        Self {
            low: low / 1.6,
            high: high * 1.6,
            pixels,
            is_logarithmic: true,
        }
    }

    /// A logarithmic axis from a power of ten, so that the lowest bar can be seen.
    pub(super) fn decades(values: impl Iterator<Item = f64>, pixels: [i32; 2]) -> Self {
        let axis = Self::logarithmic(values, pixels);
        let low = 10.0_f64.powf((axis.low * 1.6).log10().floor());
        Self {
            low: if low < axis.low { low } else { low / 10.0 },
            ..axis
        }
    }

    /// A linear axis from 0, with room for a number above the highest value.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>, pixels: [i32; 2]) -> Self {
        let high = extent(values).map_or(1.0, |(_, high)| high).max(f64::MIN_POSITIVE);
        Self {
            low: 0.0,
            high: 1.12 * high,
            pixels,
            is_logarithmic: false,
        }
    }

    /// The pixel of a value.
    pub(super) fn place(&self, value: f64) -> i32 {
        let part = if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let [first, last] = self.pixels.map(f64::from);
        (first + part.clamp(0.0, 1.0) * (last - first)).round() as i32
    }

    /// Round values within the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let inside = |value: &f64| (self.low..=self.high).contains(value);
        if !self.is_logarithmic {
            let step = round_step((self.high - self.low) / 5.0);
            return (0..=20).map(|index| f64::from(index) * step).filter(inside).collect();
        }
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let of = |digits: &'static [f64]| {
            decades
                .clone()
                .flat_map(move |decade| digits.iter().map(move |digit| digit * 10.0_f64.powi(decade)))
        };
        let fine: Vec<f64> = of(&[1.0, 2.0, 5.0]).filter(inside).collect();
        if fine.len() <= 9 {
            fine
        } else {
            of(&[1.0]).filter(inside).collect()
        }
    }
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |extent, value| {
        let (low, high) = extent.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let decade = 10.0_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * decade)
        .find(|round| *round >= step * 0.999)
        .unwrap_or(step)
}

/// A number of at most three digits, with k, M or G where it is large.
pub(super) fn written(value: f64) -> String {
    let (value, unit) = match value.abs() {
        size if size >= 0.9995e9 => (value / 1e9, "G"),
        size if size >= 0.9995e6 => (value / 1e6, "M"),
        size if size >= 9.995e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.0995 => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.01, "0.01"),
            (0.123_45, "0.123"),
            (1.0, "1"),
            (19.06, "19.1"),
            (512.0, "512"),
            (2048.0, "2048"),
            (20_000.0, "20k"),
            (2_097_152.0, "2.1M"),
            (1e9, "1G"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis {
            low: 0.5,
            high: 40.0,
            pixels: [100, 0],
            is_logarithmic: true,
        };
        assert_eq!(axis.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!((axis.place(0.5), axis.place(40.0), axis.place(1e9)), (100, 0, 0));
        let axis = Axis::from_zero([31.0].into_iter(), [0, 10]);
        assert_eq!(axis.ticks(), [0.0, 10.0, 20.0, 30.0]);
        let wide = Axis::logarithmic([1e-3, 1e6].into_iter(), [0, 10]);
        assert_eq!(wide.ticks().len(), 10);
    }
}
