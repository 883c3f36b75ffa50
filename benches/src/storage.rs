//! What can be timed: the table of algorithms and the table of storages. A new one is a line.

use crate::cases::Case;
use crate::measure::{self, Job, Outcome};
use anyhow::Context;
use half::f16;
use num_complex::Complex;
use warpbeam::{Algorithm, DasOptions, Precision, Sample};

/// An algorithm's name in variants such as `voxel-f32`, and whether it is run without being asked for.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) algorithm: Algorithm,
    is_default: bool,
}

/// The algorithms of a GPU.
const ALGORITHMS: &[Choice] = &[
    Choice {
        name: "voxel",
        algorithm: Algorithm::Voxel,
        is_default: true,
    },
    Choice {
        name: "frame",
        algorithm: Algorithm::Frame,
        is_default: true,
    },
    Choice {
        name: "batch",
        algorithm: Algorithm::Batch,
        is_default: true,
    },
    Choice {
        name: "distinct",
        algorithm: Algorithm::Distinct,
        is_default: true,
    },
    Choice {
        name: "window",
        algorithm: Algorithm::Window,
        is_default: true,
    },
    Choice {
        name: "auto",
        algorithm: Algorithm::Auto,
        is_default: false,
    },
];

/// A CPU has one way for all.
const CPU: Choice = Choice {
    name: "cpu",
    algorithm: Algorithm::Auto,
    is_default: true,
};

/// How samples are stored: the type of the input, the options that go with it, and how exact the result must be.
pub(crate) struct Storage {
    pub(crate) name: &'static str,
    pub(crate) options: fn(DasOptions) -> DasOptions,
    exactness: Exactness,
    /// Times a job on real and on complex samples.
    time: [Time; 2],
    /// Whether the scaling sweeps run it.
    pub(crate) is_swept: bool,
}

type Time = fn(&Job, &Storage, &[&Choice], &mut dyn FnMut(&Choice, Outcome)) -> anyhow::Result<()>;

/// The storages.
pub(crate) const STORAGES: &[Storage] = &[
    Storage {
        name: "f32",
        options: |options| options,
        exactness: Exactness::Single,
        time: times::<f32>(),
        is_swept: true,
    },
    Storage {
        name: "f16",
        options: |options| options,
        exactness: Exactness::Half,
        time: times::<f16>(),
        is_swept: true,
    },
    Storage {
        name: "tf32",
        options: |options| DasOptions {
            precision: Precision::Tf32,
            ..options
        },
        exactness: Exactness::Half,
        time: times::<f32>(),
        is_swept: false,
    },
    // Kept as f16 by the plan: the permutation converts.
    Storage {
        name: "f32-f16",
        options: |options| DasOptions {
            precision: Precision::F16 { exponent: None },
            ..options
        },
        exactness: Exactness::Half,
        time: times::<f32>(),
        is_swept: false,
    },
    Storage {
        name: "i16",
        options: |options| options,
        exactness: Exactness::Half,
        time: times::<i16>(),
        is_swept: false,
    },
    Storage {
        name: "f64",
        options: |options| options,
        exactness: Exactness::Double,
        time: times::<f64>(),
        is_swept: false,
    },
];

const fn times<T>() -> [Time; 2]
where
    T: Element,
    Complex<T>: Element,
{
    [measure::time::<T>, measure::time::<Complex<T>>]
}

/// What limits a result's exactness.
#[derive(Clone, Copy, Debug)]
enum Exactness {
    Double,
    Single,
    /// 16-bit or TF32 operands of a matrix instruction.
    Half,
}

impl Storage {
    /// Most relative error against the direct sum of the same stored samples.
    pub(crate) fn bound(&self, case: &Case) -> f64 {
        match self.exactness {
            Exactness::Double => 1e-11,
            Exactness::Single => case.single_precision_bound(),
            Exactness::Half => case.single_precision_bound().max(1e-3),
        }
    }

    /// Times a job with each algorithm, on the same data.
    pub(crate) fn time(
        &self,
        job: &Job,
        algorithms: &[&Choice],
        each: &mut dyn FnMut(&Choice, Outcome),
    ) -> anyhow::Result<()> {
        self.time[usize::from(job.case.is_iq())](job, self, algorithms, each)
    }
}

/// The algorithms in a list with commas, or those that are run by default.
pub(crate) fn algorithms(names: Option<&str>, is_cuda: bool) -> anyhow::Result<Vec<&'static Choice>> {
    match names {
        _ if !is_cuda => Ok(vec![&CPU]),
        None => Ok(ALGORITHMS.iter().filter(|choice| choice.is_default).collect()),
        Some(names) => chosen(names, ALGORITHMS, |choice| choice.name, "algorithm"),
    }
}

/// The storages in a list with commas, or all.
pub(crate) fn storages(names: Option<&str>) -> anyhow::Result<Vec<&'static Storage>> {
    match names {
        None => Ok(STORAGES.iter().collect()),
        Some(names) => chosen(names, STORAGES, |storage| storage.name, "storage"),
    }
}

fn chosen<R>(names: &str, rows: &'static [R], name: fn(&R) -> &str, what: &str) -> anyhow::Result<Vec<&'static R>> {
    let find = |wanted: &str| {
        rows.iter().find(|row| name(row) == wanted).with_context(|| {
            let all: Vec<_> = rows.iter().map(name).collect();
            format!("there is no {what} {wanted:?}; possible are {}", all.join(", "))
        })
    };
    names.split(',').map(find).collect()
}

/// A sample type that data can be made of.
pub(crate) trait Element: Sample {
    /// Numbers in a sample.
    const N_PARTS: usize;
    /// From two numbers within ±1; real samples take the first.
    fn from_parts(real: f32, imaginary: f32) -> Self;
    /// Real and imaginary part.
    fn parts(self) -> [f64; 2];
    /// The parts of a sum.
    fn sum_parts(sum: Self::Sum) -> [f64; 2];
}

macro_rules! element {
    ($($stored:ty, $sum:ty: $round:expr, $value:expr;)*) => { $(
        impl Element for $stored {
            const N_PARTS: usize = 1;
            fn from_parts(real: f32, _imaginary: f32) -> Self {
                $round(real)
            }
            fn parts(self) -> [f64; 2] {
                [$value(self), 0.0]
            }
            fn sum_parts(sum: $sum) -> [f64; 2] {
                [f64::from(sum), 0.0]
            }
        }
        impl Element for Complex<$stored> {
            const N_PARTS: usize = 2;
            fn from_parts(real: f32, imaginary: f32) -> Self {
                Complex::new($round(real), $round(imaginary))
            }
            fn parts(self) -> [f64; 2] {
                [$value(self.re), $value(self.im)]
            }
            fn sum_parts(sum: Complex<$sum>) -> [f64; 2] {
                [f64::from(sum.re), f64::from(sum.im)]
            }
        }
    )* };
}

element! {
    f32, f32: |part| part, f64::from;
    f64, f64: f64::from, f64::from;
    f16, f32: f16::from_f32, f16::to_f64;
    i16, f32: |part: f32| (part * 32767.0) as i16, f64::from;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_rows() {
        let names = |rows: Vec<&Storage>| rows.iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(storages(Some("f64,f16")).unwrap()), ["f64", "f16"]);
        assert!(storages(Some("f8")).err().unwrap().to_string().contains("f32, f16"));
        assert_eq!(algorithms(Some("batch"), false).unwrap()[0].name, "cpu");
        assert_eq!(algorithms(Some("batch,auto"), true).unwrap().len(), 2);
        assert!(algorithms(None, true).unwrap().iter().all(|choice| choice.is_default));
    }
}
