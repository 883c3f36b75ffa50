//! Subscripts: letters for the axes of operands and output.

use super::error::EinsumError;

/// A letter, and where in the subscripts it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) name: char,
    pub(super) position: usize,
}

/// The letters of every operand and of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subscripts {
    pub(super) operands: Vec<Vec<Letter>>,
    pub(super) output: Vec<Letter>,
}

impl Subscripts {
    /// Reads subscripts for `n_operands`; without `->`, the output has the letters that stand once, sorted.
    pub(super) fn parse(subscripts: &str, n_operands: usize) -> Result<Self, EinsumError> {
        let mut operands = vec![Vec::new()];
        let mut output = None;
        let mut characters = subscripts.chars().enumerate().peekable();
        while let Some((position, character)) = characters.next() {
            let bad = || EinsumError::BadCharacter {
                subscripts: subscripts.to_owned(),
                character,
                position,
            };
            match character {
                ' ' => {}
                'a'..='z' | 'A'..='Z' => {
                    let letter = Letter {
                        name: character,
                        position,
                    };
                    match (&mut output, operands.last_mut()) {
                        (Some(output), _) | (None, Some(output)) => output.push(letter),
                        (None, None) => {}
                    }
                }
                ',' if output.is_none() => operands.push(Vec::new()),
                '-' if output.is_none() => {
                    characters.next_if(|next| next.1 == '>').ok_or_else(bad)?;
                    output = Some(Vec::new());
                }
                _ => return Err(bad()),
            }
        }
        if operands.len() != n_operands {
            return Err(EinsumError::WrongOperands {
                subscripts: subscripts.to_owned(),
                expected: n_operands,
                got: operands.len(),
            });
        }
        let output = match output {
            Some(output) => checked(subscripts, &operands, output)?,
            None => those_once(&operands),
        };
        Ok(Self { operands, output })
    }
}

/// The output, if every letter of it is in an operand and stands once.
fn checked(subscripts: &str, operands: &[Vec<Letter>], output: Vec<Letter>) -> Result<Vec<Letter>, EinsumError> {
    for (place, &Letter { name, position }) in output.iter().enumerate() {
        let (subscripts, letter) = (subscripts.to_owned(), name);
        if output[..place].iter().any(|before| before.name == name) {
            return Err(EinsumError::RepeatedOutput {
                subscripts,
                letter,
                position,
            });
        }
        if !operands.iter().flatten().any(|known| known.name == name) {
            return Err(EinsumError::UnknownOutput {
                subscripts,
                letter,
                position,
            });
        }
    }
    Ok(output)
}

/// The letters that stand once, sorted; capitals come first, as in `NumPy`.
fn those_once(operands: &[Vec<Letter>]) -> Vec<Letter> {
    let all = || operands.iter().flatten();
    let mut once: Vec<Letter> = all()
        .filter(|letter| all().filter(|other| other.name == letter.name).count() == 1)
        .copied()
        .collect();
    once.sort_unstable_by_key(|letter| letter.name);
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(subscripts: &str, n_operands: usize) -> Result<(Vec<String>, String), String> {
        let names = |letters: &[Letter]| letters.iter().map(|letter| letter.name).collect::<String>();
        let read = Subscripts::parse(subscripts, n_operands).map_err(|error| error.to_string())?;
        for letter in read.operands.iter().flatten().chain(&read.output) {
            assert_eq!(subscripts.chars().nth(letter.position), Some(letter.name));
        }
        let operands = read.operands.iter().map(|operand| names(operand)).collect();
        Ok((operands, names(&read.output)))
    }

    #[test]
    fn operands_and_output() {
        for (subscripts, operands, output) in [
            ("ij,jk->ik", vec!["ij", "jk"], "ik"),
            (" b a , aZ -> Z b", vec!["ba", "aZ"], "Zb"),
            ("ij,jk", vec!["ij", "jk"], "ik"),
            ("zb,aA", vec!["zb", "aA"], "Aabz"),
            ("ii,jk", vec!["ii", "jk"], "jk"),
            ("i,i->", vec!["i", "i"], ""),
            (",->", vec!["", ""], ""),
            (",", vec!["", ""], ""),
            ("ij->ji", vec!["ij"], "ji"),
            ("", vec![""], ""),
        ] {
            let expected = (operands.iter().map(ToString::to_string).collect(), output.to_owned());
            assert_eq!(read(subscripts, operands.len()), Ok(expected), "{subscripts}");
        }
    }

    #[test]
    fn what_is_wrong_and_where() {
        for (subscripts, part) in [
            ("i1,jk->ik", "'1' at position 1 of \"i1,jk->ik\""),
            ("é,j->j", "'é' at position 0"),
            ("ij,jk-ik", "'-' at position 5"),
            ("ij,jk- >ik", "'-' at position 5"),
            ("ij,jk-", "'-' at position 5"),
            ("ij,jk>ik", "'>' at position 5"),
            ("ij,jk->i,k", "',' at position 8"),
            ("ij,jk->i->k", "'-' at position 8"),
            ("...i,i->i", "'.' at position 0"),
            ("ij->ij", "\"ij->ij\" has 1 operands; there are 2"),
            ("->", "has 1 operands; there are 2"),
            ("", "has 1 operands; there are 2"),
            ("i,j,k->ijk", "has 3 operands; there are 2"),
            (
                "ij,jk->iq",
                "'q' at position 8 of \"ij,jk->iq\" is in the output and in no operand",
            ),
            (
                "ij,jk->iki",
                "'i' at position 9 of \"ij,jk->iki\" is in the output already",
            ),
        ] {
            let error = read(subscripts, 2).unwrap_err();
            assert!(error.contains(part), "{subscripts}: {error}");
        }
    }
}
