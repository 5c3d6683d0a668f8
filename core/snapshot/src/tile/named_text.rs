//! References from tiles to long texts, which are stored as separate objects.

use std::collections::BTreeSet;

use super::{Tile, TileColumn};
use crate::error::SnapshotError;
use crate::level::ChunkHash;
use cellar_base::limits::MAX_TILE_TEXT_BYTES;

/// A tile's reference to a long text. References are sorted by object name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedText {
    /// Name of the object, which is the BLAKE3 hash of the text.
    pub hash: ChunkHash,
    /// Text length in bytes.
    pub bytes: u32,
    /// Preview of the text, as stored in the tile. It is the beginning of the text.
    pub preview: String,
}

/// Returns the preview of a long text, as stored in a tile. The preview consists of whole
/// characters and has at most `MAX_TILE_TEXT_BYTES`.
#[must_use]
pub fn preview(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TILE_TEXT_BYTES)).unwrap_or_default()
}

impl NamedText {
    /// Checks that the length and preview match the text. The caller must have checked the hash of
    /// the text.
    ///
    /// # Errors
    /// Returns [`SnapshotError::Shape`] if the length or the preview does not match.
    pub fn check(&self, text: &str) -> Result<(), SnapshotError> {
        if u32::try_from(text.len()) != Ok(self.bytes) {
            return Err(SnapshotError::Shape("a tile declares a wrong length for a long text"));
        }
        if preview(text) != self.preview {
            return Err(SnapshotError::Shape("the preview of a long text does not match the text"));
        }
        Ok(())
    }
}

impl Tile {
    /// Returns the tile's references to long texts, without duplicates.
    #[must_use]
    pub fn named_texts(&self) -> BTreeSet<NamedText> {
        self.columns.iter().flat_map(TileColumn::named_texts).collect()
    }
}

impl TileColumn {
    fn named_texts(&self) -> impl Iterator<Item = NamedText> + '_ {
        self.values.long_texts().iter().map(|long_text| NamedText {
            hash: ChunkHash(long_text.hash),
            bytes: long_text.byte_length,
            preview: long_text.preview.of(self.values.texts()).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::MAX_TEXT_BYTES;

    fn named(text: &str) -> NamedText {
        let hash = ChunkHash::of(text.as_bytes());
        let bytes = u32::try_from(text.len()).unwrap();
        NamedText { hash, bytes, preview: preview(text).to_owned() }
    }

    #[test]
    fn a_tile_lists_each_long_text_once() {
        let (one, two) = ("x".repeat(MAX_TEXT_BYTES), "ä".repeat(3_000));
        let column = |number: u32| {
            let mut column = TileColumn::new(number);
            column.values.push_text(0, "short");
            for (row, text) in (1..).zip([&one, &two, &one]) {
                let hash = ChunkHash::of(text.as_bytes()).0;
                let bytes = u32::try_from(text.len()).unwrap();
                column.values.push_long_text(row, preview(text), hash, bytes);
            }
            column
        };
        let tile = Tile { columns: vec![column(0), column(7)] };
        assert_eq!(tile.named_texts(), BTreeSet::from([named(&one), named(&two)]));
        assert!(Tile { columns: vec![TileColumn::new(0)] }.named_texts().is_empty());
    }

    #[test]
    fn a_text_must_have_the_declared_length_and_preview() {
        let text = "ä".repeat(3_000);
        let said = named(&text);
        assert_eq!(said.preview.len(), MAX_TILE_TEXT_BYTES);
        assert_eq!(said.check(&text), Ok(()));
        let shorter = said.preview.strip_suffix('ä').unwrap().to_owned();
        for wrong in [
            NamedText { bytes: said.bytes + 1, ..said.clone() },
            NamedText { bytes: said.bytes - 1, ..said.clone() },
            NamedText { preview: shorter, ..said.clone() },
            NamedText { preview: String::new(), ..said.clone() },
            NamedText { preview: "b".repeat(MAX_TILE_TEXT_BYTES), ..said },
        ] {
            assert!(matches!(wrong.check(&text), Err(SnapshotError::Shape(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_preview_ends_with_a_whole_character() {
        let text = format!("a{}", "ä".repeat(3_000));
        assert_eq!(preview(&text).len(), MAX_TILE_TEXT_BYTES - 1);
        assert_eq!(preview("short"), "short");
    }
}
