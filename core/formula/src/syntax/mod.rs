//! Syntax of formulas.
//!
//! `tokenize` splits a text into tokens and finds references. `check_grammar` then checks the
//! order of the tokens. Both take time in proportion to the length of the text and use no
//! recursion.

mod area;
mod error;
mod error_value;
mod grammar;
#[cfg(test)]
mod tests;
mod token;
mod tokenizer;
mod word;

pub use error::{SyntaxError, SyntaxProblem};
pub use token::{Token, TokenKind, Unsupported};

pub(crate) use area::area_at;
pub(crate) use error_value::error_value_at;
pub(crate) use grammar::check_grammar;
pub(crate) use tokenizer::tokenize;
pub(crate) use word::{quoted_bytes, word_bytes};
