//! Promises of formulas, which the fuzzers `formula` and `evaluation` check. Formulas are texts, so
//! their inputs are not in `tests/fuzz-corpus` but in `seeds`.

mod evaluation;
mod formula;

pub use evaluation::check_evaluation;
pub use formula::check_formula;
