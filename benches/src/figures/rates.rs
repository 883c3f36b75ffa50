//! Figure 5: frames a second of the best of each library.

use super::model::{Bars, Content, Figure, Panel, Scale};
use crate::cases;
use crate::results::{OURS, Results};
use crate::summary::{best, peers};

/// Frame rates of the standard cases, if any was timed.
pub(super) fn figure(results: &Results) -> Option<Figure> {
    let families: Vec<&str> = [OURS]
        .into_iter()
        .chain(peers(results, |operation| operation == "das"))
        .collect();
    let timed: Vec<_> = cases::small_and_standard()
        .into_iter()
        .filter(|case| best(results, "das", &case.name, OURS).is_some())
        .collect();
    let frames = |case: &cases::Case, family: &str| {
        let points_a_frame = case.points() as f64 / case.n_batch as f64;
        best(results, "das", &case.name, family).map(|run| 1e12 * run.throughput() / points_a_frame)
    };
    let series = families.iter().enumerate().map(|(colour, family)| {
        let values = timed.iter().map(|case| frames(case, family)).collect();
        Bars { colour, values }
    });
    let panel = |range: std::ops::Range<usize>, series: &[Bars]| Panel {
        title: "best variant of each".to_owned(),
        y_label: "frames a second".to_owned(),
        content: Content::Bars {
            categories: timed[range.clone()]
                .iter()
                .map(|case| case.name.replace('-', " "))
                .collect(),
            series: series
                .iter()
                .map(|bars| Bars {
                    colour: bars.colour,
                    values: bars.values[range.clone()].to_vec(),
                })
                .collect(),
            scale: Scale::Logarithmic,
        },
    };
    let series: Vec<Bars> = series.collect();
    // Four groups of bars a panel can still be read.
    let panels = (0..timed.len())
        .step_by(4)
        .map(|start| panel(start..(start + 4).min(timed.len()), &series))
        .collect();
    let legend = families
        .iter()
        .map(|family| {
            let run = results
                .runs
                .iter()
                .find(|run| run.family() == *family && run.operation == "das");
            run.map_or_else(String::new, |run| run.implementation.replace('-', " "))
        })
        .collect();
    (!timed.is_empty()).then(|| Figure {
        title: format!("Delay-and-sum on {}", results.machine.device),
        panels,
        legend,
    })
}
