//! Checks of the pieces of an imported file.

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_ROWS, MAX_TILE_CELLS};
use cellar_exchange::{Block, BlockSize, Import, ImportStep};
use cellar_snapshot::tile::TileValue;

/// Maximum pulls without a piece; more count as an endless loop.
const MAX_IDLE_PULLS: usize = 1_000_000;
/// Maximum cells that are read and compared, because a few bytes may repeat a cell a million times.
const MAX_COMPARED: usize = 20_000;

/// The smallest possible blocks.
pub(super) const SMALL: BlockSize = BlockSize { rows: 2, cells: 3 };

/// The sheets and the first cells of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    sheets: Vec<String>,
    cells: Vec<String>,
    /// Whether more cells exist that were not read.
    is_truncated: bool,
}

/// Returns whether a file is readable; asserts that the contents do not depend on the block size.
pub(super) fn compare_reads(large: Option<Contents>, small: Option<Contents>) -> bool {
    let is_read = large.is_some();
    // The error of an unreadable file may come after the limit of compared cells in one of the two
    // reads.
    if ![&large, &small].into_iter().flatten().any(|contents| contents.is_truncated) {
        assert_eq!(large, small);
    } else if let (Some(large), Some(small)) = (large, small) {
        assert_eq!(large.cells, small.cells);
    }
    is_read
}

/// Reads a file up to the limit of compared cells; returns `None` if the file is refused before.
pub(super) fn read_first(import: impl Import) -> Option<Contents> {
    read(import, MAX_COMPARED)
}

/// Reads a whole file; returns `None` if it is refused.
pub(super) fn read_all(import: impl Import) -> Option<Contents> {
    read(import, usize::MAX)
}

fn read(mut import: impl Import, max_cells: usize) -> Option<Contents> {
    let (mut contents, mut end, mut idle_pulls) = (Contents::default(), 0, 0);
    let mut restarted = false;
    loop {
        let progress = import.progress();
        assert!(progress.done <= progress.total, "{progress:?}");
        match import.next_step().ok()? {
            None => return Some(contents),
            Some(ImportStep::Working) => idle_pulls += 1,
            Some(ImportStep::Sheet(start)) => {
                end = 0;
                contents.sheets.push(format!("{start:?}"));
            }
            Some(ImportStep::Block(block)) => {
                let first = block.tile.first_row().unwrap_or(end);
                assert!(first >= end, "a block overlaps the previous one");
                end = block.tile.end();
                assert_block(&block);
                let left = max_cells - contents.cells.len();
                contents.cells.extend(block.cells().take(left).map(|cell| format!("{cell:?}")));
                if contents.cells.len() == max_cells {
                    contents.is_truncated = true;
                    return Some(contents);
                }
            }
            Some(ImportStep::Restart) => {
                assert!(
                    !std::mem::replace(&mut restarted, true),
                    "an import restarts at most once"
                );
                end = 0;
                contents.cells.clear();
            }
        }
        assert!(idle_pulls < MAX_IDLE_PULLS, "the import does not end");
    }
}

fn assert_block(block: &Block) {
    assert!(block.tile.is_valid(), "{block:?}");
    assert!(block.tile.end() <= MAX_ROWS);
    for column in &block.tile.columns {
        assert!(column.index < MAX_IMPORT_COLUMNS);
        let long = column.values.values().iter().filter_map(|value| match value {
            TileValue::LongText(number) => column.values.long_text(*number),
            _ => None,
        });
        for text in long {
            assert!(
                block.long_texts.iter().any(|body| body.hash == text.hash),
                "a text is missing"
            );
        }
    }
    // A block ends with the row in which it becomes full.
    assert!(block.tile.cell_count() < MAX_TILE_CELLS + MAX_IMPORT_COLUMNS as usize);
}
