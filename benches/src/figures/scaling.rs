//! Figure 2A–C: time against the quantity that grows.

use super::model::{Content, Figure, Panel, Series};
use crate::results::{OURS, Results};
use crate::sweeps::{BASES, SWEEPS, point};

/// A figure for each reference configuration that was swept.
pub(super) fn figures(results: &Results) -> Vec<(String, Figure)> {
    let figure = |base: &str| {
        let mut legend: Vec<String> = Vec::new();
        let panels = SWEEPS
            .iter()
            .filter_map(|sweep| {
                // A variant's place in the legend, the axis's value, and the time.
                let mut found: Vec<(usize, [f64; 2])> = Vec::new();
                for run in results.runs.iter().filter(|run| run.implementation == OURS) {
                    let Some((of, its, value)) = point(&run.case) else {
                        continue;
                    };
                    if of == base && its.name == sweep.name {
                        let known = legend.iter().position(|name| *name == run.variant);
                        let colour = known.unwrap_or_else(|| {
                            legend.push(run.variant.clone());
                            legend.len() - 1
                        });
                        found.push((colour, [(sweep.value)(value) as f64, run.milliseconds.median]));
                    }
                }
                let series = (0..legend.len()).map(|colour| {
                    let mut points: Vec<[f64; 2]> = found
                        .iter()
                        .filter(|(of, _)| *of == colour)
                        .map(|(_, point)| *point)
                        .collect();
                    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                    Series { colour, points }
                });
                let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
                (!series.is_empty()).then(|| Panel {
                    title: sweep.name.to_owned(),
                    y_label: "time of a batch / ms".to_owned(),
                    content: Content::Lines {
                        x_label: sweep.label.to_owned(),
                        series,
                        ceilings: Vec::new(),
                    },
                })
            })
            .collect();
        Figure {
            title: format!("Scaling from {base} on {}", results.machine.device),
            panels,
            legend,
        }
    };
    BASES
        .iter()
        .map(|base| (base.name.to_string(), figure(&base.name)))
        .collect()
}
