//! What can be wrong with subscripts, and where.

/// Subscripts that do not say which product is meant, or that do not fit the operands.
///
/// Positions count characters from 0; operands and axes count from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EinsumError {
    /// A character that has no meaning where it stands.
    #[error(
        "{character:?} at position {position} of {subscripts:?}; subscripts are letters from a to z and A to Z, a comma \
         between operands, and one -> before the output"
    )]
    BadCharacter {
        /// The subscripts.
        subscripts: String,
        /// What stands there.
        character: char,
        /// Where.
        position: usize,
    },
    /// Other operands than there are tensors.
    #[error("{subscripts:?} has {got} operands; there are {expected}")]
    WrongOperands {
        /// The subscripts.
        subscripts: String,
        /// The number of tensors.
        expected: usize,
        /// The number of operands in the subscripts.
        got: usize,
    },
    /// Other axes than the operand has.
    #[error("operand {operand} has the letters {letters:?} and shape {shape:?}; each axis needs one letter")]
    WrongRank {
        /// The operand.
        operand: usize,
        /// Its letters.
        letters: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// One letter for axes of different lengths, of which none is repeated.
    #[error(
        "{letter:?} is {length} long on axis {axis} of operand {operand} (position {position}), and {other_length} on axis \
         {other_axis} of operand {other_operand}; axes of one letter are equally long"
    )]
    UnequalLengths {
        /// The letter.
        letter: char,
        /// Where in the subscripts it stands for another length than before.
        position: usize,
        /// The operand there.
        operand: usize,
        /// Its axis.
        axis: usize,
        /// How long that axis is.
        length: usize,
        /// The operand where the letter stood first.
        other_operand: usize,
        /// Its axis.
        other_axis: usize,
        /// How long that axis is.
        other_length: usize,
    },
    /// A letter of the output that no operand has.
    #[error("{letter:?} at position {position} of {subscripts:?} is in the output and in no operand")]
    UnknownOutput {
        /// The subscripts.
        subscripts: String,
        /// The letter.
        letter: char,
        /// Where.
        position: usize,
    },
    /// A letter that stands in the output twice.
    #[error(
        "{letter:?} at position {position} of {subscripts:?} is in the output already; each letter stands there once"
    )]
    RepeatedOutput {
        /// The subscripts.
        subscripts: String,
        /// The letter.
        letter: char,
        /// Where it stands again.
        position: usize,
    },
}
