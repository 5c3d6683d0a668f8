//! The numbers that sheets ever had, as they are stored.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::limits::MAX_SHEET_NUMBER_RUNS;
use crate::snapshot::SnapshotError;
use crate::snapshot::cbor::{self, Kind};
use crate::snapshot::index::{Kept, ensure};
use crate::snapshot::packed::PackedObject;
use crate::snapshot::packer::{PackLimits, Packer};
use crate::workbook::SheetNumbers;

impl SheetNumbers {
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
        ensure(self.runs().len() <= MAX_SHEET_NUMBER_RUNS, "sheets had too many numbers")
    }
}

impl<Ctx> Encode<Ctx> for SheetNumbers {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        cbor::encode_spans(self.runs(), encoder)
    }
}

impl<'b, Ctx> Decode<'b, Ctx> for SheetNumbers {
    fn decode(decoder: &mut Decoder<'b>, _: &mut Ctx) -> Result<Self, DecodeError> {
        // The greatest number is never given.
        cbor::decode_spans(decoder, u32::MAX).map(Self::from_runs)
    }
}

/// Packs the numbers that sheets ever had, and the chunk to write before the root, if any.
///
/// # Errors
/// [`SnapshotError`] for more than `MAX_SHEET_NUMBER_RUNS` runs.
pub fn pack_sheet_numbers(
    numbers: SheetNumbers,
    limits: PackLimits,
) -> Result<(Kept<SheetNumbers>, Option<PackedObject>), SnapshotError> {
    numbers.check()?;
    let mut packer = Packer::new(limits);
    let kept = match packer.stays(&numbers) {
        true => Kept::Inline(numbers),
        false => Kept::Chunk(packer.chunk(Kind::SheetNumbers, &numbers)?),
    };
    Ok((kept, packer.into_objects().pop()))
}
