//! The steps of a demo: a progress bar while one runs, its milliseconds when it is done.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// What has been done so far and how long each step took.
#[derive(Default)]
pub(super) struct Stages {
    milliseconds: Vec<(&'static str, f64)>,
}

impl Stages {
    /// Does a step of `steps` parts, which `work` counts on the bar.
    pub(super) fn run<T>(
        &mut self,
        name: &'static str,
        steps: u64,
        work: impl FnOnce(&ProgressBar) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let bar = progress(name, steps);
        let start = Instant::now();
        let result = work(&bar);
        let elapsed = start.elapsed();
        bar.finish_and_clear();
        if result.is_ok() {
            self.record(name, elapsed);
        }
        result
    }

    /// Notes a step that was timed elsewhere.
    pub(super) fn record(&mut self, name: &'static str, elapsed: Duration) {
        let milliseconds = elapsed.as_secs_f64() * 1e3;
        println!("  {name:<12} {milliseconds:>10.1} ms");
        self.milliseconds.push((name, milliseconds));
    }

    /// Name and milliseconds of every step, in order.
    pub(super) fn milliseconds(&self) -> &[(&'static str, f64)] {
        &self.milliseconds
    }
}

/// A bar of `steps` parts on the terminal, or a spinner where there is one part; nothing where there is no terminal.
pub(super) fn progress(name: &'static str, steps: u64) -> ProgressBar {
    let template = match steps {
        1 => "  {spinner:.cyan} {msg} {elapsed:.dim}",
        _ => "  {spinner:.cyan} {msg} {bar:40.cyan/black} {percent:>3} % {elapsed:.dim}",
    };
    let bar = ProgressBar::new(steps).with_message(name);
    // A template that is refused would only look different.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸━"));
    }
    bar.enable_steady_tick(Duration::from_millis(80));
    bar
}
