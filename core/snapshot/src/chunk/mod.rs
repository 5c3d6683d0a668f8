//! Chunks: what snapshots are stored in.
//!
//! A tile is written column by column, each part in whichever of a few ways will be smallest once it
//! is compressed. The format is written down byte by byte in `FORMAT.md`.

mod bit_packing;
mod blocks;
mod bytes;
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

use header::VERSION;

pub use error::{TileTooLarge, UnreadableChunk};
pub use packed::chunk_of;
pub use tile::{decode, encode};
pub use total::is_read_or_refused;
