//! A device's times: best against best, every variant, and the sweeps.

use super::Device;
use super::table::{self, cells, number};
use crate::results::{OURS, Results, Run};
use crate::summary::{best, peers};
use crate::sweeps;
use std::fmt::Write;

/// Delay-and-sum, as rows call it.
const DAS: &str = "das";

/// Adds a device's section.
pub(super) fn write(text: &mut String, device: &Device) -> std::fmt::Result {
    let results = device.results;
    writeln!(text, "\n## {}\n", device.name)?;
    writeln!(text, "{}.", results.machine)?;
    if let Some(clocks) = &results.clocks {
        writeln!(
            text,
            "\nClocks: multiprocessors up to {:.0} MHz ({:.0} MHz right after the last case), memory up to {:.0} MHz.",
            clocks.multiprocessor_max_mhz, clocks.multiprocessor_mhz, clocks.memory_max_mhz
        )?;
    }
    let cases = distinct(of_das(results).map(|run| run.case.as_str()));
    let (swept, standard): (Vec<&str>, Vec<&str>) =
        cases.into_iter().partition(|case| sweeps::sweep_of(case).is_some());
    best_to_best(text, results, &standard)?;
    throughputs(text, results, &standard)?;
    scaling(text, results, &swept)?;
    operations(text, results)?;
    rows(text, results)
}

fn of_das(results: &Results) -> impl Iterator<Item = &Run> {
    results.runs.iter().filter(|run| run.operation == DAS)
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// The fastest of each library, and how ours stands to it.
fn best_to_best(text: &mut String, results: &Results, cases: &[&str]) -> std::fmt::Result {
    let peers = peers(results, |operation| operation == DAS);
    let mut head = cells(["case", "ours", "ms", "10¹² points/s"]);
    for peer in &peers {
        head.extend([format!("best of {peer}"), "ms".to_owned(), format!("ours to {peer}")]);
    }
    let row = |case: &&str| {
        let ours = best(results, DAS, case, OURS)?;
        let mut row = vec![
            (*case).to_owned(),
            ours.variant.clone(),
            number(Some(ours.milliseconds.median)),
            number(Some(ours.throughput())),
        ];
        for peer in &peers {
            let theirs = best(results, DAS, case, peer);
            row.extend([
                theirs.map_or_else(|| "–".to_owned(), |run| run.variant.clone()),
                // The time of all the case's points: a library may have been timed on a part of the frames.
                number(theirs.map(|run| run.milliseconds.median * ours.points as f64 / run.points as f64)),
                number(theirs.map(|run| ours.throughput() / run.throughput())),
            ]);
        }
        Some(row)
    };
    let rows: Vec<_> = cases.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n### Delay-and-sum, best to best")?;
    table::write(text, &head, &rows)
}

/// Every variant on every case.
fn throughputs(text: &mut String, results: &Results, cases: &[&str]) -> std::fmt::Result {
    let of_cases = || of_das(results).filter(|run| cases.contains(&run.case.as_str()));
    // Ours first, then by library as they come.
    let mut variants: Vec<(&str, &str)> = Vec::new();
    for is_ours in [true, false] {
        for run in of_cases().filter(|run| (run.implementation == OURS) == is_ours) {
            let variant = (run.implementation.as_str(), run.variant.as_str());
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
    }
    variants.sort_by_key(|(implementation, _)| (*implementation != OURS, *implementation));
    let row = |(implementation, variant): &(&str, &str)| {
        let cell = |case: &&str| number(results.find([DAS, case, implementation, variant]).map(Run::throughput));
        [format!("{implementation} {variant}")]
            .into_iter()
            .chain(cases.iter().map(cell))
            .collect()
    };
    let rows: Vec<Vec<String>> = variants.iter().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n### Delay-and-sum by variant, 10¹² points a second")?;
    let head: Vec<String> = [String::new()]
        .into_iter()
        .chain(cases.iter().map(|case| (*case).to_owned()))
        .collect();
    table::write(text, &head, &rows)
}

/// Times along each sweep.
fn scaling(text: &mut String, results: &Results, cases: &[&str]) -> std::fmt::Result {
    let sweeps = distinct(cases.iter().filter_map(|case| sweeps::sweep_of(case)));
    for (index, sweep) in sweeps.into_iter().enumerate() {
        if index == 0 {
            writeln!(text, "\n### Scaling, milliseconds")?;
        }
        let mut points: Vec<_> = cases
            .iter()
            .filter(|case| sweeps::sweep_of(case) == Some(sweep))
            .filter_map(|case| Some((*case, sweeps::point(case)?)))
            .collect();
        points.sort_by_key(|(_, (_, _, value))| *value);
        let of_sweep = |run: &&Run| sweeps::sweep_of(&run.case) == Some(sweep);
        let variants = distinct(results.runs.iter().filter(of_sweep).map(|run| run.variant.as_str()));
        let row = |variant: &&str| {
            let cell = |(case, _): &(&str, _)| {
                number(
                    results
                        .find([DAS, case, OURS, variant])
                        .map(|run| run.milliseconds.median),
                )
            };
            [(*variant).to_owned()]
                .into_iter()
                .chain(points.iter().map(cell))
                .collect()
        };
        let rows: Vec<Vec<String>> = variants.iter().map(row).collect();
        let values = points
            .iter()
            .map(|(_, (_, sweep, value))| (sweep.value)(*value).to_string());
        let head: Vec<String> = [format!("`{sweep}`")].into_iter().chain(values).collect();
        table::write(text, &head, &rows)?;
    }
    Ok(())
}

/// The operations beside delay-and-sum, with the fastest of each library.
fn operations(text: &mut String, results: &Results) -> std::fmt::Result {
    let others = || results.runs.iter().filter(|run| run.operation != DAS);
    let peers = peers(results, |operation| operation != DAS);
    let mut cases: Vec<[&str; 2]> = Vec::new();
    for run in others() {
        if !cases.contains(&[&run.operation, &run.case]) {
            cases.push([&run.operation, &run.case]);
        }
    }
    if cases.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n### Other operations")?;
    let mut head = cells(["operation, sizes", "type", "ms"]);
    for peer in &peers {
        head.extend([format!("{peer} ms"), format!("ours to {peer}")]);
    }
    let row = |[operation, case]: &[&str; 2]| {
        let ours = best(results, operation, case, OURS);
        let mut row = vec![
            format!("{operation} {case}"),
            ours.map_or_else(|| "–".to_owned(), |run| run.variant.clone()),
            number(ours.map(|run| run.milliseconds.median)),
        ];
        for peer in &peers {
            let theirs = best(results, operation, case, peer);
            row.extend([
                number(theirs.map(|run| run.milliseconds.median)),
                number(
                    ours.zip(theirs)
                        .map(|(ours, theirs)| theirs.milliseconds.median / ours.milliseconds.median),
                ),
            ]);
        }
        row
    };
    let rows: Vec<_> = cases.iter().map(row).collect();
    table::write(text, &head, &rows)
}

/// Every row of the file.
fn rows(text: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(text, "\n<details><summary>All rows</summary>")?;
    let head = cells([
        "operation, case, implementation, variant",
        "median ms",
        "min",
        "max",
        "runs",
        "10¹² points/s",
        "relative error",
        "commit",
        "date",
    ]);
    let row = |run: &Run| {
        let dash = || "–".to_owned();
        vec![
            run.key().join(" "),
            number(Some(run.milliseconds.median)),
            number(Some(run.milliseconds.min)),
            number(Some(run.milliseconds.max)),
            run.milliseconds.runs.to_string(),
            number(Some(run.throughput())),
            run.relative_error.map_or_else(dash, |error| format!("{error:.1e}")),
            run.commit.clone().unwrap_or_else(dash),
            run.date.clone().unwrap_or_else(dash),
        ]
    };
    let rows: Vec<_> = results.runs.iter().map(row).collect();
    table::write(text, &head, &rows)?;
    for (commit, compiler) in &results.compilers {
        writeln!(text, "\n`{commit}` was compiled by: {compiler}.")?;
    }
    writeln!(text, "\n</details>")
}
