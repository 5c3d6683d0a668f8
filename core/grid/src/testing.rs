//! Random values for tests.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Span, Spans};

/// Exclusive upper bound of random row and column indices. It is small, so that concurrent edits
/// are likely to conflict.
pub const SIDE: u32 = 12;

/// Returns the number of random cases of a test: that of the environment variable `RANDOM_CASES`, or
/// `default`.
///
/// # Panics
///
/// Panics if the variable is not a number.
#[allow(clippy::panic, reason = "a wrong variable must not shorten a test without notice")]
#[must_use]
pub fn random_cases(default: u32) -> u32 {
    let Ok(requested) = std::env::var("RANDOM_CASES") else { return default };
    requested.parse().unwrap_or_else(|error| panic!("RANDOM_CASES is {requested:?}: {error}"))
}

/// Generates one or two spans near the start of an axis.
pub fn any_spans() -> impl Strategy<Value = Spans> {
    let spans = vec((0..SIDE, 1..4_u32), 1..3).prop_map(|list| {
        let mut spans: Vec<_> =
            list.into_iter().map(|(first, count)| Span { first, count }).collect();
        spans.sort_by_key(|span| span.first);
        Spans::from_sorted(spans)
    });
    spans.boxed()
}
