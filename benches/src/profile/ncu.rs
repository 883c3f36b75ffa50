//! Running Nsight Compute.

use anyhow::{Context, bail};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where it is: the first on PATH, or where the toolkit puts it.
pub(super) fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/local/cuda/bin")]);
    folders
        .map(|folder| folder.join("ncu"))
        .find(|program| program.is_file())
}

/// What the profiler writes about this program's run with `arguments`.
///
/// Counters that it does not know are taken from `metrics` and put into `unavailable`, and it is run again.
pub(super) fn counters(
    ncu: &Path,
    arguments: &[&str],
    metrics: &mut Vec<String>,
    unavailable: &mut Vec<String>,
) -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    loop {
        let log = folder.path().join("counters.csv");
        let output = Command::new(ncu)
            .args([
                "--csv",
                "--page",
                "raw",
                "--clock-control",
                "none",
                "--kernel-name",
                "regex:^(das|permute)_",
            ])
            .arg("--log-file")
            .arg(&log)
            .args(["--metrics", &metrics.join(",")])
            .arg(env::current_exe()?)
            .args(arguments)
            .output()
            .with_context(|| ncu.display().to_string())?;
        let text = fs::read_to_string(&log).unwrap_or_default();
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let said = format!("{text}\n{}", said.join("\n"));
        let unknown = unknown(&said, metrics);
        if !unknown.is_empty() && unknown.len() < metrics.len() {
            metrics.retain(|metric| !unknown.contains(metric));
            unavailable.extend(unknown);
            unavailable.sort_unstable();
            unavailable.dedup();
            continue;
        }
        if output.status.success() {
            return Ok(text);
        }
        bail!("{} {}: {}\n{said}", ncu.display(), arguments.join(" "), output.status);
    }
}

/// The counters that the profiler complains about by name.
fn unknown(text: &str, metrics: &[String]) -> Vec<String> {
    let is_complaint = |line: &&str| line.starts_with("==ERROR==") || line.starts_with("==WARNING==");
    let complaints: Vec<_> = text.lines().filter(is_complaint).collect();
    let is_named = |metric: &String| {
        let is_name = |word: &str| word.trim_end_matches('.') == metric;
        let separators = |c: char| c.is_whitespace() || [',', '\'', '"', ';', ':'].contains(&c);
        complaints.iter().any(|line| line.split(separators).any(is_name))
    };
    metrics.iter().filter(|metric| is_named(metric)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profiler that knows `a__b.sum` alone, and writes its value.
    #[cfg(unix)]
    #[test]
    fn a_counter_that_is_not_known_is_left_out() {
        use std::os::unix::fs::PermissionsExt;
        const PROFILER: &str = r#"#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
log=$2
if [ "$4" = a__b.sum ]; then
    printf '"ID","Kernel Name","a__b.sum"\n"","","byte"\n"0","das_x","7"\n' > "$log"
else
    echo "==ERROR== Failed to find metric c__d.ratio"
    exit 1
fi
"#;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ncu");
        fs::write(&program, PROFILER).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut metrics = ["a__b.sum", "c__d.ratio"].map(str::to_owned).to_vec();
        let mut unavailable = Vec::new();
        let text = counters(&program, &["once"], &mut metrics, &mut unavailable).unwrap();
        let launches = crate::profile::csv::launches(&text).unwrap();
        assert_eq!(launches[0].get("a__b.sum"), Some(7.0));
        assert_eq!(
            (metrics, unavailable),
            (vec!["a__b.sum".to_owned()], vec!["c__d.ratio".to_owned()])
        );

        let mut metrics = vec!["e__f.sum".to_owned()];
        let error = counters(&program, &["once"], &mut metrics, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("Failed to find metric"), "{error}");
    }

    #[test]
    fn unknown_counters_are_found_in_what_it_says() {
        let metrics = ["a__b.sum", "a__b.sum.peak", "c__d.ratio"].map(str::to_owned);
        let text =
            "==PROF== a__b.sum\n==ERROR== Failed to find metric c__d.ratio\n==ERROR== Option 'x' is 'a__b.sum'.\n";
        assert_eq!(unknown(text, &metrics), ["a__b.sum", "c__d.ratio"]);
        assert!(unknown("==PROF== c__d.ratio\n", &metrics).is_empty());
    }
}
