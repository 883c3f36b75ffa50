//! A bitmap with lines and text.

use super::colour::{Colour, GROUND, mix};
use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use epaint_default_fonts::UBUNTU_LIGHT;
use rayon::prelude::*;
use std::path::Path;
use warpbeam::io::png;

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum Place {
    /// Begins there, its middle height at the point.
    RightOf,
    /// Ends there.
    LeftOf,
    /// Is centred on it.
    Around,
    /// Is centred on it and reads upwards.
    Upright,
}

/// RGB pixels, rows from the top.
pub(in crate::demo) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
    font: FontRef<'static>,
}

impl Canvas {
    /// An empty canvas of the ground's colour.
    pub(in crate::demo) fn new(width: usize, height: usize) -> anyhow::Result<Self> {
        let font = FontRef::try_from_slice(UBUNTU_LIGHT)?;
        Ok(Self {
            width,
            height,
            pixels: vec![GROUND; width * height],
            font,
        })
    }

    /// Colours the pixels of a rectangle: `colour(x, y, before)` gets the pixel's place in it and the colour there.
    pub(in crate::demo) fn paint(
        &mut self,
        [left, top]: [i32; 2],
        [width, height]: [i32; 2],
        colour: impl Fn(i32, i32, Colour) -> Colour + Sync,
    ) {
        let columns = left.max(0) as usize..((left + width).max(0) as usize).min(self.width);
        let rows = top.max(0) as usize..((top + height).max(0) as usize).min(self.height);
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        let lines = &mut self.pixels[rows.start * self.width..rows.end * self.width];
        lines
            .par_chunks_exact_mut(self.width)
            .zip(rows)
            .for_each(|(line, row)| {
                for (pixel, column) in line[columns.clone()].iter_mut().zip(columns.clone()) {
                    *pixel = colour(column as i32 - left, row as i32 - top, *pixel);
                }
            });
    }

    /// A straight line of `width` pixels between the middles of two pixels.
    pub(in crate::demo) fn line(&mut self, [x0, y0]: [i32; 2], [x1, y1]: [i32; 2], colour: Colour, width: f64) {
        let corner = [x0.min(x1) - 2, y0.min(y1) - 2];
        let size = [(x0 - x1).abs() + 5, (y0 - y1).abs() + 5];
        let along = [f64::from(x1 - x0), f64::from(y1 - y0)];
        let length_squared = (along[0] * along[0] + along[1] * along[1]).max(1.0);
        self.paint(corner, size, |x, y, before| {
            let from_start = [f64::from(corner[0] + x - x0), f64::from(corner[1] + y - y0)];
            let part = ((from_start[0] * along[0] + from_start[1] * along[1]) / length_squared).clamp(0.0, 1.0);
            let distance = (from_start[0] - part * along[0]).hypot(from_start[1] - part * along[1]);
            mix(before, colour, 0.5 * width + 0.5 - distance)
        });
    }

    /// A rectangle of one pixel's width around the pixels of an image.
    pub(in crate::demo) fn frame(&mut self, [left, top]: [i32; 2], [width, height]: [i32; 2], colour: Colour) {
        let (right, bottom) = (left + width, top + height);
        let corners = [
            [left - 1, top - 1],
            [right, top - 1],
            [right, bottom],
            [left - 1, bottom],
            [left - 1, top - 1],
        ];
        for ends in corners.windows(2) {
            self.line(ends[0], ends[1], colour, 1.0);
        }
    }

    /// A line of text of `size` pixels.
    pub(in crate::demo) fn text(&mut self, text: &str, [x, y]: [i32; 2], place: Place, size: f32, colour: Colour) {
        let (glyphs, width) = self.layout(text, size);
        let back = match place {
            Place::RightOf => 0.0,
            Place::LeftOf => width,
            Place::Around | Place::Upright => 0.5 * width,
        };
        let back = back.round() as i32;
        // The middle of the lower-case letters is at the point, above the base line.
        let middle = (0.25 * size).round() as i32;
        for outlined in glyphs.into_iter().filter_map(|glyph| self.font.outline_glyph(glyph)) {
            let bounds = outlined.px_bounds();
            let corner = [bounds.min.x as i32 - back, bounds.min.y as i32 + middle];
            outlined.draw(|column, row, coverage| {
                let (right, down) = (corner[0] + column as i32, corner[1] + row as i32);
                let [at_x, at_y] = match place {
                    Place::Upright => [x + down, y - right],
                    _ => [x + right, y + down],
                };
                let inside = (0..self.width as i32).contains(&at_x) && (0..self.height as i32).contains(&at_y);
                if inside {
                    let pixel = &mut self.pixels[at_y as usize * self.width + at_x as usize];
                    *pixel = mix(*pixel, colour, f64::from(coverage));
                }
            });
        }
    }

    /// The glyphs of a line of text side by side from 0, and the width of the line.
    fn layout(&self, text: &str, size: f32) -> (Vec<Glyph>, f32) {
        let font = self.font.as_scaled(PxScale::from(size));
        let mut glyphs: Vec<Glyph> = Vec::new();
        let mut right = 0.0;
        for character in text.chars() {
            let mut glyph = font.scaled_glyph(character);
            if let Some(before) = glyphs.last() {
                right += font.kern(before.id, glyph.id);
            }
            glyph.position = point(right, 0.0);
            right += font.h_advance(glyph.id);
            glyphs.push(glyph);
        }
        (glyphs, right)
    }

    /// Writes the canvas as a PNG file.
    pub(in crate::demo) fn write(&self, file: &Path) -> anyhow::Result<()> {
        Ok(png::write_rgb8(
            file,
            u32::try_from(self.width)?,
            u32::try_from(self.height)?,
            self.pixels.as_flattened(),
        )?)
    }
}
