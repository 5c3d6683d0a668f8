//! The numbers that sheets ever had.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::limits::MAX_SHEET_NUMBER_RUNS;
use crate::operation::{SheetId, Spans};
use crate::snapshot::SnapshotError;
use crate::snapshot::cbor::{self, Kind};
use crate::snapshot::index::{Kept, ensure};
use crate::snapshot::packed::PackedObject;
use crate::snapshot::packer::{PackLimits, Packer};

/// Numbers of sheets, as runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetNumbers(Spans);

impl SheetNumbers {
    /// These numbers, ascending.
    #[must_use]
    pub fn of(sheets: impl IntoIterator<Item = SheetId>) -> Self {
        Self(Spans::of(sheets.into_iter().map(|sheet| sheet.0)))
    }

    /// Whether a sheet had this number.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.0.contains(sheet.0)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = SheetId> + '_ {
        self.0.iter().flat_map(|run| run.first..run.end()).map(SheetId)
    }

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
        ensure(self.0.len() <= MAX_SHEET_NUMBER_RUNS, "sheets had too many numbers")
    }
}

impl<Ctx> Encode<Ctx> for SheetNumbers {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        cbor::encode_spans(&self.0, encoder)
    }
}

impl<'b, Ctx> Decode<'b, Ctx> for SheetNumbers {
    fn decode(decoder: &mut Decoder<'b>, _: &mut Ctx) -> Result<Self, DecodeError> {
        // The greatest number is never given.
        cbor::decode_spans(decoder, u32::MAX).map(Self)
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
