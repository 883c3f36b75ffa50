//! Colours for dark and for light grounds.

use plotters::style::RGBColor;

/// A ground and what is legible on it.
pub(super) struct Theme {
    pub(super) name: &'static str,
    pub(super) ground: RGBColor,
    pub(super) ink: RGBColor,
    pub(super) grid: RGBColor,
    colours: [RGBColor; 10],
}

/// For dark pages.
pub(super) const DARK: Theme = Theme {
    name: "dark",
    ground: RGBColor(13, 17, 23),
    ink: RGBColor(225, 230, 236),
    grid: RGBColor(48, 56, 66),
    colours: [
        RGBColor(92, 172, 238),
        RGBColor(255, 166, 77),
        RGBColor(98, 208, 135),
        RGBColor(242, 110, 120),
        RGBColor(186, 152, 240),
        RGBColor(236, 216, 92),
        RGBColor(108, 216, 220),
        RGBColor(240, 150, 205),
        RGBColor(168, 150, 120),
        RGBColor(150, 160, 172),
    ],
};

/// For light pages.
pub(super) const LIGHT: Theme = Theme {
    name: "light",
    ground: RGBColor(255, 255, 255),
    ink: RGBColor(30, 34, 40),
    grid: RGBColor(218, 223, 229),
    colours: [
        RGBColor(18, 104, 178),
        RGBColor(206, 104, 0),
        RGBColor(24, 134, 66),
        RGBColor(196, 40, 56),
        RGBColor(116, 70, 190),
        RGBColor(150, 126, 0),
        RGBColor(0, 134, 142),
        RGBColor(190, 62, 140),
        RGBColor(116, 92, 60),
        RGBColor(96, 106, 118),
    ],
};

impl Theme {
    /// The colour of a series.
    pub(super) fn colour(&self, index: usize) -> RGBColor {
        self.colours[index % self.colours.len()]
    }
}
