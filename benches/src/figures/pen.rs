//! Lines, boxes and words at places within a panel.

use super::theme::Theme;
use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

/// The font of bitmaps, and of text's widths in both.
pub(super) const FONT: &str = "sans-serif";

pub(super) type Area<B> = DrawingArea<B, Shift>;

/// Where a text stands in relation to its point.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Centre,
    Above,
    Below,
    Left,
    Right,
    Upright,
}

/// Draws within a panel.
pub(super) struct Pen<'a, B: DrawingBackend> {
    pub(super) area: &'a Area<B>,
    pub(super) theme: &'a Theme,
    pub(super) corner: [i32; 2],
}

impl<B: DrawingBackend> Pen<'_, B> {
    pub(super) fn at(&self, [x, y]: [i32; 2]) -> (i32, i32) {
        (self.corner[0] + x, self.corner[1] + y)
    }

    pub(super) fn path(&self, path: &[[i32; 2]], style: ShapeStyle) -> anyhow::Result<()> {
        let path: Vec<_> = path.iter().map(|point| self.at(*point)).collect();
        self.area.draw(&PathElement::new(path, style)).map_err(failed)
    }

    pub(super) fn dot(&self, at: [i32; 2], colour: RGBColor) -> anyhow::Result<()> {
        self.area
            .draw(&Circle::new(self.at(at), 5, colour.filled()))
            .map_err(failed)
    }

    pub(super) fn rectangle(&self, from: [i32; 2], to: [i32; 2], style: ShapeStyle) -> anyhow::Result<()> {
        self.area
            .draw(&Rectangle::new([self.at(from), self.at(to)], style))
            .map_err(failed)
    }

    pub(super) fn text(&self, text: &str, at: [i32; 2], size: i32, place: Place) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let ink: RGBColor = self.theme.ink;
        let (horizontal, vertical) = match place {
            Place::Centre | Place::Upright => (HPos::Center, VPos::Center),
            Place::Above => (HPos::Center, VPos::Bottom),
            Place::Below => (HPos::Center, VPos::Top),
            Place::Left => (HPos::Right, VPos::Center),
            Place::Right => (HPos::Left, VPos::Center),
        };
        let font = match place {
            Place::Upright => (FONT, size).into_font().transform(FontTransform::Rotate270),
            _ => (FONT, size).into_font(),
        };
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(horizontal, vertical));
        self.area
            .draw(&Text::new(text.to_owned(), self.at(at), style))
            .map_err(failed)
    }
}

pub(super) fn failed<E: std::error::Error>(error: E) -> anyhow::Error {
    anyhow!("the picture cannot be drawn: {error}")
}
