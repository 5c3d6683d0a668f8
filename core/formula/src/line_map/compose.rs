//! Composition of line maps.

use cellar_grid::{Span, Spans};

use super::{DeletedLines, LineMap};

impl LineMap {
    /// Returns the composition of `self` followed by `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut deleted = self.deleted_before(next);
        deleted.extend(self.deleted_by(next));
        deleted.sort_unstable_by_key(|lines| lines.span.first);
        Self { axis: self.axis, kept: self.kept.then(&next.kept), deleted: joined(deleted) }
    }

    /// Returns the rows or columns that `self` deletes. Their `start` and `end` are indices after
    /// `next`.
    fn deleted_before(&self, next: &Self) -> Vec<DeletedLines> {
        let moved = self.deleted.iter().map(|lines| DeletedLines {
            start: next.start(lines.start),
            end: lines.end.checked_sub(1).map_or(0, |last| next.end(last)),
            ..*lines
        });
        moved.collect()
    }

    /// Returns the rows or columns that `self` keeps and `next` deletes, with their indices before
    /// `self`.
    fn deleted_by<'a>(&self, next: &'a Self) -> impl Iterator<Item = DeletedLines> + use<'a> {
        let to_older = self.kept.reversed();
        next.deleted.iter().flat_map(move |lines| {
            let Span { first, count } = lines.span;
            let older_spans = to_older.kept_spans(&Spans::one(first, count));
            let older_spans: Vec<Span> = older_spans.iter().collect();
            older_spans.into_iter().map(|span| DeletedLines { span, ..*lines })
        })
    }
}

/// Joins adjacent spans with the same `start` and `end`.
pub(super) fn joined(deleted: Vec<DeletedLines>) -> Vec<DeletedLines> {
    let mut joined: Vec<DeletedLines> = Vec::with_capacity(deleted.len());
    for lines in deleted {
        match joined.last_mut() {
            Some(last)
                if last.span.end() == lines.span.first
                    && (last.start, last.end) == (lines.start, lines.end) =>
            {
                last.span.count = last.span.count.saturating_add(lines.span.count);
            }
            _ => joined.push(lines),
        }
    }
    joined
}
