//! What a product is for given shapes: the output's shape, and the letters by what becomes of them.

use super::error::EinsumError;
use super::subscripts::{Letter, Subscripts};
use crate::Result;
use crate::device::{Element, TensorView};
use crate::ops::space::{expect_axes, expect_shape};

/// A view each axis of which has a letter of its own.
#[derive(Clone, Debug)]
pub(super) struct Operand<'a, T> {
    pub(super) letters: Vec<char>,
    pub(super) view: TensorView<'a, T>,
}

impl<'a, T: Element> Operand<'a, T> {
    /// The operand of these letters; where one stands twice, its diagonal.
    fn new(letters: &[Letter], mut view: TensorView<'a, T>) -> Result<Self> {
        let mut kept: Vec<char> = Vec::new();
        for letter in letters {
            match kept.iter().position(|known| *known == letter.name) {
                Some(axis) => view = view.diagonal(axis, kept.len())?,
                None => kept.push(letter.name),
            }
        }
        Ok(Self { letters: kept, view })
    }

    /// The axis of a letter.
    pub(super) fn axis(&self, letter: char) -> Option<usize> {
        self.letters.iter().position(|known| *known == letter)
    }

    /// How long a letter's axis is.
    pub(super) fn length(&self, letter: char) -> Option<usize> {
        self.axis(letter).map(|axis| self.view.shape()[axis])
    }

    /// The axes in the order of `letters`, which are all of the operand's.
    pub(super) fn ordered(&self, letters: &[char]) -> Result<Self> {
        let order: Vec<usize> = letters.iter().filter_map(|letter| self.axis(*letter)).collect();
        Ok(Self {
            letters: letters.to_vec(),
            view: self.view.clone().permuted_axes(&order)?,
        })
    }
}

/// The letters of a product of two operands, each group in the order of the output, and those that are not there in that
/// of the first operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    /// In both operands and in the output.
    pub(super) batch: Vec<char>,
    /// In the first operand and in the output.
    pub(super) rows: Vec<char>,
    /// In the second operand and in the output.
    pub(super) columns: Vec<char>,
    /// In both operands and not in the output.
    pub(super) contracted: Vec<char>,
    /// In one operand alone: summed before the product.
    pub(super) alone: [Vec<char>; 2],
}

impl Groups {
    pub(super) fn new<T>(operands: [&Operand<'_, T>; 2], output: &[char]) -> Self {
        let [first, second] = operands.map(|operand| &operand.letters);
        let of_output = |in_first: bool, in_second: bool| -> Vec<char> {
            let is_wanted = |letter: &&char| (first.contains(letter), second.contains(letter)) == (in_first, in_second);
            output.iter().filter(is_wanted).copied().collect()
        };
        let summed = |of: &[char], other: &[char], in_other: bool| -> Vec<char> {
            let is_wanted = |letter: &&char| !output.contains(letter) && other.contains(letter) == in_other;
            of.iter().filter(is_wanted).copied().collect()
        };
        Self {
            batch: of_output(true, true),
            rows: of_output(true, false),
            columns: of_output(false, true),
            contracted: summed(first, second, true),
            alone: [summed(first, second, false), summed(second, first, false)],
        }
    }
}

/// Subscripts and shapes, checked against each other.
pub(super) struct Rule {
    subscripts: Subscripts,
    shapes: Vec<Vec<usize>>,
    pub(super) output_shape: Vec<usize>,
}

impl Rule {
    pub(super) fn new(subscripts: &str, shapes: Vec<Vec<usize>>) -> Result<Self> {
        let subscripts = Subscripts::parse(subscripts, shapes.len())?;
        for shape in &shapes {
            expect_axes("an operand", shape)?;
        }
        let known = expect_lengths(&subscripts.operands, &shapes)?;
        let length = |letter: &Letter| known.iter().find(|known| known.0 == letter.name).map(|known| known.3);
        let output_shape: Vec<usize> = subscripts.output.iter().filter_map(length).collect();
        expect_axes("the output", &output_shape)?;
        Ok(Self {
            subscripts,
            shapes,
            output_shape,
        })
    }
}

/// Operands of a rule, and its output.
pub(super) struct Contraction<'a, T> {
    pub(super) operands: Vec<Operand<'a, T>>,
    pub(super) output: Vec<char>,
    pub(super) output_shape: Vec<usize>,
}

impl<'a, T: Element> Contraction<'a, T> {
    pub(super) fn new(rule: &Rule, views: Vec<TensorView<'a, T>>) -> Result<Self> {
        for (shape, view) in rule.shapes.iter().zip(&views) {
            expect_shape("an operand", shape, view.shape())?;
        }
        let operands = rule.subscripts.operands.iter().zip(views);
        Ok(Self {
            operands: operands
                .map(|(letters, view)| Operand::new(letters, view))
                .collect::<Result<_>>()?,
            output: rule.subscripts.output.iter().map(|letter| letter.name).collect(),
            output_shape: rule.output_shape.clone(),
        })
    }
}

/// A letter, and the operand, axis and length of its first axis.
type Known = (char, usize, usize, usize);

/// Refuses operands of other axes than letters, and letters of several lengths; what is known of each letter.
fn expect_lengths(operands: &[Vec<Letter>], shapes: &[Vec<usize>]) -> std::result::Result<Vec<Known>, EinsumError> {
    let mut known: Vec<Known> = Vec::new();
    for (operand, (letters, shape)) in operands.iter().zip(shapes).enumerate() {
        if letters.len() != shape.len() {
            return Err(EinsumError::WrongRank {
                operand,
                letters: letters.iter().map(|letter| letter.name).collect(),
                shape: shape.clone(),
            });
        }
        for (axis, (letter, &length)) in letters.iter().zip(shape).enumerate() {
            match known.iter().find(|known| known.0 == letter.name) {
                None => known.push((letter.name, operand, axis, length)),
                Some(&(_, other_operand, other_axis, other_length)) if other_length != length => {
                    return Err(EinsumError::UnequalLengths {
                        letter: letter.name,
                        position: letter.position,
                        operand,
                        axis,
                        length,
                        other_operand,
                        other_axis,
                        other_length,
                    });
                }
                Some(_) => {}
            }
        }
    }
    Ok(known)
}
