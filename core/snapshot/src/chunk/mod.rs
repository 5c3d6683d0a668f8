//! Chunk format: the stored form of a tile, which is a block of cells. Each part of a column is
//! stored in the encoding with the smallest estimated compressed size.
//! `docs/reference/chunk-format.md` specifies the format byte by byte.

mod bit_packing;
mod blocks;
mod byte_planes;
mod bytes;
mod code_table;
mod column;
mod error;
mod estimate;
mod format_dictionary;
mod header;
mod integers;
mod kinds;
mod numbers;
mod packed;
mod presence;
#[cfg(test)]
mod tests;
mod texts;
mod tile;
mod total;
mod values;

use header::NEWEST_VERSION;

pub use error::{UnencodableTile, UnreadableChunk};
pub use packed::chunk_of;
pub use tile::{decode, encode};
pub use total::is_read_or_refused;
