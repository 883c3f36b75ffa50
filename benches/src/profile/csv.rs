//! The profiler's table: a row of names, a row of units, then a row a launch.

use anyhow::{Context, ensure};
use std::collections::BTreeMap;

/// A launch of a kernel and its counters, in bytes, seconds and their quotients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Launch {
    pub(crate) kernel: String,
    pub(crate) values: BTreeMap<String, f64>,
}

impl Launch {
    pub(super) fn get(&self, metric: &str) -> Option<f64> {
        self.values.get(metric).copied()
    }
}

/// The launches in what the profiler wrote; none where it saw no kernel.
pub(super) fn launches(text: &str) -> anyhow::Result<Vec<Launch>> {
    let mut rows = text
        .lines()
        .skip_while(|line| !line.starts_with("\"ID\""))
        .filter(|line| line.starts_with('"'));
    let Some(names) = rows.next() else {
        return Ok(Vec::new());
    };
    let names = fields(names);
    let units = fields(rows.next().context("the profiler's table has no row of units")?);
    ensure!(
        units.len() == names.len(),
        "{} names and {} units in the profiler's table",
        names.len(),
        units.len()
    );
    let kernel = names
        .iter()
        .position(|name| name == "Kernel Name")
        .context("no column \"Kernel Name\"")?;
    let launch = |row: &str| {
        let cells = fields(row);
        ensure!(
            cells.len() == names.len(),
            "{} cells in a row of {}: {row}",
            cells.len(),
            names.len()
        );
        let mut values = BTreeMap::new();
        for ((name, unit), cell) in names.iter().zip(&units).zip(&cells) {
            // Counters have two underscores in their names; what else there is describes the launch.
            if let (true, Some(number)) = (name.contains("__"), number(cell)) {
                values.insert(name.clone(), number * scale(unit));
            }
        }
        // A C++ name may carry its parameters.
        let name = cells[kernel].split('(').next().unwrap_or_default();
        Ok(Launch {
            kernel: name.to_owned(),
            values,
        })
    };
    rows.map(launch).collect()
}

/// The quoted fields of a line.
fn fields(line: &str) -> Vec<String> {
    let line = line.trim();
    let inner = line
        .strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'))
        .unwrap_or(line);
    inner.split("\",\"").map(str::to_owned).collect()
}

/// A number with separators of thousands; anything else is none.
fn number(cell: &str) -> Option<f64> {
    cell.split_whitespace()
        .next()?
        .replace(',', "")
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// What a value is multiplied by to be in bytes, seconds and their like.
fn scale(unit: &str) -> f64 {
    let (above, below) = unit.split_once('/').unwrap_or((unit, ""));
    prefix(above) / prefix(below)
}

fn prefix(unit: &str) -> f64 {
    let (factor, rest) = match unit.chars().next() {
        Some('n') => (1e-9, &unit[1..]),
        Some('u') => (1e-6, &unit[1..]),
        Some('m') => (1e-3, &unit[1..]),
        Some('K') => (1e3, &unit[1..]),
        Some('M') => (1e6, &unit[1..]),
        Some('G') => (1e9, &unit[1..]),
        Some('T') => (1e12, &unit[1..]),
        _ => return 1.0,
    };
    let is_unit = ["byte", "second", "s", "hz", "cycle", "inst", "sector", "op"].contains(&rest);
    if is_unit { factor } else { 1.0 }
}

// What is compared is exact.
#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    const TABLE: &str = "\
==PROF== Connected to process 17
ex64 voxel-f32 ran once
\"ID\",\"Kernel Name\",\"Block Size\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"lts__t_sector_hit_rate.pct\",\"gmma__x.ratio\"
\"\",\"\",\"\",\"Mbyte\",\"usecond\",\"%\",\"inst\"
\"0\",\"das_voxel_cf32_linear_b8\",\"(256, 1, 1)\",\"1,234.5\",\"30,100.25\",\"84.50\",\"n/a\"
\"1\",\"das_permute(Parameters)\",\"(256, 1, 1)\",\"2\",\"180\",\"0\",\"3 (1; 2)\"
==PROF== Disconnected
";

    #[test]
    fn a_table_is_read() {
        let launches = launches(TABLE).unwrap();
        assert_eq!(launches.len(), 2);
        assert_eq!(launches[0].kernel, "das_voxel_cf32_linear_b8");
        assert_eq!(launches[0].get("dram__bytes_read.sum"), Some(1_234.5e6));
        assert!((launches[0].get("gpu__time_duration.sum").unwrap() - 0.030_100_25).abs() < 1e-12);
        assert_eq!(launches[0].get("lts__t_sector_hit_rate.pct"), Some(84.5));
        assert_eq!(launches[0].get("gmma__x.ratio"), None);
        assert_eq!(launches[1].kernel, "das_permute");
        assert_eq!(launches[1].get("gmma__x.ratio"), Some(3.0));
    }

    #[test]
    fn a_run_without_kernels_has_none() {
        assert_eq!(launches("==WARNING== No kernels were profiled.\n").unwrap(), []);
        assert!(launches(&TABLE.replace("\"2\",", "")).is_err());
    }

    #[test]
    fn units_are_scaled() {
        for (unit, factor) in [
            ("byte", 1.0),
            ("Gbyte/second", 1e9),
            ("cycle/nsecond", 1e9),
            ("ns", 1e-9),
            ("msecond", 1e-3),
            ("Ghz", 1e9),
            ("", 1.0),
            ("%", 1.0),
            ("sector", 1.0),
            ("sector/request", 1.0),
            ("Tbyte", 1e12),
        ] {
            assert!((scale(unit) / factor - 1.0).abs() < 1e-12, "{unit}");
        }
    }
}
