//! References to chunks.

use minicbor::{Decode, Encode};

/// Name of a chunk, which is the BLAKE3 hash of its uncompressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct ChunkHash(#[cbor(n(0), with = "minicbor::bytes")] pub [u8; 32]);

/// Reference to a chunk by its name and stored length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(array)]
pub struct ChunkRef {
    /// Name of the chunk.
    #[n(0)]
    pub hash: ChunkHash,
    /// Stored (compressed) length in bytes.
    #[n(1)]
    pub bytes: u32,
}
