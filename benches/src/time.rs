//! `bench time`: cases × storages × algorithms, and the peers between them.

use crate::cases::{self, Case};
use crate::machine::{COMMIT, Clocks, Machine};
use crate::measure::{Job, Limits, Outcome};
use crate::operations;
use crate::peers::Peers;
use crate::results::{File, Results, Run};
use crate::storage::{self, Choice, Storage};
use crate::{against, flags, results_folder, summary, sweeps};
use anyhow::{bail, ensure};
use std::time::{Duration, Instant};
use warpbeam::{Backend, Stream};

/// Most timed runs of a variant.
const RUNS: usize = 20;

/// The name of the operations beside delay-and-sum among the cases.
const OPERATIONS: &str = "operations";

/// The cases of `--quick`, on a GPU and on a CPU.
const QUICK: [&str; 2] = ["ex64,disk", "disk"];

/// Times what the flags ask for.
pub(crate) fn run(flags: &flags::Time) -> anyhow::Result<()> {
    let backend = backend(flags.backend.as_deref())?;
    let machine = Machine::of(&backend);
    let then = match &flags.against {
        Some(path) => {
            let results = Results::read(path)?;
            results.expect(&machine, path)?;
            Some(results)
        }
        None => None,
    };
    let mut session = Session {
        file: File::open(&results_folder(flags.output.as_ref()), machine)?,
        backend,
        measured: Vec::new(),
        faults: Vec::new(),
    };
    println!("{} ({COMMIT})", session.file.results.machine);
    let start = Instant::now();
    session.cases(flags)?;
    if session.backend.is_cuda() {
        session.file.results.clocks = Clocks::now();
        session.file.write()?;
    }
    println!(
        "{} rows in {:.0} s",
        session.measured.len(),
        start.elapsed().as_secs_f64()
    );
    if let Some(then) = then {
        let regressions = against::regressions(&then, &session.measured);
        println!(
            "{} of {} rows are slower than before",
            regressions.len(),
            session.measured.len()
        );
        session.faults.extend(regressions);
    }
    ensure!(
        session.faults.is_empty(),
        "{} faults:\n{}",
        session.faults.len(),
        session.faults.join("\n")
    );
    Ok(())
}

/// A backend by name.
pub(crate) fn backend(name: Option<&str>) -> anyhow::Result<Backend> {
    match name {
        None => Ok(Backend::best()),
        Some("cpu") => Ok(Backend::cpu()),
        Some("cuda") => Ok(Backend::cuda(0)?),
        Some(other) => bail!("there is no backend {other:?}; cpu and cuda are possible"),
    }
}

/// The names of cases but for `operations`, and whether that was among them.
fn without_operations(names: &str) -> (Option<String>, bool) {
    let (operations, cases): (Vec<&str>, Vec<&str>) = names.split(',').partition(|name| *name == OPERATIONS);
    (Some(cases.join(",")), !operations.is_empty())
}

struct Session {
    backend: Backend,
    file: File,
    /// Rows of this run.
    measured: Vec<Run>,
    faults: Vec<String>,
}

impl Session {
    fn cases(&mut self, flags: &flags::Time) -> anyhow::Result<()> {
        let is_cuda = self.backend.is_cuda();
        let algorithms = storage::algorithms(flags.algorithm.as_deref(), is_cuda)?;
        let quick = flags.quick.then(|| QUICK[usize::from(!is_cuda)]);
        let is_all = flags.case.is_none() && !flags.quick;
        let (named, has_operations) = flags
            .case
            .as_deref()
            .map_or((None, is_all && is_cuda), without_operations);
        let chosen = match named.as_deref().or(quick) {
            Some("") => Vec::new(),
            Some(names) => cases::named(names)?,
            None if is_cuda => cases::standard().into_iter().chain(sweeps::for_gpu()).collect(),
            None => cases::small().into_iter().chain(sweeps::for_cpu()).collect(),
        };
        let backend = self.backend.clone();
        let stream = backend.stream()?;
        let mut peers = if flags.peers && !chosen.is_empty() {
            Peers::start("das.py")?
        } else {
            None
        };
        for case in &chosen {
            let is_swept = sweeps::sweep_of(&case.name).is_some();
            let seconds = match (is_swept, flags.quick) {
                (_, true) => 0.1,
                (true, false) => 0.15,
                (false, false) => 0.5,
            };
            let limits = Limits {
                warm_up: 2,
                runs: flags.runs.unwrap_or(RUNS).max(1),
                time: Duration::from_secs_f64(seconds),
            };
            let mut storages = storage::storages(flags.storage.as_deref())?;
            storages.retain(|storage| flags.storage.is_some() || storage.is_swept || !(is_swept || flags.quick));
            let job = Job::new(&backend, &stream, limits, case)?;
            summary::print_heading(case);
            for storage in storages {
                storage.time(&job, &algorithms, &mut |choice, outcome| {
                    self.take(case, storage, choice, outcome, flags.algorithm.is_some());
                })?;
            }
            // The sweeps compare our own algorithms.
            if let Some(running) = peers.as_mut().filter(|_| !is_swept) {
                match running.time(&job) {
                    Ok(rows) => rows.into_iter().for_each(|run| self.file.results.insert(run)),
                    Err(error) => {
                        println!("  {error:#}");
                        self.faults.push(format!("peers on {}: {error:#}", case.name));
                        peers = Peers::start("das.py")?;
                    }
                }
            }
            summary::print_ratios(&self.file.results, "das", &case.name);
            self.file.write()?;
        }
        drop(peers);
        if has_operations {
            self.operations(flags, &stream)?;
        }
        Ok(())
    }

    /// Times the operations beside delay-and-sum, in turn with the peers that have them.
    fn operations(&mut self, flags: &flags::Time, stream: &Stream) -> anyhow::Result<()> {
        let limits = Limits {
            warm_up: 2,
            runs: flags.runs.unwrap_or(RUNS).max(1),
            time: Duration::from_millis(500),
        };
        let mut peers = if flags.peers {
            Peers::start("operations.py")?
        } else {
            None
        };
        for operation in operations::all() {
            let case = operation.case();
            println!("\n{} {case}", operation.name);
            let expected = operation.expected();
            match operation.time(&self.backend, stream, limits, &expected) {
                Ok(measured) => {
                    let run = Run::ours(operation.name, &case, operations::VARIANT, &measured);
                    summary::print_run(&run);
                    if measured.relative_error <= operation.bound() {
                        self.file.results.insert(run.clone());
                        self.measured.push(run);
                    } else {
                        self.faults.push(format!(
                            "{} {case} has a relative error of {:.2e}, {:.2e} is allowed: not kept",
                            operation.name,
                            measured.relative_error,
                            operation.bound()
                        ));
                    }
                }
                Err(error) => self.faults.push(format!("{} {case}: {error:#}", operation.name)),
            }
            if let Some(running) = &mut peers {
                match running.time_operation(&operation, limits, &expected) {
                    Ok(rows) => rows.into_iter().for_each(|run| self.file.results.insert(run)),
                    Err(error) => {
                        self.faults
                            .push(format!("peers on {} {case}: {error:#}", operation.name));
                        peers = Peers::start("operations.py")?;
                    }
                }
            }
            summary::print_ratios(&self.file.results, operation.name, &case);
            self.file.write()?;
        }
        Ok(())
    }

    /// Keeps and prints what came of a variant.
    fn take(&mut self, case: &Case, storage: &Storage, choice: &Choice, outcome: Outcome, was_asked_for: bool) {
        let variant = format!("{}-{}", choice.name, storage.name);
        match outcome {
            Outcome::Measured(measured) => {
                let run = Run::ours("das", &case.name, &variant, &measured);
                summary::print_run(&run);
                let bound = storage.bound(case);
                if measured.relative_error <= bound {
                    self.file.results.insert(run.clone());
                    self.measured.push(run);
                } else {
                    self.faults.push(format!(
                        "{} {variant} has a relative error of {:.2e}, {bound:.2e} is allowed: not kept",
                        case.name, measured.relative_error
                    ));
                }
            }
            Outcome::DoesNotApply(why) if was_asked_for => println!("  {variant}: does not apply ({why})"),
            Outcome::DoesNotApply(_) => {}
            Outcome::Failed(why) => {
                println!("  {variant}: {why}");
                self.faults.push(format!("{} {variant}: {why}", case.name));
            }
        }
    }
}
