//! Tells the benchmark which commit it was built from: the machine that runs it may have no repository.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=8", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|status| !status.is_empty());
    println!(
        "cargo::rustc-env=WARPBEAM_COMMIT={commit}{}",
        if is_changed { "-changed" } else { "" }
    );
    // A path that is never there: the answer depends on the whole tree, so it is asked at every build.
    println!("cargo::rerun-if-changed=no-such-file");
}
