//! Tells the benchmark what it was built from: the machine that runs it may have no repository and no compiler.

use std::process::Command;

fn main() {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let git = |arguments: &[&str]| run("git", arguments);
    let commit = git(&["rev-parse", "--short=8", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|status| !status.is_empty());
    println!(
        "cargo::rustc-env=WARPBEAM_COMMIT={commit}{}",
        if is_changed { "-changed" } else { "" }
    );
    let rustc = std::env::var("RUSTC")
        .ok()
        .and_then(|rustc| run(&rustc, &["--version"]));
    println!(
        "cargo::rustc-env=WARPBEAM_COMPILER=host {}, device {}",
        rustc.as_deref().unwrap_or("unknown"),
        device_compiler().as_deref().unwrap_or("unknown")
    );
    // A path that is never there: the answer depends on the whole tree, so it is asked at every build.
    println!("cargo::rerun-if-changed=no-such-file");
}

/// The compiler of the committed PTX, from its header.
fn device_compiler() -> Option<String> {
    let text = std::fs::read_to_string("../crates/warpbeam/ptx/sm_80.ptx").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("// compiler: "))?;
    Some(line.to_owned())
}
