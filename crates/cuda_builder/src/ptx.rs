//! Finds the functions in PTX text as rustc writes it. Knows nothing of what instructions mean.

use std::ops::Range;

use crate::Error;

/// A function declared or defined in a PTX module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// A kernel (`.entry`); otherwise a device function (`.func`).
    pub(crate) is_kernel: bool,
    /// The offset behind the parameter list, where directives stand.
    pub(crate) after_parameters: usize,
    /// What stands between the outermost braces, `None` for a declaration.
    pub(crate) body: Option<Range<usize>>,
}

/// The functions of a module, in order. `code` is what [`without_comments`] returns.
pub(crate) fn functions(code: &str) -> Result<Vec<Function<'_>>, Error> {
    let mut functions = Vec::new();
    let mut at = 0;
    while let Some((start, is_kernel)) = next_function(code, at) {
        let mut cursor = Cursor { code, at: start };
        // A device function's return value stands in parentheses before its name.
        if cursor.peek()? == '(' {
            cursor.skip_group('(', ')')?;
        }
        let name = cursor.name()?;
        if cursor.peek()? == '(' {
            cursor.skip_group('(', ')')?;
        }
        let after_parameters = cursor.at;
        let body = match code[cursor.at..].find(['{', ';']).map(|i| i + cursor.at) {
            Some(end) if code.as_bytes()[end] == b';' => {
                cursor.at = end;
                None
            }
            Some(open) => {
                cursor.at = open;
                cursor.skip_group('{', '}')?;
                Some(open + 1..cursor.at - 1)
            }
            None => {
                return Err(Error::Ptx {
                    what: format!("`{name}` has no body"),
                });
            }
        };
        at = cursor.at;
        functions.push(Function {
            name,
            is_kernel,
            after_parameters,
            body,
        });
    }
    Ok(functions)
}

/// The text with comments and string literals overwritten by spaces: every offset stays what it was.
pub(crate) fn without_comments(ptx: &str) -> String {
    let mut out = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(c) = rest.chars().next() {
        let (length, blank) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            (comment.find("*/").map_or(rest.len(), |i| i + 4), true)
        } else if let Some(literal) = rest.strip_prefix('"') {
            (literal.find('"').map_or(rest.len(), |i| i + 2), true)
        } else {
            (c.len_utf8(), false)
        };
        let (taken, left) = rest.split_at(length);
        if blank {
            out.extend(taken.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(taken);
        }
        rest = left;
    }
    out
}

/// The offset behind the next `.entry` or `.func`, and whether it is a kernel's.
fn next_function(code: &str, from: usize) -> Option<(usize, bool)> {
    [(".entry", true), (".func", false)]
        .into_iter()
        .filter_map(|(word, is_kernel)| {
            code[from..]
                .match_indices(word)
                .map(|(i, _)| from + i + word.len())
                .find(|&end| code[end..].starts_with(|c: char| c.is_whitespace() || c == '('))
                .map(|end| (end, is_kernel))
        })
        .min()
}

struct Cursor<'a> {
    code: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next character that is no white space, not taken.
    fn peek(&mut self) -> Result<char, Error> {
        let rest = self.code[self.at..].trim_start();
        self.at = self.code.len() - rest.len();
        rest.chars().next().ok_or_else(|| Error::Ptx {
            what: "the text ends within a function".to_owned(),
        })
    }

    /// Takes what stands from `open` to the `close` that belongs to it.
    fn skip_group(&mut self, open: char, close: char) -> Result<(), Error> {
        let mut depth = 0_usize;
        for (i, c) in self.code[self.at..].char_indices() {
            if c == open {
                depth += 1;
            } else if c == close {
                depth -= 1;
                if depth == 0 {
                    self.at += i + 1;
                    return Ok(());
                }
            }
        }
        Err(Error::Ptx {
            what: format!("a `{open}` without its `{close}`"),
        })
    }

    /// Takes an identifier.
    fn name(&mut self) -> Result<&'a str, Error> {
        self.peek()?;
        let rest = &self.code[self.at..];
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || "_$%".contains(c)))
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(Error::Ptx {
                what: "a function without a name".to_owned(),
            });
        }
        self.at += length;
        Ok(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 7.0
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
// .entry commented(
.global .align 4 .b8 entry_table[4] = {1, 2, 3, 4};
.visible .entry none()
{
	ret; // }
}
.func  (.param .b32 r) helper(.param .b32 p) { { trap; } }
.visible .entry two(
	.param .u32 two_param_0,
	.param .u64 .ptr .align 1 two_param_1
)
{
	/* { */ { .reg .b32 t; mov.b32 t, 0; }
}
";

    #[test]
    fn functions_are_found_between_comments_and_nested_braces() {
        let code = without_comments(PTX);
        assert_eq!(code.len(), PTX.len());
        let found = functions(&code).unwrap();
        let seen: Vec<_> = found.iter().map(|f| (f.name, f.is_kernel, f.body.is_some())).collect();
        assert_eq!(
            seen,
            [
                ("vprintf", false, false),
                ("none", true, true),
                ("helper", false, true),
                ("two", true, true)
            ]
        );
        assert!(PTX[..found[1].after_parameters].ends_with("none()"));
        assert!(PTX[..found[3].after_parameters].ends_with("two_param_1\n)"));
        assert!(PTX[found[3].body.clone().unwrap()].contains("mov.b32 t, 0; }"));
        assert!(!PTX[found[1].body.clone().unwrap()].contains("helper"));
    }

    #[test]
    fn text_that_ends_early_is_refused() {
        for (cut, said) in [
            ("mov.b32", "a `{` without its `}`"),
            ("two_param_0", "a `(` without its `)`"),
            ("two(", "the text ends within a function"),
        ] {
            let code = without_comments(&PTX[..PTX.find(cut).unwrap()]);
            let message = functions(&code).unwrap_err().to_string();
            assert!(message.contains(said), "{cut}: {message}");
        }
    }
}
