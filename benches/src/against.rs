//! The guard against getting slower.

use crate::results::{Results, Run};

/// How much slower a case may be.
const ALLOWED: f64 = 1.1;

/// What is wrong with rows measured now: more than 10 % slower, and slower than anything that was measured then.
pub(crate) fn regressions(then: &Results, now: &[Run]) -> Vec<String> {
    now.iter()
        .filter_map(|new| {
            let old = then.find(new.key())?;
            let (before, after) = (old.milliseconds, new.milliseconds);
            let is_slower = after.median > ALLOWED * before.median && after.min > before.max;
            is_slower.then(|| {
                format!(
                    "{} {} takes {:.3} ms ({:.3} to {:.3}); it took {:.3} ms ({:.3} to {:.3}): {:.0} % slower",
                    new.case,
                    new.variant,
                    after.median,
                    after.min,
                    after.max,
                    before.median,
                    before.min,
                    before.max,
                    100.0 * (after.median / before.median - 1.0),
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Milliseconds;
    use crate::results::tests::{machine, row};

    #[test]
    fn only_what_is_slower_beyond_the_spread_is_told() {
        let mut then = Results::new(machine());
        for case in ["same", "slower", "spread", "faster", "10 %"] {
            then.insert(row(case, "warpbeam", "voxel-f32", 10.0));
        }
        let spread = Run {
            milliseconds: Milliseconds {
                median: 12.0,
                min: 10.05,
                max: 14.0,
                runs: 5,
            },
            ..row("spread", "warpbeam", "voxel-f32", 12.0)
        };
        let now = [
            row("same", "warpbeam", "voxel-f32", 10.0),
            row("slower", "warpbeam", "voxel-f32", 11.2),
            spread,
            row("faster", "warpbeam", "voxel-f32", 5.0),
            row("10 %", "warpbeam", "voxel-f32", 10.99),
            row("new", "warpbeam", "voxel-f32", 99.0),
        ];
        let told = regressions(&then, &now);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("slower voxel-f32 takes 11.200 ms") && told[0].ends_with("12 % slower"));
    }
}
