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

/// A number of three digits that count, or a dash.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.abs() < 1e-9 => "0".to_owned(),
        Some(value) => {
            let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 8.0) as usize;
            format!("{value:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        for (value, text) in [
            (137_438.9, "137439"),
            (457.3, "457"),
            (21.34, "21.3"),
            (1.0, "1.00"),
            (0.365_7, "0.366"),
            (0.000_337, "0.000337"),
            (0.0, "0"),
        ] {
            assert_eq!(number(Some(value)), text);
        }
        assert_eq!(number(None), "–");
    }
}
