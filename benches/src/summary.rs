//! What the terminal shows: a row a variant, and how the best of ours stands to the best of each peer.

use crate::cases::Case;
use crate::results::{OURS, Results, Run};

/// Announces a case.
pub(crate) fn print_heading(case: &Case) {
    println!(
        "\n{}: {} frames, {} transmits, {} channels, {} samples, {} voxels, {:.3e} points",
        case.name,
        case.n_batch,
        case.n_transmits,
        case.n_channels(),
        case.n_samples,
        case.n_voxels(),
        case.points() as f64
    );
}

/// Prints a row.
pub(crate) fn print_run(run: &Run) {
    println!(
        "  {:<14} {:<18} {:>11.3} ms ({:.3} to {:.3}, {} runs) {:>8.4}e12 points/s, error {:.1e}",
        run.implementation,
        run.variant,
        run.milliseconds.median,
        run.milliseconds.min,
        run.milliseconds.max,
        run.milliseconds.runs,
        run.throughput(),
        run.relative_error.unwrap_or(f64::NAN)
    );
}

/// The fastest row of a family for a case of an operation, by points a second.
pub(crate) fn best<'a>(results: &'a Results, operation: &str, case: &str, family: &str) -> Option<&'a Run> {
    let rows = results
        .runs
        .iter()
        .filter(|run| run.operation == operation && run.case == case && run.family() == family);
    rows.max_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

/// The families other than ours in the rows of some operations, in the order of their first.
pub(crate) fn peers(results: &Results, is_of: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut families = Vec::new();
    for run in results
        .runs
        .iter()
        .filter(|run| is_of(&run.operation) && run.implementation != OURS)
    {
        if !families.contains(&run.family()) {
            families.push(run.family());
        }
    }
    families
}

/// Prints best against best.
pub(crate) fn print_ratios(results: &Results, operation: &str, case: &str) {
    let Some(ours) = best(results, operation, case, OURS) else {
        return;
    };
    for family in peers(results, |other| other == operation) {
        if let Some(theirs) = best(results, operation, case, family) {
            println!(
                "  best to best: {} is {:.2} times as fast as {} {}",
                ours.variant,
                ours.throughput() / theirs.throughput(),
                theirs.implementation,
                theirs.variant
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{machine, row};

    #[test]
    fn the_best_is_the_fastest_of_its_family() {
        let mut results = Results::new(machine());
        for (implementation, variant, median) in [
            (OURS, "a", 3.0),
            (OURS, "b", 2.0),
            ("ffdas-0.1.1", "alg1-f32", 1.0),
            ("mach-0.2.1", "f32", 4.0),
        ] {
            results.insert(row("vol", implementation, variant, median));
        }
        assert_eq!(best(&results, "das", "vol", OURS).unwrap().variant, "b");
        assert_eq!(best(&results, "das", "vol", "mach").unwrap().variant, "f32");
        assert!(best(&results, "das", "disk", OURS).is_none());
        assert_eq!(peers(&results, |operation| operation == "das"), ["ffdas", "mach"]);
    }
}
