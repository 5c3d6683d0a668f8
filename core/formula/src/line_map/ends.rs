//! Overrides the new range bounds of deleted rows or columns.

use cellar_grid::Span;

use super::DeletedLines;
use super::compose::joined;

/// Returns a copy of `deleted` in which lines that `ends` also contains have the `start` and `end`
/// of `ends`. Both lists must be in ascending order.
pub(super) fn replace_ends(deleted: &[DeletedLines], ends: &[DeletedLines]) -> Vec<DeletedLines> {
    let mut replaced = Vec::with_capacity(deleted.len() + ends.len());
    let mut next_ends = ends;
    for lines in deleted {
        let mut first = lines.span.first;
        let first_relevant = next_ends.partition_point(|other| other.span.end() <= first);
        next_ends = next_ends.get(first_relevant..).unwrap_or_default();
        for other in next_ends {
            let Some(common) = other.span.intersection(lines.span) else { break };
            push_span(&mut replaced, *lines, first, common.first);
            replaced.push(DeletedLines { span: common, ..*other });
            first = common.end();
        }
        push_span(&mut replaced, *lines, first, lines.span.end());
    }
    joined(replaced)
}

fn push_span(list: &mut Vec<DeletedLines>, lines: DeletedLines, first: u32, end: u32) {
    if let Some(count) = end.checked_sub(first).filter(|count| *count > 0) {
        list.push(DeletedLines { span: Span { first, count }, ..lines });
    }
}
