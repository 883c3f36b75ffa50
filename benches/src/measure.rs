//! One case on one backend: data made once a storage, each algorithm timed on it, a sample of its result checked.

use crate::cases::Case;
use crate::reference::Compared;
use crate::storage::{Choice, Element, Storage};
use crate::{data, geometry};
use anyhow::Context;
use ndarray::{ArrayD, Ix2};
use std::time::Duration;
use warpbeam::{Algorithm, Backend, DasGeometry, DasOptions, DasPlan, DasTiming, Error, Stream, Tensor};

/// Fewest runs that count, however long they take.
const FEWEST_RUNS: usize = 3;

/// How long a variant is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Runs before those that count; one alone where it takes long.
    pub(crate) warm_up: usize,
    /// Most runs that count.
    pub(crate) runs: usize,
    /// Time after which no further run starts.
    pub(crate) time: Duration,
}

impl Limits {
    /// One run and nothing else.
    pub(crate) const ONCE: Self = Self {
        warm_up: 0,
        runs: 1,
        time: Duration::ZERO,
    };
}

/// A case made ready for all its variants.
pub(crate) struct Job<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) stream: &'a Stream,
    pub(crate) limits: Limits,
    pub(crate) case: &'a Case,
    pub(crate) geometry: DasGeometry,
    pub(crate) compared: Compared,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        backend: &'a Backend,
        stream: &'a Stream,
        limits: Limits,
        case: &'a Case,
    ) -> anyhow::Result<Self> {
        let geometry = geometry::of(case)?;
        let compared = Compared::new(case);
        Ok(Self {
            backend,
            stream,
            limits,
            case,
            geometry,
            compared,
        })
    }
}

/// What came of a variant.
pub(crate) enum Outcome {
    Measured(Measured),
    /// The algorithm does not take this storage or shape.
    DoesNotApply(String),
    Failed(String),
}

/// What was measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// In ascending order.
    pub(crate) times: Vec<Duration>,
    pub(crate) points: u64,
    pub(crate) relative_error: f64,
}

/// Times every algorithm on one storage's data.
pub(crate) fn time<T: Element>(
    job: &Job,
    storage: &Storage,
    algorithms: &[&Choice],
    each: &mut dyn FnMut(&Choice, Outcome),
) -> anyhow::Result<()> {
    let data = Tensor::from_array(job.backend, &data::of::<T>(job.case)?)?;
    let sums = job.compared.sums::<T>(job.case, &job.geometry);
    let mut shape = vec![job.case.n_batch];
    shape.extend_from_slice(job.geometry.grid_shape());
    let mut image = ArrayD::from_elem(shape, T::Sum::default());
    for choice in algorithms {
        let options = DasOptions {
            algorithm: choice.algorithm,
            ..(storage.options)(job.case.options())
        };
        let outcome = match runs::<T>(job, &options, &data, &mut image) {
            Ok((times, points)) => {
                let pixels = image
                    .view()
                    .into_shape_with_order(Ix2(job.case.n_batch, job.case.n_voxels()));
                let pixels = pixels.context("the image's shape")?;
                let relative_error = job.compared.relative_error::<T>(&pixels, &sums);
                Outcome::Measured(Measured {
                    times,
                    points,
                    relative_error,
                })
            }
            Err(Error::Unsupported { what, .. }) => Outcome::DoesNotApply(what.to_owned()),
            Err(error) => Outcome::Failed(error.to_string()),
        };
        each(choice, outcome);
    }
    Ok(())
}

/// The times of a plan's runs, ascending, and its points; the last run's result is in `image`.
fn runs<T: Element>(
    job: &Job,
    options: &DasOptions,
    data: &Tensor<T>,
    image: &mut ArrayD<T::Sum>,
) -> warpbeam::Result<(Vec<Duration>, u64)> {
    let plan = DasPlan::<T>::new(job.backend, &job.geometry, options)?;
    let mut output = Tensor::<T::Sum>::zeros(job.backend, image.shape())?;
    let times = timed(job.stream, job.limits, || plan.run_into(data, &mut output, job.stream))?;
    if options.algorithm == Algorithm::Auto && job.backend.is_cuda() {
        // What the rule chose from.
        for DasTiming { name, time } in plan.time(data, job.stream)? {
            println!("    {name:<42} {:>10.3} ms", time.as_secs_f64() * 1e3);
        }
    }
    output.copy_to_array(image)?;
    Ok((times, plan.points(job.case.n_batch)))
}

/// The times between two events around what `run` queues, ascending.
pub(crate) fn timed(
    stream: &Stream,
    limits: Limits,
    mut run: impl FnMut() -> warpbeam::Result<()>,
) -> warpbeam::Result<Vec<Duration>> {
    let mut time = || -> warpbeam::Result<Duration> {
        let start = stream.record()?;
        run()?;
        let end = stream.record()?;
        end.synchronize()?;
        end.elapsed_since(&start)
    };
    for _ in 0..limits.warm_up {
        if time()? > limits.time / 4 {
            break;
        }
    }
    let mut times = Vec::new();
    let mut spent = Duration::ZERO;
    let fewest = FEWEST_RUNS.min(limits.runs);
    while times.len() < fewest || (times.len() < limits.runs && spent < limits.time) {
        let time = time()?;
        spent += time;
        times.push(time);
    }
    times.sort_unstable();
    Ok(times)
}
