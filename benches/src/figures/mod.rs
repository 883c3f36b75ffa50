//! The figures, from files of results and counters and from nothing else.
//!
//! `model` is what a figure says, `draw` puts it onto any canvas in the colours of a `theme`, and one file a figure
//! collects its numbers.

mod counters;
mod draw;
mod model;
mod pen;
mod rates;
mod roofline;
mod scaling;
mod theme;
mod ticks;

use crate::profile::Profile;
use crate::results::{Results, write};
use model::Figure;
use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::drawing::IntoDrawingArea;
use std::path::Path;
use theme::{DARK, LIGHT, Theme};

/// A figure's name, such as `2-scaling`, and what it shows.
pub(crate) struct Picture {
    pub(crate) name: String,
    pub(crate) title: String,
    figure: Figure,
}

/// The figures of a device; those without numbers are left out.
pub(crate) fn of(results: &Results, profile: Option<&Profile>) -> Vec<Picture> {
    let mut figures: Vec<(String, Figure)> = scaling::figures(results)
        .into_iter()
        .map(|(base, figure)| (format!("2-scaling-{base}"), figure))
        .collect();
    if let Some(profile) = profile {
        for case in counters::cases(profile) {
            figures.push((format!("2-roofline-{case}"), roofline::figure(profile, case)));
            figures.push((format!("3-memory-{case}"), counters::memory(profile, case)));
            figures.push((format!("4-stalls-{case}"), counters::stalls(profile, case)));
        }
    }
    figures.extend(rates::figure(results).map(|figure| ("5-frame-rates".to_owned(), figure)));
    let has_numbers = |(_, figure): &(String, Figure)| !figure.panels.is_empty();
    let picture = |(name, figure): (String, Figure)| Picture {
        name,
        title: figure.title.clone(),
        figure,
    };
    figures.into_iter().filter(has_numbers).map(picture).collect()
}

impl Picture {
    /// The file names and the texts of the pictures for dark and light grounds.
    pub(crate) fn svg(&self) -> anyhow::Result<[(String, String); 2]> {
        let svg = |theme: &Theme| -> anyhow::Result<(String, String)> {
            let mut text = String::new();
            draw::figure(
                &self.figure,
                theme,
                &SVGBackend::with_string(&mut text, self.figure.size()).into_drawing_area(),
            )?;
            Ok((format!("{}-{}.svg", self.name, theme.name), text))
        };
        Ok([svg(&DARK)?, svg(&LIGHT)?])
    }

    /// Writes the pictures as PNG files into a folder, each name behind a prefix.
    pub(crate) fn write_png(&self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        for theme in [&DARK, &LIGHT] {
            let (width, height) = self.figure.size();
            let mut pixels = vec![0; 3 * (width * height) as usize];
            draw::figure(
                &self.figure,
                theme,
                &BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area(),
            )?;
            let path = folder.join(format!("{prefix}{}-{}.png", self.name, theme.name));
            warpbeam::io::png::write_rgb8(&path, width, height, &pixels)?;
        }
        Ok(())
    }

    /// Writes the pictures as SVG files into a folder, each name behind a prefix.
    pub(crate) fn write_svg(&self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        for (name, text) in self.svg()? {
            write(&folder.join(format!("{prefix}{name}")), text.as_bytes())?;
        }
        Ok(())
    }
}
