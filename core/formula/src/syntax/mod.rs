//! Syntax of formulas.
//!
//! The tokenizer splits a formula into tokens and parses references. The grammar check then
//! verifies the order of the tokens. Both run in linear time and without recursion.

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
