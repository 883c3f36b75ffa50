//! From one variable's canonical bytes to a [`MatValue`], through `matrw`.

use std::iter::Peekable;
use std::vec::IntoIter;

use matrw::{MatVariable, MatlabType, NumericArray, load_matfile_from_u8};
use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use num_complex::Complex;

use super::canonical::{Canonical, rewrite};
use super::frame::Endian;
use super::value::{MatStruct, MatValue};

/// The variable's name and value; `body` is its matrix element without the tag.
pub(super) fn variable(body: &[u8], endian: Endian) -> Result<(String, MatValue), String> {
    let Canonical { file, set_aside } = rewrite(body, endian)?;
    let file = load_matfile_from_u8(&file).map_err(|error| error.to_string())?;
    let (name, variable) = file.into_iter().next().ok_or("it holds nothing")?;
    let mut decoder = Decoder {
        values: 0,
        set_aside: set_aside.into_iter().peekable(),
    };
    Ok((name, decoder.value(variable)?))
}

/// Walks the values in the order in which they were written.
struct Decoder {
    values: usize,
    set_aside: Peekable<IntoIter<(usize, &'static str)>>,
}

impl Decoder {
    fn value(&mut self, variable: MatVariable) -> Result<MatValue, String> {
        let index = self.values;
        self.values += 1;
        if let Some((_, kind)) = self.set_aside.next_if(|(set_aside, _)| *set_aside == index) {
            return Ok(MatValue::Unsupported(kind));
        }
        match variable {
            MatVariable::NumericArray(array) => numeric(array),
            MatVariable::CellArray(cell) => {
                let cells = cell
                    .value
                    .into_iter()
                    .map(|cell| self.value(cell))
                    .collect::<Result<_, _>>()?;
                Ok(MatValue::Cell(array(&cell.dim, cells)?))
            }
            MatVariable::Structure(_) => {
                let structure = self.structure(variable)?;
                Ok(MatValue::Struct(array(&[1, 1], vec![structure])?))
            }
            MatVariable::StructureArray(structures) => {
                let shape = structures.dim;
                let all = structures.value.into_iter().map(|structure| self.structure(structure));
                let mut all = all.collect::<Result<Vec<_>, _>>()?;
                if all.is_empty() {
                    // Structures without fields leave no trace but their number.
                    all = vec![MatStruct::default(); shape.iter().product()];
                }
                Ok(MatValue::Struct(array(&shape, all)?))
            }
            _ => Err("it is of a class that should have been set aside".to_owned()),
        }
    }

    fn structure(&mut self, variable: MatVariable) -> Result<MatStruct, String> {
        let MatVariable::Structure(structure) = variable else {
            return Err("an element of a structure array is no structure".to_owned());
        };
        let fields = structure
            .value
            .into_iter()
            .map(|(name, field)| Ok((name, self.value(field)?)));
        Ok(MatStruct {
            fields: fields.collect::<Result<_, String>>()?,
        })
    }
}

fn numeric(numbers: NumericArray) -> Result<MatValue, String> {
    let shape = numbers.dim;
    if let Some(imaginary) = numbers.value_cmp {
        return complex(&shape, numbers.value, imaginary);
    }
    Ok(match numbers.value {
        MatlabType::I8(values) => MatValue::Int8(array(&shape, values)?),
        MatlabType::U8(values) => MatValue::UInt8(array(&shape, values)?),
        MatlabType::I16(values) => MatValue::Int16(array(&shape, values)?),
        MatlabType::U16(values) => MatValue::UInt16(array(&shape, values)?),
        MatlabType::I32(values) => MatValue::Int32(array(&shape, values)?),
        MatlabType::U32(values) => MatValue::UInt32(array(&shape, values)?),
        MatlabType::I64(values) => MatValue::Int64(array(&shape, values)?),
        MatlabType::U64(values) => MatValue::UInt64(array(&shape, values)?),
        MatlabType::F32(values) => MatValue::Single(array(&shape, values)?),
        MatlabType::F64(values) => MatValue::Double(array(&shape, values)?),
        MatlabType::BOOL(values) => MatValue::Logical(array(&shape, values)?),
        MatlabType::UTF8(values) | MatlabType::UTF16(values) => MatValue::Char(rows(&array(&shape, values)?)),
    })
}

fn complex(shape: &[usize], real: MatlabType, imaginary: MatlabType) -> Result<MatValue, String> {
    Ok(match (real, imaginary) {
        (MatlabType::I16(re), MatlabType::I16(im)) => MatValue::ComplexInt16(array(shape, pairs(re, im))?),
        (MatlabType::F32(re), MatlabType::F32(im)) => MatValue::ComplexSingle(array(shape, pairs(re, im))?),
        (re, im) => MatValue::ComplexDouble(array(shape, pairs(wide(re)?, wide(im)?))?),
    })
}

fn wide(values: MatlabType) -> Result<Vec<f64>, String> {
    Ok(match values {
        MatlabType::I8(values) => values.into_iter().map(f64::from).collect(),
        MatlabType::U8(values) => values.into_iter().map(f64::from).collect(),
        MatlabType::U16(values) => values.into_iter().map(f64::from).collect(),
        MatlabType::I32(values) => values.into_iter().map(f64::from).collect(),
        MatlabType::U32(values) => values.into_iter().map(f64::from).collect(),
        MatlabType::I64(values) => values.into_iter().map(|value| value as f64).collect(),
        MatlabType::U64(values) => values.into_iter().map(|value| value as f64).collect(),
        MatlabType::F64(values) => values,
        _ => return Err("it is complex and of a class that has no imaginary part".to_owned()),
    })
}

fn pairs<T>(real: Vec<T>, imaginary: Vec<T>) -> Vec<Complex<T>> {
    real.into_iter()
        .zip(imaginary)
        .map(|(re, im)| Complex { re, im })
        .collect()
}

fn array<T>(shape: &[usize], values: Vec<T>) -> Result<ArrayD<T>, String> {
    let count = values.len();
    ArrayD::from_shape_vec(IxDyn(shape).f(), values)
        .map_err(|_| format!("its shape is {shape:?}, but it has {count} elements"))
}

fn rows(text: &ArrayD<char>) -> Vec<String> {
    text.rows().into_iter().map(|row| row.iter().collect()).collect()
}
