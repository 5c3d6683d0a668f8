//! Divides the columns of a merged level into stripes, which are ranges of columns whose cells
//! share tiles.

use std::collections::BTreeMap;

use crate::saturate::to_u64;
use cellar_base::limits::{MAX_COLUMNS, MIN_STRIPE_COLUMNS, TARGET_CHUNK_BYTES};
use cellar_sheet::operation::Span;

/// Estimated number of a sheet's stored bytes in each group of `MIN_STRIPE_COLUMNS` columns.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnWeights {
    bytes_by_group: BTreeMap<u32, u64>,
}

impl ColumnWeights {
    /// Adds stored bytes of a sheet, distributed evenly across the given columns.
    pub(super) fn add(&mut self, columns: Span, bytes: u64) {
        let first_group = group_index(columns.first);
        let last_group = group_index(columns.end().saturating_sub(1));
        let group_count = u64::from(last_group.saturating_sub(first_group)) + 1;
        // Count at least one byte per group, so that every group with cells becomes part of a
        // stripe.
        let bytes_per_group = (bytes / group_count).max(1);
        for group in first_group..=last_group {
            let group_bytes = self.bytes_by_group.entry(group).or_default();
            *group_bytes = group_bytes.saturating_add(bytes_per_group);
        }
    }

    /// Returns the stripes from left to right. Empty columns are not part of any stripe.
    ///
    /// Each stripe is as wide as possible, but its width must be a power of two and at most
    /// `max_columns`, and its cells must fit into one tile. A stripe of the minimum width may have
    /// more cells.
    pub(super) fn divide_into_stripes(&self, max_columns: u32) -> Vec<Span> {
        let mut stripes = Vec::new();
        let all_columns = Span { first: 0, count: MAX_COLUMNS };
        self.push_stripes(all_columns, max_columns, &mut stripes);
        stripes
    }

    /// Appends `columns` as a single stripe if they fit. Otherwise, splits them in half and appends
    /// both halves.
    fn push_stripes(&self, columns: Span, max_columns: u32, stripes: &mut Vec<Span>) {
        let column_bytes = self.bytes_of(columns);
        if column_bytes == 0 {
            return;
        }
        let fits_one_tile = column_bytes <= to_u64(TARGET_CHUNK_BYTES);
        let is_narrowest = columns.count <= MIN_STRIPE_COLUMNS;
        if is_narrowest || (fits_one_tile && columns.count <= max_columns) {
            stripes.push(columns);
            return;
        }
        let half_count = columns.count / 2;
        let left_half = Span { first: columns.first, count: half_count };
        let right_half = Span { first: columns.first + half_count, count: half_count };
        self.push_stripes(left_half, max_columns, stripes);
        self.push_stripes(right_half, max_columns, stripes);
    }

    fn bytes_of(&self, columns: Span) -> u64 {
        let groups = group_index(columns.first)..group_index(columns.end());
        let group_bytes = self.bytes_by_group.range(groups).map(|(_, bytes)| *bytes);
        group_bytes.fold(0, u64::saturating_add)
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
            let spans = weights.divide_into_stripes(most);
            spans.iter().map(|span| (span.first, span.count)).collect::<Vec<_>>()
        };
        let stripes = |parts: &[(u32, u32, u64)]| within(MAX_STRIPE_COLUMNS, parts);
        assert_eq!(stripes(&[]), []);
        assert_eq!(within(128, &[(0, 300, 3)]), [(0, 128), (128, 128), (256, 128)]);
        assert_eq!(stripes(&[(0, 10, target)]), [(0, 1 << 16)]);
        assert_eq!(stripes(&[(0, 10, target + 1)]), [(0, 128)]);
        // Two groups of 128 columns each fit into one tile.
        let some = [(0, 129, 2 * target), (256, 128, target / 2), (384, 128, target / 2)];
        assert_eq!(stripes(&some), [(0, 128), (128, 128), (256, 256)]);
        assert_eq!(stripes(&[(0, 256, 4 * target)]), [(0, 128), (128, 128)]);
        let far = [(0, 1, target), (MAX_COLUMNS - 1, 1, target)];
        let wide = 1 << 16;
        assert_eq!(stripes(&far), [(0, wide), (MAX_COLUMNS - wide, wide)]);
    }
}
