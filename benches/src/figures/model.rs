//! What a figure says, without how it looks.

/// Width and height of a panel in pixels.
pub(super) const PANEL: [u32; 2] = [560, 400];

/// Height of a figure's title, and of a line of its legend.
pub(super) const TITLE: u32 = 52;
pub(super) const LEGEND_LINE: u32 = 26;

/// Width of an entry of the legend.
pub(super) const LEGEND_ENTRY: u32 = 272;

/// Panels under a title, with one legend for all.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) title: String,
    pub(super) panels: Vec<Panel>,
    /// Names of the series, in the order of their colours.
    pub(super) legend: Vec<String>,
}

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) y_label: String,
    pub(super) content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Both axes logarithmic.
    Lines {
        x_label: String,
        series: Vec<Series>,
        ceilings: Vec<Ceiling>,
    },
    /// Bars in groups.
    Bars {
        categories: Vec<String>,
        series: Vec<Bars>,
        scale: Scale,
    },
    /// One bar a category, of parts that add up to 1.
    Shares { categories: Vec<String>, series: Vec<Bars> },
}

/// An axis of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Logarithmic,
}

/// Points with their place in the legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) colour: usize,
    pub(super) points: Vec<[f64; 2]>,
}

/// Values for every category with their place in the legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bars {
    pub(super) colour: usize,
    pub(super) values: Vec<Option<f64>>,
}

/// What no point can lie above: `min(height, slope · x)`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ceiling {
    pub(super) name: String,
    pub(super) height: Option<f64>,
    pub(super) slope: Option<f64>,
}

impl Figure {
    /// Panels side by side.
    pub(super) fn columns(&self) -> u32 {
        (self.panels.len() as u32).clamp(1, 3)
    }

    /// Entries of the legend in a line.
    pub(super) fn legend_columns(&self) -> u32 {
        (self.columns() * PANEL[0] / LEGEND_ENTRY).max(1)
    }

    /// Width and height in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        let rows = (self.panels.len() as u32).div_ceil(self.columns());
        let legend = (self.legend.len() as u32).div_ceil(self.legend_columns());
        (
            self.columns() * PANEL[0],
            TITLE + rows * PANEL[1] + legend * LEGEND_LINE + 16,
        )
    }
}
