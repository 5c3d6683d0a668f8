//! zstd frames. Compression contexts are reused, because creating one takes longer than compressing
//! a small object.

use std::cell::RefCell;

use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective, compress_bound,
    find_frame_compressed_size, get_frame_content_size,
};

/// Columns are packed first, so a higher level gains almost nothing: level 3 saves 0.3 % of the
/// bytes for a sixth of a snapshot's time.
pub const COMPRESSION_LEVEL: i32 = 1;

thread_local! {
    // Working memory only: the output does not depend on earlier calls.
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// The compressor failed; it does not if there is enough memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressorFault;

impl From<usize> for CompressorFault {
    fn from(_: usize) -> Self {
        Self
    }
}

/// Compresses the parts into one frame that declares its content size. A block ends after each
/// part; there is at least one part.
pub fn compress(parts: &[&[u8]]) -> Result<Vec<u8>, CompressorFault> {
    /// Overhead of a block.
    const BLOCK_BYTES: usize = 16;
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    let room = compress_bound(bytes).saturating_add(parts.len().saturating_mul(BLOCK_BYTES));
    let mut stored = Vec::with_capacity(room);
    COMPRESSOR.with_borrow_mut(|context| {
        context.reset(ResetDirective::SessionAndParameters)?;
        context.set_parameter(CParameter::CompressionLevel(COMPRESSION_LEVEL))?;
        context.set_pledged_src_size(u64::try_from(bytes).ok())?;
        let (last, others) = parts.split_last().ok_or(CompressorFault)?;
        for part in others {
            add(context, &mut stored, part, ZSTD_EndDirective::ZSTD_e_flush)?;
        }
        add(context, &mut stored, last, ZSTD_EndDirective::ZSTD_e_end)
    })?;
    // Most of the capacity was for incompressible content.
    stored.shrink_to_fit();
    Ok(stored)
}

fn add(
    context: &mut CCtx<'_>,
    stored: &mut Vec<u8>,
    part: &[u8],
    end: ZSTD_EndDirective,
) -> Result<(), CompressorFault> {
    const MORE_BYTES: usize = 4_096;
    let mut input = InBuffer::around(part);
    loop {
        let at = stored.len();
        let mut output = OutBuffer::around_pos(stored, at);
        let left = context.compress_stream2(&mut output, &mut input, end)?;
        if left == 0 {
            return Ok(());
        }
        stored.reserve(left.max(MORE_BYTES));
    }
}

/// Returns the content size that a frame declares, if it does.
pub fn declared_bytes(stored: &[u8]) -> Option<usize> {
    let declared = get_frame_content_size(stored).ok().flatten()?;
    Some(usize::try_from(declared).unwrap_or(usize::MAX))
}

/// Decompresses a single frame that declares its content size, of at most `max_bytes`; `None` for
/// anything else.
pub fn decompress(stored: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    /// Magic number of a frame with content; skippable frames have others.
    const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let one_frame =
        stored.starts_with(&FRAME_MAGIC) && find_frame_compressed_size(stored) == Ok(stored.len());
    let length = declared_bytes(stored).filter(|_| one_frame)?;
    if length > max_bytes {
        return None;
    }
    let mut bytes = Vec::with_capacity(length);
    DECOMPRESSOR.with_borrow_mut(|context| context.decompress(&mut bytes, stored)).ok()?;
    (bytes.len() == length).then_some(bytes)
}
