//! Into which stripes the columns of a new level are divided.

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_COLUMNS, MIN_STRIPE_COLUMNS, TARGET_CHUNK_BYTES};
use cellar_sheet::operation::Span;

/// How many bytes the columns of a sheet have: by groups of `MIN_STRIPE_COLUMNS`.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnWeights {
    groups: BTreeMap<u32, u64>,
}

impl ColumnWeights {
    /// Adds bytes that are spread evenly over columns.
    pub(super) fn add(&mut self, columns: Span, bytes: u64) {
        let (first, last) = (group(columns.first), group(columns.end().saturating_sub(1)));
        let groups = u64::from(last.saturating_sub(first)).saturating_add(1);
        // At least one, so that no column is left out.
        let each = (bytes / groups).max(1);
        for group in first..=last {
            let weight = self.groups.entry(group).or_default();
            *weight = weight.saturating_add(each);
        }
    }

    /// Stripes of a power of two of columns, at most so many, as wide as possible while a stripe is one
    /// tile; none where there is nothing.
    pub(super) fn stripes(&self, most: u32) -> Vec<Span> {
        let mut stripes = Vec::new();
        self.divide(Span { first: 0, count: MAX_COLUMNS }, most, &mut stripes);
        stripes
    }

    fn divide(&self, columns: Span, most: u32, stripes: &mut Vec<Span>) {
        let bytes = self.bytes(columns);
        if bytes == 0 {
            return;
        }
        let one_tile =
            columns.count <= most && bytes <= u64::try_from(TARGET_CHUNK_BYTES).unwrap_or(u64::MAX);
        if one_tile || columns.count <= MIN_STRIPE_COLUMNS {
            stripes.push(columns);
            return;
        }
        let half = columns.count / 2;
        self.divide(Span { count: half, ..columns }, most, stripes);
        self.divide(Span { first: columns.first.saturating_add(half), count: half }, most, stripes);
    }

    fn bytes(&self, columns: Span) -> u64 {
        let groups = self.groups.range(group(columns.first)..group(columns.end()));
        groups.map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
    }
}

fn group(column: u32) -> u32 {
    column / MIN_STRIPE_COLUMNS
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::MAX_STRIPE_COLUMNS;

    #[test]
    fn what_fits_one_tile_is_one_stripe_and_dense_columns_have_narrow_ones() {
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
        // Two of 128 columns fit one tile together.
        let some = [(0, 129, 2 * target), (256, 128, target / 2), (384, 128, target / 2)];
        assert_eq!(stripes(&some), [(0, 128), (128, 128), (256, 256)]);
        assert_eq!(stripes(&[(0, 256, 4 * target)]), [(0, 128), (128, 128)]);
        // Far apart.
        let far = [(0, 1, target), (MAX_COLUMNS - 1, 1, target)];
        let wide = 1 << 16;
        assert_eq!(stripes(&far), [(0, wide), (MAX_COLUMNS - wide, wide)]);
    }
}
