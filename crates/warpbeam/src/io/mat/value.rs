//! What a MAT-file holds, as Rust values.

use ndarray::ArrayD;
use num_complex::Complex;

/// A MATLAB value.
///
/// Arrays have MATLAB's shape and axes: element (i, j, k) in MATLAB, counted from 1, is `[[i-1, j-1, k-1]]` here. They
/// keep the file's memory order too, the first axis varying fastest, so that reading copies nothing; `reversed_axes`
/// makes of them a row-major array, again without a copy.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MatValue {
    /// `int8`
    Int8(ArrayD<i8>),
    /// `uint8`
    UInt8(ArrayD<u8>),
    /// `int16`
    Int16(ArrayD<i16>),
    /// `uint16`
    UInt16(ArrayD<u16>),
    /// `int32`
    Int32(ArrayD<i32>),
    /// `uint32`
    UInt32(ArrayD<u32>),
    /// `int64`
    Int64(ArrayD<i64>),
    /// `uint64`
    UInt64(ArrayD<u64>),
    /// `single`
    Single(ArrayD<f32>),
    /// `double`
    Double(ArrayD<f64>),
    /// `logical`
    Logical(ArrayD<bool>),
    /// Complex `int16`, as scanners store IQ data.
    ComplexInt16(ArrayD<Complex<i16>>),
    /// Complex `single`
    ComplexSingle(ArrayD<Complex<f32>>),
    /// Complex `double`, and the complex integers other than `int16`, widened.
    ComplexDouble(ArrayD<Complex<f64>>),
    /// `char`: a string for each row.
    Char(Vec<String>),
    /// `cell`
    Cell(ArrayD<MatValue>),
    /// `struct`: an array of structures with the same fields, usually of shape 1×1.
    Struct(ArrayD<MatStruct>),
    /// A value of a class that is not read; says which.
    Unsupported(&'static str),
}

impl MatValue {
    /// MATLAB's name of the value's class.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Int8(_) => "int8",
            Self::UInt8(_) => "uint8",
            Self::Int16(_) => "int16",
            Self::UInt16(_) => "uint16",
            Self::Int32(_) => "int32",
            Self::UInt32(_) => "uint32",
            Self::Int64(_) => "int64",
            Self::UInt64(_) => "uint64",
            Self::Single(_) => "single",
            Self::Double(_) => "double",
            Self::Logical(_) => "logical",
            Self::ComplexInt16(_) => "complex int16",
            Self::ComplexSingle(_) => "complex single",
            Self::ComplexDouble(_) => "complex double",
            Self::Char(_) => "char",
            Self::Cell(_) => "cell",
            Self::Struct(_) => "struct",
            Self::Unsupported(kind) => kind,
        }
    }

    /// The array's shape; of text the number of rows and the longest row's length, of an unsupported value nothing.
    pub fn shape(&self) -> Vec<usize> {
        match self {
            Self::Int8(array) => array.shape().to_vec(),
            Self::UInt8(array) => array.shape().to_vec(),
            Self::Int16(array) => array.shape().to_vec(),
            Self::UInt16(array) => array.shape().to_vec(),
            Self::Int32(array) => array.shape().to_vec(),
            Self::UInt32(array) => array.shape().to_vec(),
            Self::Int64(array) => array.shape().to_vec(),
            Self::UInt64(array) => array.shape().to_vec(),
            Self::Single(array) => array.shape().to_vec(),
            Self::Double(array) => array.shape().to_vec(),
            Self::Logical(array) => array.shape().to_vec(),
            Self::ComplexInt16(array) => array.shape().to_vec(),
            Self::ComplexSingle(array) => array.shape().to_vec(),
            Self::ComplexDouble(array) => array.shape().to_vec(),
            Self::Char(rows) => {
                let longest = rows.iter().map(|row| row.chars().count()).max();
                vec![rows.len(), longest.unwrap_or(0)]
            }
            Self::Cell(array) => array.shape().to_vec(),
            Self::Struct(array) => array.shape().to_vec(),
            Self::Unsupported(_) => Vec::new(),
        }
    }

    /// Real numbers and logicals as `f64`, whatever their class; `None` for everything else.
    ///
    /// Integers of 64 bits beyond 2⁵³ are rounded.
    pub fn to_f64(&self) -> Option<ArrayD<f64>> {
        Some(match self {
            Self::Int8(array) => array.mapv(f64::from),
            Self::UInt8(array) => array.mapv(f64::from),
            Self::Int16(array) => array.mapv(f64::from),
            Self::UInt16(array) => array.mapv(f64::from),
            Self::Int32(array) => array.mapv(f64::from),
            Self::UInt32(array) => array.mapv(f64::from),
            Self::Int64(array) => array.mapv(|value| value as f64),
            Self::UInt64(array) => array.mapv(|value| value as f64),
            Self::Single(array) => array.mapv(f64::from),
            Self::Double(array) => array.clone(),
            Self::Logical(array) => array.mapv(f64::from),
            _ => return None,
        })
    }
}

/// One structure: its fields in the file's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatStruct {
    pub(super) fields: Vec<(String, MatValue)>,
}

impl MatStruct {
    /// Names and values in the file's order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &MatValue)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The field of that name.
    pub fn get(&self, name: &str) -> Option<&MatValue> {
        self.fields()
            .find_map(|(field, value)| (field == name).then_some(value))
    }
}
