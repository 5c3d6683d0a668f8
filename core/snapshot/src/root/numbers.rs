//! The numbers that sheets ever had, as they are stored.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::SnapshotError;
use crate::cbor::{self, Kind};
use crate::index::{Kept, ensure};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer};
use cellar_base::limits::MAX_SHEET_NUMBER_RUNS;
use cellar_sheet::metadata::SheetNumbers;

/// The numbers that sheets ever had, in the encoding of roots and chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredSheetNumbers(pub SheetNumbers);

impl StoredSheetNumbers {
    /// Reads a chunk, unpacked; total.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let numbers: Self = cbor::decode(Kind::SheetNumbers, bytes)?;
        numbers.check()?;
        Ok(numbers)
    }

    pub(super) fn check(&self) -> Result<(), SnapshotError> {
        ensure(self.0.runs().len() <= MAX_SHEET_NUMBER_RUNS, "sheets had too many numbers")
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
        // The greatest number is never given.
        cbor::decode_spans(decoder, u32::MAX).map(|runs| Self(SheetNumbers::from_runs(runs)))
    }
}

/// Packs the numbers that sheets ever had, and the chunk to write before the root, if any.
///
/// # Errors
/// [`SnapshotError`] for more than `MAX_SHEET_NUMBER_RUNS` runs.
pub fn pack_sheet_numbers(
    numbers: SheetNumbers,
    limits: PackLimits,
) -> Result<(Kept<StoredSheetNumbers>, Option<PackedObject>), SnapshotError> {
    let numbers = StoredSheetNumbers(numbers);
    numbers.check()?;
    let mut packer = Packer::new(limits);
    let kept = match packer.stays(&numbers) {
        true => Kept::Inline(numbers),
        false => Kept::Chunk(packer.chunk(Kind::SheetNumbers, &numbers)?),
    };
    Ok((kept, packer.into_objects().pop()))
}
