//! Tables of Markdown.

use std::fmt::Write;

/// Adds a table; the first column is text, the others are numbers.
pub(super) fn write(text: &mut String, head: &[String], rows: &[Vec<String>]) -> std::fmt::Result {
    let line = |text: &mut String, cells: &[String]| writeln!(text, "| {} |", cells.join(" | "));
    writeln!(text)?;
    line(text, head)?;
    let alignment: Vec<String> = (0..head.len())
        .map(|column| if column == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    line(text, &alignment)?;
    rows.iter().try_for_each(|row| line(text, row))
}

/// Owned cells.
pub(super) fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A number with a fitting count of digits, or a dash.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.4}"),
    }
}
