//! Compression and decompression of zstd frames.

use std::cell::RefCell;

use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective, compress_bound,
    find_frame_compressed_size, get_frame_content_size,
};

/// The zstd compression level. Higher levels gain almost nothing because columns are already
/// encoded compactly. Level 3 would reduce the size by 0.3 %, but compression would take a sixth of
/// the time of a snapshot.
pub const COMPRESSION_LEVEL: i32 = 1;

thread_local! {
    // Reusable compression contexts. Creating a context takes longer than compressing a small
    // object.
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// The compressor failed, for example because there was not enough memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressorFault;

impl From<usize> for CompressorFault {
    fn from(_: usize) -> Self {
        Self
    }
}

/// Compresses the concatenation of the parts into a single frame that declares its content size.
/// Each part starts a new block.
pub fn compress(parts: &[&[u8]]) -> Result<Vec<u8>, CompressorFault> {
    /// Maximum overhead per block, in bytes.
    const BLOCK_OVERHEAD_BYTES: usize = 16;
    let content_bytes: usize = parts.iter().map(|part| part.len()).sum();
    let capacity = compress_bound(content_bytes)
        .saturating_add(parts.len().saturating_mul(BLOCK_OVERHEAD_BYTES));
    let mut compressed = Vec::with_capacity(capacity);
    COMPRESSOR.with_borrow_mut(|context| {
        context.reset(ResetDirective::SessionAndParameters)?;
        context.set_parameter(CParameter::CompressionLevel(COMPRESSION_LEVEL))?;
        context.set_pledged_src_size(u64::try_from(content_bytes).ok())?;
        let (last_part, earlier_parts) = parts.split_last().ok_or(CompressorFault)?;
        for part in earlier_parts {
            append_compressed(&mut compressed, part, context, ZSTD_EndDirective::ZSTD_e_flush)?;
        }
        append_compressed(&mut compressed, last_part, context, ZSTD_EndDirective::ZSTD_e_end)
    })?;
    // Incompressible content also fits into this capacity.
    compressed.shrink_to_fit();
    Ok(compressed)
}

/// `end_directive` determines whether the block or the frame ends after the part.
fn append_compressed(
    compressed: &mut Vec<u8>,
    part: &[u8],
    context: &mut CCtx<'_>,
    end_directive: ZSTD_EndDirective,
) -> Result<(), CompressorFault> {
    const MIN_GROWTH_BYTES: usize = 4_096;
    let mut input = InBuffer::around(part);
    loop {
        let end_of_compressed = compressed.len();
        let mut output = OutBuffer::around_pos(compressed, end_of_compressed);
        let pending_bytes = context.compress_stream2(&mut output, &mut input, end_directive)?;
        if pending_bytes == 0 {
            return Ok(());
        }
        compressed.reserve(pending_bytes.max(MIN_GROWTH_BYTES));
    }
}

/// Returns the content size declared by a frame, or `None` if it declares none.
pub fn declared_bytes(frame: &[u8]) -> Option<usize> {
    let declared = get_frame_content_size(frame).ok().flatten()?;
    Some(usize::try_from(declared).unwrap_or(usize::MAX))
}

/// Decompresses a single frame that declares its content size. Returns `None` for any other input,
/// or if the content exceeds `max_bytes`.
pub fn decompress(frame: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    /// The magic number of a data frame. Skippable frames have a different magic number.
    const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let is_single_frame =
        frame.starts_with(&FRAME_MAGIC) && find_frame_compressed_size(frame) == Ok(frame.len());
    if !is_single_frame {
        return None;
    }
    let content_bytes = declared_bytes(frame)?;
    if content_bytes > max_bytes {
        return None;
    }
    let mut content = Vec::with_capacity(content_bytes);
    DECOMPRESSOR.with_borrow_mut(|context| context.decompress(&mut content, frame)).ok()?;
    if content.len() == content_bytes { Some(content) } else { None }
}
