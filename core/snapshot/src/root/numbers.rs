//! Set of all sheet ids that were ever used in a workbook, as stored in roots and chunks.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::cbor::{self, Body, Kind};
use crate::error::SnapshotError;
use crate::index::{InlineOrChunk, ensure};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer};
use cellar_base::limits::MAX_SHEET_NUMBER_RUNS;
use cellar_sheet::metadata::SheetNumbers;

/// All sheet ids that were ever used in a workbook, in their stored encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredSheetNumbers(pub SheetNumbers);

impl Body for StoredSheetNumbers {}

impl StoredSheetNumbers {
    /// Decodes an uncompressed chunk. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the chunk is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let numbers: Self = cbor::decode(Kind::SheetNumbers, bytes)?;
        numbers.check()?;
        Ok(numbers)
    }

    pub(super) fn check(&self) -> Result<(), SnapshotError> {
        ensure(
            self.0.runs().len() <= MAX_SHEET_NUMBER_RUNS,
            "the set of used sheet ids has too many runs",
        )
    }
}

impl<Ctx> Encode<Ctx> for StoredSheetNumbers {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        cbor::encode_spans(self.0.runs(), encoder)
    }
}

impl<'b, Ctx> Decode<'b, Ctx> for StoredSheetNumbers {
    fn decode(decoder: &mut Decoder<'b>, _: &mut Ctx) -> Result<Self, DecodeError> {
        // The largest number is reserved, so no sheet has it as its id.
        cbor::decode_spans(decoder, u32::MAX).map(|runs| Self(SheetNumbers::from_runs(runs)))
    }
}

/// Packs the used sheet ids. Returns the part to store in the root, and the chunk to store before
/// the root, if one is needed.
///
/// # Errors
/// Returns a [`SnapshotError`] if the ids have more than `MAX_SHEET_NUMBER_RUNS` runs.
pub fn pack_sheet_numbers(
    numbers: SheetNumbers,
    limits: PackLimits,
) -> Result<(InlineOrChunk<StoredSheetNumbers>, Option<PackedObject>), SnapshotError> {
    let stored_numbers = StoredSheetNumbers(numbers);
    stored_numbers.check()?;
    let mut packer = Packer::new(limits);
    if packer.reserve_inline(&stored_numbers) {
        return Ok((InlineOrChunk::Inline(stored_numbers), None));
    }
    let chunk = packer.pack_chunk(Kind::SheetNumbers, &stored_numbers)?;
    Ok((InlineOrChunk::Chunk(chunk), packer.into_objects().pop()))
}
