//! Random spans for tests.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Span, Spans};

/// Exclusive upper bound of random row and column indices. It is small, so that concurrent edits
/// are likely to conflict.
pub const SIDE: u32 = 12;

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
