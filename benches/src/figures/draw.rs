//! A figure on a canvas: the same lines for SVG and for pixels.

use super::model::{Bars, Ceiling, Content, Figure, LEGEND_ENTRY, LEGEND_LINE, PANEL, Panel, Scale, Series, TITLE};
use super::pen::{Area, FONT, Pen, Place, failed};
use super::theme::Theme;
use super::ticks::{Axis, written};
use anyhow::anyhow;
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, FontStyle, register_font};

/// The plot's edges within a panel: left, top, right, bottom.
const MARGINS: [i32; 4] = [78, 40, 20, 66];

/// Draws a figure and finishes the canvas.
pub(super) fn figure<B: DrawingBackend>(figure: &Figure, theme: &Theme, area: &Area<B>) -> anyhow::Result<()> {
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| anyhow!("the font cannot be read"))?;
    let pen = Pen {
        area,
        theme,
        corner: [0, 0],
    };
    area.fill(&theme.ground).map_err(failed)?;
    let width = (figure.columns() * PANEL[0]) as i32;
    pen.text(&figure.title, [width / 2, TITLE as i32 / 2], 21, Place::Centre)?;
    for (index, panel) in figure.panels.iter().enumerate() {
        let (column, row) = (index as u32 % figure.columns(), index as u32 / figure.columns());
        let corner = [(column * PANEL[0]) as i32, (TITLE + row * PANEL[1]) as i32];
        Pen { area, theme, corner }.panel(panel)?;
    }
    let rows = (figure.panels.len() as u32).div_ceil(figure.columns());
    let top = (TITLE + rows * PANEL[1]) as i32;
    for (index, name) in figure.legend.iter().enumerate() {
        let (column, row) = (
            index as u32 % figure.legend_columns(),
            index as u32 / figure.legend_columns(),
        );
        let corner = [
            (column * LEGEND_ENTRY + 24) as i32,
            top + (row * LEGEND_LINE + LEGEND_LINE / 2) as i32,
        ];
        pen.rectangle(corner, [corner[0] + 18, corner[1] + 12], theme.colour(index).filled())?;
        pen.text(name, [corner[0] + 26, corner[1] + 6], 15, Place::Right)?;
    }
    area.present().map_err(failed)
}

impl<B: DrawingBackend> Pen<'_, B> {
    fn panel(&self, panel: &Panel) -> anyhow::Result<()> {
        let [width, height] = PANEL.map(|size| size as i32);
        let (left, top, right, bottom) = (MARGINS[0], MARGINS[1], width - MARGINS[2], height - MARGINS[3]);
        self.text(&panel.title, [i32::midpoint(left, right), 20], 17, Place::Centre)?;
        self.text(&panel.y_label, [16, i32::midpoint(top, bottom)], 15, Place::Upright)?;
        let (across, up) = ([left, right], [bottom, top]);
        match &panel.content {
            Content::Lines {
                x_label,
                series,
                ceilings,
            } => {
                self.text(x_label, [i32::midpoint(left, right), bottom + 42], 15, Place::Centre)?;
                self.lines(series, ceilings, across, up)
            }
            Content::Bars {
                categories,
                series,
                scale,
            } => self.bars(categories, series, *scale, across, up),
            Content::Shares { categories, series } => self.shares(categories, series, across, up),
        }
    }

    fn lines(&self, series: &[Series], ceilings: &[Ceiling], across: [i32; 2], up: [i32; 2]) -> anyhow::Result<()> {
        let values = |axis: usize| {
            series
                .iter()
                .flat_map(move |series| series.points.iter().map(move |point| point[axis]))
        };
        let heights = || ceilings.iter().filter_map(|ceiling| ceiling.height);
        let slopes = || ceilings.iter().filter_map(|ceiling| ceiling.slope);
        // Where a slope reaches the highest of the flat ones: the roof is in the picture.
        let highest = heights().fold(0.0, f64::max);
        let ridges = slopes().filter(|_| highest > 0.0).map(|slope| highest / slope);
        let x = Axis::logarithmic(values(0).chain(ridges), across);
        let y = Axis::logarithmic(values(1).chain(heights()), up);
        self.horizontal_grid(&y, across)?;
        for tick in x.ticks() {
            let at = x.place(tick);
            self.path(&[[at, up[0]], [at, up[1]]], self.theme.grid.stroke_width(1))?;
            self.text(&written(tick), [at, up[0] + 8], 14, Place::Below)?;
        }
        let mut slopes_before = 0;
        for ceiling in ceilings {
            self.ceiling(ceiling, slopes_before, &x, &y)?;
            slopes_before += i32::from(ceiling.slope.is_some());
        }
        for series in series {
            let colour = self.theme.colour(series.colour);
            let path: Vec<_> = series
                .points
                .iter()
                .map(|[at, value]| [x.place(*at), y.place(*value)])
                .collect();
            self.path(&path, colour.stroke_width(2))?;
            for [at, value] in path {
                self.dot([at, value], colour)?;
            }
        }
        self.frame(across, up)
    }

    /// A line and its name: that of a slope is the further down, the more slopes there were before.
    fn ceiling(&self, ceiling: &Ceiling, slopes_before: i32, x: &Axis, y: &Axis) -> anyhow::Result<()> {
        let height = |at: f64| match (ceiling.height, ceiling.slope) {
            (Some(height), Some(slope)) => height.min(slope * at),
            (Some(height), None) => height,
            (None, slope) => slope.unwrap_or(0.0) * at,
        };
        let ends = [x.low, x.high];
        // Where the slope enters the plot from below, and where it meets the height.
        let turns = [
            ceiling.slope.map(|slope| y.low / slope),
            ceiling.slope.map(|slope| y.high / slope),
            ceiling.slope.zip(ceiling.height).map(|(slope, height)| height / slope),
        ];
        let mut stops: Vec<f64> = ends.into_iter().chain(turns.into_iter().flatten()).collect();
        stops.retain(|at| (x.low..=x.high).contains(at) && (0.999 * y.low..=1.001 * y.high).contains(&height(*at)));
        stops.sort_by(f64::total_cmp);
        let path: Vec<_> = stops.iter().map(|at| [x.place(*at), y.place(height(*at))]).collect();
        if let [first, .., last] = path[..] {
            self.path(&path, self.theme.ink.mix(0.6).stroke_width(1))?;
            let is_flat = ceiling.slope.is_none();
            let at = if is_flat {
                [last[0] - 6, last[1] - 9]
            } else {
                [first[0] + 28, first[1] + 2 + 16 * slopes_before]
            };
            self.text(&ceiling.name, at, 13, if is_flat { Place::Left } else { Place::Right })?;
        }
        Ok(())
    }

    fn bars(
        &self,
        categories: &[String],
        series: &[Bars],
        scale: Scale,
        across: [i32; 2],
        up: [i32; 2],
    ) -> anyhow::Result<()> {
        let values = series.iter().flat_map(|bars| bars.values.iter().flatten().copied());
        let y = match scale {
            Scale::Linear => Axis::from_zero(values, up),
            Scale::Logarithmic => Axis::decades(values, up),
        };
        self.horizontal_grid(&y, across)?;
        let slots = Slots::new(categories.len(), series.len(), across);
        for (category, name) in categories.iter().enumerate() {
            for (index, bars) in series.iter().enumerate() {
                if let Some(value) = bars.values[category] {
                    let [left, right] = slots.bar(category, index);
                    let top = y.place(value);
                    self.rectangle([left, top], [right, up[0]], self.theme.colour(bars.colour).filled())?;
                    self.text(&written(value), [i32::midpoint(left, right), top - 3], 12, Place::Above)?;
                }
            }
            self.category(name, category, &slots, up[0])?;
        }
        self.frame(across, up)
    }

    fn shares(&self, categories: &[String], series: &[Bars], across: [i32; 2], up: [i32; 2]) -> anyhow::Result<()> {
        let y = Axis {
            low: 0.0,
            high: 1.0,
            pixels: up,
            is_logarithmic: false,
        };
        self.horizontal_grid(&y, across)?;
        let slots = Slots::new(categories.len(), 1, across);
        for (category, name) in categories.iter().enumerate() {
            let [left, right] = slots.bar(category, 0);
            let mut below = 0.0;
            for bars in series {
                let share = bars.values[category].unwrap_or(0.0);
                let (low, high) = (y.place(below), y.place(below + share));
                below += share;
                self.rectangle([left, high], [right, low], self.theme.colour(bars.colour).filled())?;
            }
            self.category(name, category, &slots, up[0])?;
        }
        self.frame(across, up)
    }

    /// The name of a category under its bars, in two lines where it is long.
    fn category(&self, name: &str, category: usize, slots: &Slots, bottom: i32) -> anyhow::Result<()> {
        let middle = slots.middle(category);
        let (first, second) = name
            .split_once('-')
            .filter(|_| slots.width < 72.0)
            .unwrap_or((name, ""));
        self.text(first, [middle, bottom + 8], 13, Place::Below)?;
        self.text(second, [middle, bottom + 24], 13, Place::Below)
    }

    fn horizontal_grid(&self, y: &Axis, across: [i32; 2]) -> anyhow::Result<()> {
        for tick in y.ticks() {
            let at = y.place(tick);
            self.path(&[[across[0], at], [across[1], at]], self.theme.grid.stroke_width(1))?;
            self.text(&written(tick), [across[0] - 8, at], 14, Place::Left)?;
        }
        Ok(())
    }

    fn frame(&self, across: [i32; 2], up: [i32; 2]) -> anyhow::Result<()> {
        let path = [[across[0], up[1]], [across[0], up[0]], [across[1], up[0]]];
        self.path(&path, self.theme.ink.stroke_width(1))
    }
}

/// Places of bars in groups.
struct Slots {
    left: f64,
    /// Of a group, gap included.
    width: f64,
    bars: usize,
}

impl Slots {
    fn new(groups: usize, bars: usize, across: [i32; 2]) -> Self {
        let width = f64::from(across[1] - across[0]) / groups.max(1) as f64;
        Self {
            left: f64::from(across[0]),
            width,
            bars,
        }
    }

    fn middle(&self, group: usize) -> i32 {
        (self.left + self.width * (group as f64 + 0.5)).round() as i32
    }

    fn bar(&self, group: usize, index: usize) -> [i32; 2] {
        let width = 0.8 * self.width / self.bars as f64;
        let left = self.left + self.width * (group as f64 + 0.1) + width * index as f64;
        [
            left.round() as i32,
            ((left + width).round() as i32 - 1).max(left.round() as i32 + 1),
        ]
    }
}
