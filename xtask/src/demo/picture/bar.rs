//! Colour bars.

use super::canvas::{Canvas, Place};
use super::colour::{Colour, LINE, QUIET, TEXT};
use super::panel::ticks;

/// An upright bar of all colours with the values beside it.
pub(in crate::demo) struct Bar<'a> {
    /// What the values are, with their unit.
    pub(in crate::demo) name: &'a str,
    /// From the bottom to the top.
    pub(in crate::demo) values: [f64; 2],
    /// Left and top pixel.
    pub(in crate::demo) corner: [i32; 2],
    /// Height in pixels.
    pub(in crate::demo) height: i32,
}

const WIDTH: i32 = 16;

impl Bar<'_> {
    /// Draws the bar in the colours of its values.
    pub(in crate::demo) fn draw(&self, canvas: &mut Canvas, colour: impl Fn(f64) -> Colour + Sync) {
        let ([left, top], [low, high]) = (self.corner, self.values);
        let right = left + WIDTH;
        canvas.paint(self.corner, [WIDTH, self.height], |_, y, _| {
            colour(high + (low - high) * (f64::from(y) + 0.5) / f64::from(self.height))
        });
        canvas.frame(self.corner, [WIDTH, self.height], LINE);
        for (value, label) in ticks(self.values) {
            let y = top + ((high - value) / (high - low) * f64::from(self.height)).round() as i32;
            canvas.line([right + 1, y], [right + 6, y], LINE, 1.0);
            canvas.text(&label, [right + 11, y], Place::RightOf, 17.0, QUIET);
        }
        canvas.text(
            self.name,
            [right + 66, top + self.height / 2],
            Place::Upright,
            18.0,
            TEXT,
        );
    }
}
