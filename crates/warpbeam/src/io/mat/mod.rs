//! MATLAB 5 MAT-files (`save -v6` and `-v7`, Octave, SciPy): numbers, text, cells and structures.
//!
//! `frame` finds the variables in the file, `canonical` checks and normalises each, `decode` turns it into a
//! [`MatValue`]. Level 4 and version 7.3 are refused by name; sparse matrices, objects and function handles are kept
//! as [`MatValue::Unsupported`], so that they do not stand in the way of the others.

mod canonical;
mod decode;
mod frame;
mod value;

use std::path::{Path, PathBuf};

use ndarray::ArrayD;

use super::IoError;
pub use value::{MatStruct, MatValue};

/// A MAT-file, read whole.
///
/// A name is a variable's, or a path into structures: `param.fc`.
///
/// ```no_run
/// # fn main() -> Result<(), warpbeam::io::IoError> {
/// let file = warpbeam::io::MatFile::open("PWI_disk.mat")?;
/// let sound_speed_m_s = file.scalar_f64("param.c")?;
/// let rf = file.array_i16("RF")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MatFile {
    file: PathBuf,
    variables: Vec<(String, MatValue)>,
}

impl MatFile {
    /// Reads a file into memory.
    ///
    /// # Errors
    ///
    /// [`IoError::Read`], [`IoError::NotMat`], [`IoError::MatVersion`], [`IoError::Truncated`], [`IoError::Damaged`].
    pub fn open(file: impl AsRef<Path>) -> Result<Self, IoError> {
        let file = file.as_ref();
        let bytes = std::fs::read(file).map_err(|source| IoError::Read {
            file: file.to_owned(),
            source,
        })?;
        Self::parse(file, &bytes)
    }

    fn parse(file: &Path, bytes: &[u8]) -> Result<Self, IoError> {
        let endian = frame::endian(file, bytes)?;
        let variables = frame::frames(file, bytes, endian)?.into_iter().map(|frame| {
            decode::variable(&frame.body, endian).map_err(|what| IoError::Damaged {
                file: file.to_owned(),
                offset: frame.offset,
                what,
            })
        });
        Ok(Self {
            file: file.to_owned(),
            variables: variables.collect::<Result<_, _>>()?,
        })
    }

    /// The variables' names and values in the file's order.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &MatValue)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a variable or field.
    ///
    /// # Errors
    ///
    /// [`IoError::MissingVariable`] with the names that exist where the search ended; [`IoError::WrongClass`] and
    /// [`IoError::WrongShape`] where the path leads through something that is not a single structure.
    pub fn get(&self, name: &str) -> Result<&MatValue, IoError> {
        let mut parts = name.split('.');
        let variable = parts.next().unwrap_or(name);
        let mut value = self
            .variables()
            .find_map(|(present, value)| (present == variable).then_some(value))
            .ok_or_else(|| self.missing(name, self.variables().map(|(present, _)| present.to_owned())))?;
        let mut place = variable.to_owned();
        for field in parts {
            let MatValue::Struct(structures) = value else {
                return Err(self.wrong_class(&place, value, "a struct"));
            };
            let (1, Some(structure)) = (structures.len(), structures.first()) else {
                return Err(self.wrong_shape(&place, value, "a single structure"));
            };
            value = structure.get(field).ok_or_else(|| {
                self.missing(
                    name,
                    structure.fields().map(|(present, _)| format!("{place}.{present}")),
                )
            })?;
            place = format!("{place}.{field}");
        }
        Ok(value)
    }

    /// A single real number of any class, widened to `f64` before anything is computed with it.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and [`IoError::WrongClass`] or [`IoError::WrongShape`] for anything else than one number.
    pub fn scalar_f64(&self, name: &str) -> Result<f64, IoError> {
        match self.array_f64(name)?.as_slice_memory_order() {
            Some(&[number]) => Ok(number),
            _ => Err(self.wrong_shape(name, self.get(name)?, "a single number")),
        }
    }

    /// Real numbers of any class as `f64`, in MATLAB's shape.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and [`IoError::WrongClass`] for anything else than real numbers.
    pub fn array_f64(&self, name: &str) -> Result<ArrayD<f64>, IoError> {
        let value = self.get(name)?;
        value
            .to_f64()
            .ok_or_else(|| self.wrong_class(name, value, "a real number or an array of them"))
    }

    /// Real numbers of any class as `i16`, in MATLAB's shape, none of them changed: MATLAB keeps integer samples in
    /// `double` arrays as often as not.
    ///
    /// # Errors
    ///
    /// As [`array_f64`](Self::array_f64), and [`IoError::InvalidValue`] with the first number that `i16` cannot hold.
    pub fn array_i16(&self, name: &str) -> Result<ArrayD<i16>, IoError> {
        if let MatValue::Int16(array) = self.get(name)? {
            return Ok(array.clone());
        }
        let numbers = self.array_f64(name)?;
        let mut misfit = None;
        let samples = numbers.mapv(|number| {
            let sample = number as i16;
            if f64::from(sample).total_cmp(&(number + 0.0)).is_ne() {
                misfit.get_or_insert(number);
            }
            sample
        });
        match misfit {
            None => Ok(samples),
            Some(number) => Err(self.invalid(name, number, "a whole number from -32768 to 32767")),
        }
    }

    pub(super) fn invalid(&self, name: &str, value: f64, expected: &'static str) -> IoError {
        IoError::InvalidValue {
            file: self.file.clone(),
            name: name.to_owned(),
            value,
            expected,
        }
    }

    pub(super) fn wrong_shape(&self, name: &str, value: &MatValue, expected: impl Into<String>) -> IoError {
        let (file, name) = (self.file.clone(), name.to_owned());
        IoError::WrongShape {
            file,
            name,
            expected: expected.into(),
            got: value.shape(),
        }
    }

    fn wrong_class(&self, name: &str, value: &MatValue, expected: &'static str) -> IoError {
        IoError::WrongClass {
            file: self.file.clone(),
            name: name.to_owned(),
            expected,
            got: value.class(),
        }
    }

    fn missing(&self, name: &str, present: impl Iterator<Item = String>) -> IoError {
        IoError::MissingVariable {
            file: self.file.clone(),
            name: name.to_owned(),
            present: present.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
