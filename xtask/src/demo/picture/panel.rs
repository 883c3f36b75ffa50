//! A plane with its axes in millimetres, as tall as it is wide in space.

use super::canvas::{Canvas, Place};
use super::colour::{Colour, LINE, QUIET, TEXT, mix};

/// Where a panel stands and what it spans.
pub(in crate::demo) struct Panel<'a> {
    /// What is to be seen.
    pub(in crate::demo) title: &'a str,
    /// Colour of the frame and of the title's mark.
    pub(in crate::demo) accent: Colour,
    /// Name of the horizontal axis.
    pub(in crate::demo) horizontal_name: &'a str,
    /// From left to right, in millimetres.
    pub(in crate::demo) horizontal_mm: [f64; 2],
    /// Name of the vertical axis.
    pub(in crate::demo) vertical_name: &'a str,
    /// From top to bottom, in millimetres.
    pub(in crate::demo) vertical_mm: [f64; 2],
    /// Left and top pixel of the image.
    pub(in crate::demo) corner: [i32; 2],
    /// Both ways.
    pub(in crate::demo) pixels_per_mm: f64,
}

/// A line across a panel that shows where another plane cuts it.
#[derive(Clone, Copy)]
pub(in crate::demo) enum Guide {
    /// From left to right at a vertical place in millimetres.
    Across(f64, Colour),
    /// From top to bottom at a horizontal place.
    Down(f64, Colour),
}

/// How much of a guide's colour covers the image.
const GUIDE_OPACITY: f64 = 0.45;

impl Panel<'_> {
    /// Width and height of the image in pixels.
    pub(in crate::demo) fn size(&self) -> [i32; 2] {
        let extent = |[start, stop]: [f64; 2]| ((stop - start) * self.pixels_per_mm).round() as i32;
        [extent(self.horizontal_mm), extent(self.vertical_mm)]
    }

    /// Draws the image, `colour(horizontal, vertical)` in millimetres, and everything around it.
    pub(in crate::demo) fn draw(
        &self,
        canvas: &mut Canvas,
        colour: impl Fn(f64, f64) -> Colour + Sync,
        guides: &[Guide],
    ) {
        let ([left, top], [width, height]) = (self.corner, self.size());
        let bottom = top + height;
        let mm = |pixel: i32, start: f64| start + (f64::from(pixel) + 0.5) / self.pixels_per_mm;
        canvas.paint(self.corner, self.size(), |x, y, _| {
            colour(mm(x, self.horizontal_mm[0]), mm(y, self.vertical_mm[0]))
        });
        for guide in guides {
            match *guide {
                Guide::Across(at, colour) => {
                    let y = self.pixel(at, self.vertical_mm, top);
                    canvas.paint([left, y], [width, 1], |_, _, before| mix(before, colour, GUIDE_OPACITY));
                }
                Guide::Down(at, colour) => {
                    let x = self.pixel(at, self.horizontal_mm, left);
                    canvas.paint([x, top], [1, height], |_, _, before| mix(before, colour, GUIDE_OPACITY));
                }
            }
        }
        canvas.frame(self.corner, self.size(), self.accent);
        canvas.paint([left - 1, top - 32], [4, 18], |_, _, _| self.accent);
        canvas.text(self.title, [left + 12, top - 23], Place::RightOf, 22.0, TEXT);

        for (value, label) in ticks(self.horizontal_mm) {
            let x = self.pixel(value, self.horizontal_mm, left);
            canvas.line([x, bottom + 1], [x, bottom + 6], LINE, 1.0);
            canvas.text(&label, [x, bottom + 19], Place::Around, 17.0, QUIET);
        }
        for (value, label) in ticks(self.vertical_mm) {
            let y = self.pixel(value, self.vertical_mm, top);
            canvas.line([left - 7, y], [left - 2, y], LINE, 1.0);
            canvas.text(&label, [left - 12, y], Place::LeftOf, 17.0, QUIET);
        }
        canvas.text(
            self.horizontal_name,
            [left + width / 2, bottom + 46],
            Place::Around,
            18.0,
            TEXT,
        );
        canvas.text(
            self.vertical_name,
            [left - 54, top + height / 2],
            Place::Upright,
            18.0,
            TEXT,
        );
    }

    fn pixel(&self, value_mm: f64, [start, _]: [f64; 2], first: i32) -> i32 {
        first + ((value_mm - start) * self.pixels_per_mm).round() as i32
    }
}

/// Round numbers between two ends and how they are written: steps of 1, 2 or 5 times a power of ten, five to ten of
/// them.
pub(super) fn ticks([start, stop]: [f64; 2]) -> Vec<(f64, String)> {
    let (low, high) = (start.min(stop), start.max(stop));
    let rough = (high - low) / 10.0;
    let magnitude = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * magnitude)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((low / step - 1e-6).ceil() as i64, (high / step + 1e-6).floor() as i64);
    (first..=last)
        .map(|index| {
            let value = index as f64 * step;
            // U+2212, as wide as the plus.
            (value, format!("{value:.decimals$}").replace('-', "\u{2212}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let labels = |ends| ticks(ends).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(
            labels([-9.5, 9.5]),
            [
                "\u{2212}8",
                "\u{2212}6",
                "\u{2212}4",
                "\u{2212}2",
                "0",
                "2",
                "4",
                "6",
                "8"
            ]
        );
        assert_eq!(labels([10.0, 35.0]), ["10", "15", "20", "25", "30", "35"]);
        assert_eq!(labels([-0.74, 0.74]).len(), 7);
        assert_eq!(labels([-0.74, 0.74])[0], "\u{2212}0.6");
        assert_eq!(labels([-40.0, 0.0])[0], "\u{2212}40");
    }
}
