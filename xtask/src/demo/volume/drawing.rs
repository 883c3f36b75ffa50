//! The picture of a volume: three orthogonal slices, and the whole in space.

use super::super::picture::colour::{Colour, QUIET, TEXT, inferno};
use super::super::picture::{Bar, Box3, Canvas, Guide, Panel, Place, Projection, Slice};
use super::super::reconstruct::Reconstruction;
use super::super::simulate::Scanner;
use super::{DEPTH_MM, DEPTH_VOXELS, DYNAMIC_RANGE_DB, ELEMENTS, FLAT, LATERAL_MM, LATERAL_VOXELS};
use ndarray::{Array3, ArrayRef2, Axis};
use warpbeam::Backend;

const PIXELS_PER_MM: f64 = 29.0;
/// Left and top of the first panel in pixels.
const CORNER: [i32; 2] = [96, 172];
/// Between the panels.
const GUTTER: [i32; 2] = [140, 130];

/// Colours of the planes across z, y and x.
const ACCENTS: [Colour; 3] = [[45, 212, 191], [251, 191, 36], [167, 139, 250]];

/// Draws `decibels`, `(z, y, x)`, and says how they came about.
pub(super) fn draw(
    decibels: &Array3<f32>,
    scanner: &Scanner,
    backend: &Backend,
    reconstruction: &Reconstruction,
) -> anyhow::Result<Canvas> {
    let pixels = |[start, stop]: [f64; 2]| ((stop - start) * PIXELS_PER_MM).round() as i32;
    let (wide, deep) = (pixels(LATERAL_MM), pixels(DEPTH_MM));
    let [left, top] = CORNER;
    let (second_left, second_top) = (left + wide + GUTTER[0], top + wide + GUTTER[1]);
    let mut canvas = Canvas::new((second_left + wide + 150) as usize, (second_top + deep + 120) as usize)?;

    let title = "Three words made of points, seen by 1024 elements";
    canvas.text(title, [left, 58], Place::RightOf, 40.0, TEXT);
    let subtitle = format!(
        "{ELEMENTS} \u{d7} {ELEMENTS} matrix probe at z = 0, {} MHz, {} diverging waves a volume, {LATERAL_VOXELS} \u{d7} \
         {LATERAL_VOXELS} \u{d7} {DEPTH_VOXELS} voxels",
        scanner.center_frequency_hz / 1e6,
        scanner.sources_m.len(),
    );
    canvas.text(&subtitle, [left, 98], Place::RightOf, 22.0, QUIET);

    let brightness = decibels.mapv(|value| 1.0 + f64::from(value) / DYNAMIC_RANGE_DB);
    let middle = LATERAL_VOXELS / 2;
    let flat_mm = DEPTH_MM[0] + FLAT as f64 * (DEPTH_MM[1] - DEPTH_MM[0]) / (DEPTH_VOXELS - 1) as f64;
    let [flat, across_y, across_x] = ACCENTS;
    let panel = |title, accent, horizontal_name, vertical_name, vertical_mm, corner| Panel {
        title,
        accent,
        horizontal_name,
        horizontal_mm: LATERAL_MM,
        vertical_name,
        vertical_mm,
        corner,
        pixels_per_mm: PIXELS_PER_MM,
    };
    let mut slice = |panel: &Panel, values: &ArrayRef2<f64>, guides: &[Guide]| {
        let slice = Slice::new(values, panel.horizontal_mm, panel.vertical_mm);
        panel.draw(&mut canvas, |h, v| inferno(slice.smooth(h, v)), guides);
    };
    let flat_title = format!("Slice z = {flat_mm} mm");
    slice(
        &panel(&flat_title, flat, "x (mm)", "y (mm)", LATERAL_MM, CORNER),
        &brightness.index_axis(Axis(0), FLAT),
        &[Guide::Across(0.0, across_y), Guide::Down(0.0, across_x)],
    );
    slice(
        &panel(
            "Slice y = 0",
            across_y,
            "x (mm)",
            "depth z (mm)",
            DEPTH_MM,
            [left, second_top],
        ),
        &brightness.index_axis(Axis(1), middle),
        &[Guide::Across(flat_mm, flat), Guide::Down(0.0, across_x)],
    );
    slice(
        &panel(
            "Slice x = 0",
            across_x,
            "y (mm)",
            "depth z (mm)",
            DEPTH_MM,
            [second_left, second_top],
        ),
        &brightness.index_axis(Axis(2), middle),
        &[Guide::Across(flat_mm, flat), Guide::Down(0.0, across_y)],
    );

    canvas.text(
        "The whole volume, the brightest point along each line of sight",
        [second_left, top - 23],
        Place::RightOf,
        22.0,
        TEXT,
    );
    let view = Projection {
        volume: Box3([LATERAL_MM, LATERAL_MM, DEPTH_MM]),
        centre: [second_left + wide / 2, top + wide / 2],
        pixels_per_mm: 0.66 * PIXELS_PER_MM,
        turn_rad: 0.6,
        tilt_rad: 0.5,
    };
    view.draw(
        &mut canvas,
        &brightness,
        &[(2, flat_mm, flat), (1, 0.0, across_y), (0, 0.0, across_x)],
    );

    let bar = Bar {
        name: "dB below the maximum",
        values: [-DYNAMIC_RANGE_DB, 0.0],
        corner: [second_left + wide + 40, second_top],
        height: deep,
    };
    bar.draw(&mut canvas, |value| inferno(1.0 + value / DYNAMIC_RANGE_DB));
    canvas.text(
        &reconstruction.speed(backend, "volumes"),
        [left, second_top + deep + 90],
        Place::RightOf,
        19.0,
        QUIET,
    );
    Ok(canvas)
}
