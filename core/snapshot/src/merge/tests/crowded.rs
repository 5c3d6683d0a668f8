//! Rows whose formulas are too large for a chunk.

use super::*;
use crate::chunk::chunk_of;
use crate::merge::MergeStep;
use crate::tile::TileColumn;
use cellar_base::limits::{
    MAX_CROWDED_TEMPLATE_BYTES, MAX_FORMULA_REFERENCES, MAX_TILE_TEXT_BYTES, MIN_STRIPE_COLUMNS,
};

/// Returns a row of the narrowest stripe with templates of the given length in each cell.
fn crowded(bytes: impl Fn(u32) -> usize) -> Tile {
    let column = |index: u32| {
        let mut column = TileColumn::new(index);
        // Random references, which no encoding shortens.
        let mut random = blake3::Hasher::new().update(&index.to_le_bytes()).finalize_xof();
        let mut next = || {
            let mut bytes = [0; 4];
            random.fill(&mut bytes);
            u32::from_le_bytes(bytes)
        };
        let mut template = "=1".to_owned();
        for _ in 0..MAX_FORMULA_REFERENCES {
            let (row, column) = (next() % MAX_ROWS, next() % MAX_COLUMNS);
            let (row_2, column_2) = (next() % MAX_ROWS, next() % MAX_COLUMNS);
            let range = format!("+\u{1}R{row}C{column}:R{row_2}C{column_2}\u{2}");
            if template.len() + range.len() <= bytes(index) {
                template.push_str(&range);
            }
        }
        template.push_str(&"1".repeat(bytes(index).saturating_sub(template.len())));
        let mut text = String::new();
        while text.len() < MAX_TILE_TEXT_BYTES {
            text.push(char::from(b' ' + u8::try_from(next() % 90).unwrap()));
        }
        column.values.push_text(0, &text);
        column.templates.push(0, &template);
        column
    };
    Tile { columns: (0..MIN_STRIPE_COLUMNS).map(column).collect() }
}

fn merged_row(tile: Tile, max_stripe_columns: u32) -> Option<Tile> {
    let sheet = FoldedSheet {
        sheet: SheetId::FIRST,
        moves: crate::level::SheetMoves::default(),
        tile: Arc::new(tile),
    };
    let input = SheetInput {
        sheet: SheetId::FIRST,
        older_levels: OlderLevels::AbsentWithoutRangeFormats,
        written_columns: MIN_STRIPE_COLUMNS,
        max_stripe_columns,
        levels: vec![LevelInput::from_folded(sheet, 0)],
        has_older_formulas: false,
        tabs: Arc::default(),
    };
    let mut merge = Merge::new(vec![input]);
    let mut stored = None;
    loop {
        match merge.step(&chunk_of).ok()? {
            MergeStep::Tile { chunk, .. } => stored = chunk,
            MergeStep::Load(_) => panic!("all cells are in memory"),
            MergeStep::Done(_) => break,
        }
    }
    let stored = stored.unwrap();
    let bounds = crate::packed::Bounds::CHUNK;
    let bytes = crate::packed::unpack(stored.chunk.hash, &stored.stored, bounds).unwrap();
    Some(crate::chunk::decode(&bytes).unwrap())
}

#[test]
fn the_longest_formulas_of_a_row_are_lost_only_if_it_does_not_fit_otherwise() {
    let fits = crowded(|_| MAX_CROWDED_TEMPLATE_BYTES);
    assert_eq!(merged_row(fits.clone(), MIN_STRIPE_COLUMNS), Some(fits));
    let few_long = crowded(|index| if index < 9 { 40_000 } else { 100 });
    assert_eq!(merged_row(few_long.clone(), MIN_STRIPE_COLUMNS), Some(few_long));
    let lengths = |index: u32| {
        MAX_CROWDED_TEMPLATE_BYTES + usize::from(index > 0) + if index > 1 { 28_000 } else { 0 }
    };
    let crowded = crowded(lengths);
    let merged = merged_row(crowded.clone(), MIN_STRIPE_COLUMNS).unwrap();
    assert_eq!(merged.columns[0], crowded.columns[0], "as long as allowed");
    for (column, original) in merged.columns.iter().zip(&crowded.columns).skip(1) {
        assert_eq!(column.templates.at(0), Some("=#REF!"));
        assert_eq!(column.values, original.values);
    }
    // A wider stripe is divided first.
    assert!(merged_row(crowded, 2 * MIN_STRIPE_COLUMNS).is_some());
}
