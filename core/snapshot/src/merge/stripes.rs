//! Divides the columns of a merged level into stripes (column ranges whose cells share tiles).

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_COLUMNS, MIN_STRIPE_COLUMNS, TARGET_CHUNK_BYTES};
use cellar_sheet::operation::Span;

/// Estimated stored bytes of a sheet for each group of `MIN_STRIPE_COLUMNS` columns.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnWeights {
    /// Bytes by group index.
    groups: BTreeMap<u32, u64>,
}

impl ColumnWeights {
    /// Adds bytes, spread evenly across the columns.
    pub(super) fn add(&mut self, columns: Span, bytes: u64) {
        let first = group_index(columns.first);
        let last = group_index(columns.end().saturating_sub(1));
        let group_count = u64::from(last.saturating_sub(first)).saturating_add(1);
        // Count at least one byte, so that every group with cells is part of a stripe.
        let bytes_per_group = (bytes / group_count).max(1);
        for group in first..=last {
            let weight = self.groups.entry(group).or_default();
            *weight = weight.saturating_add(bytes_per_group);
        }
    }

    /// Returns the stripes from left to right. Widths are powers of two. Each stripe is as wide as
    /// possible, limited to `max_columns` and to columns whose cells fit into one tile. Empty
    /// columns are not part of any stripe.
    pub(super) fn stripes(&self, max_columns: u32) -> Vec<Span> {
        let mut stripes = Vec::new();
        self.push_stripes(Span { first: 0, count: MAX_COLUMNS }, max_columns, &mut stripes);
        stripes
    }

    /// Appends `columns` as a single stripe, or splits them in half if they do not fit.
    fn push_stripes(&self, columns: Span, max_columns: u32, stripes: &mut Vec<Span>) {
        let bytes = self.bytes(columns);
        if bytes == 0 {
            return;
        }
        let fits_one_tile = bytes <= u64::try_from(TARGET_CHUNK_BYTES).unwrap_or(u64::MAX);
        if (fits_one_tile && columns.count <= max_columns) || columns.count <= MIN_STRIPE_COLUMNS {
            stripes.push(columns);
            return;
        }
        let half = columns.count / 2;
        let middle = columns.first.saturating_add(half);
        self.push_stripes(Span { count: half, ..columns }, max_columns, stripes);
        self.push_stripes(Span { first: middle, count: half }, max_columns, stripes);
    }

    fn bytes(&self, columns: Span) -> u64 {
        let groups = self.groups.range(group_index(columns.first)..group_index(columns.end()));
        groups.map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
    }
}

fn group_index(column: u32) -> u32 {
    column / MIN_STRIPE_COLUMNS
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::MAX_STRIPE_COLUMNS;

    #[test]
    fn sparse_columns_share_a_wide_stripe_and_dense_columns_get_narrow_stripes() {
        let target = u64::try_from(TARGET_CHUNK_BYTES).unwrap();
        let within = |most: u32, parts: &[(u32, u32, u64)]| {
            let mut weights = ColumnWeights::default();
            for (first, count, bytes) in parts {
                weights.add(Span { first: *first, count: *count }, *bytes);
            }
            let spans = weights.stripes(most);
            spans.iter().map(|span| (span.first, span.count)).collect::<Vec<_>>()
        };
        let stripes = |parts: &[(u32, u32, u64)]| within(MAX_STRIPE_COLUMNS, parts);
        assert_eq!(stripes(&[]), []);
        assert_eq!(within(128, &[(0, 300, 3)]), [(0, 128), (128, 128), (256, 128)]);
        assert_eq!(stripes(&[(0, 10, target)]), [(0, 1 << 16)]);
        assert_eq!(stripes(&[(0, 10, target + 1)]), [(0, 128)]);
        // Two groups of 128 columns fit into one tile.
        let some = [(0, 129, 2 * target), (256, 128, target / 2), (384, 128, target / 2)];
        assert_eq!(stripes(&some), [(0, 128), (128, 128), (256, 256)]);
        assert_eq!(stripes(&[(0, 256, 4 * target)]), [(0, 128), (128, 128)]);
        let far = [(0, 1, target), (MAX_COLUMNS - 1, 1, target)];
        let wide = 1 << 16;
        assert_eq!(stripes(&far), [(0, wide), (MAX_COLUMNS - wide, wide)]);
    }
}
