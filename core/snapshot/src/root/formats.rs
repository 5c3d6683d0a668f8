//! Range formats of sheets, stored inline in the root or in chunks.

use minicbor::{Decode, Encode};

use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::index::{Lookup, ensure};
use crate::level::{ChunkHash, ChunkRef};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer, Weight};
use cellar_base::limits::{MAX_FORMAT_BYTES, MAX_RANGE_FORMATS, MAX_SPANS};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{FormatLayer, RangeFormat};
use cellar_sheet::operation::Spans;

/// Maximum CBOR overhead of a record list in bytes.
const LIST_BYTES: usize = 12;

/// Range formats of a sheet, as stored in a root.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum PackedFormats {
    /// Stored inside the root.
    #[n(0)]
    Inline(#[n(0)] FormatRecords),
    /// Stored in chunks, oldest records first.
    #[n(1)]
    Chunks(#[n(0)] Vec<ChunkRef>),
}

/// Format records of a sheet, oldest first: either all records or those of one chunk.
#[derive(Debug, Clone, PartialEq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct FormatRecords(
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_RANGE_FORMATS>")] Vec<StoredFormat>,
);

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(array)]
struct StoredFormat {
    #[cbor(n(0), with = "cbor::row_spans")]
    rows: Spans,
    #[cbor(n(1), with = "cbor::column_spans")]
    columns: Spans,
    #[n(2)]
    format: String,
}

impl FormatRecords {
    pub(super) fn of(layer: &FormatLayer) -> Self {
        let stored = |record: &RangeFormat| StoredFormat {
            rows: record.rows.clone(),
            columns: record.columns.clone(),
            format: record.format.clone(),
        };
        Self(layer.records().iter().map(stored).collect())
    }

    /// Decodes an uncompressed chunk. Accepts arbitrary input.
    ///
    /// # Errors
    /// [`SnapshotError`] if the chunk is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let records: Self = cbor::decode(Kind::Formats, bytes)?;
        records.check()?;
        Ok(records)
    }

    pub(super) fn check(&self) -> Result<(), SnapshotError> {
        ensure(self.0.len() <= MAX_RANGE_FORMATS, "a sheet has too many range formats")?;
        let is_valid_axis = |spans: &Spans, axis: Axis| {
            let end = spans.iter().next_back().map_or(0, |last| last.end());
            (1..=MAX_SPANS).contains(&spans.len()) && end <= axis.limit()
        };
        let is_valid_record = |record: &StoredFormat| {
            is_valid_axis(&record.rows, Axis::Rows)
                && is_valid_axis(&record.columns, Axis::Columns)
                && record.format.len() <= MAX_FORMAT_BYTES
        };
        ensure(self.0.iter().all(is_valid_record), "a range format is empty or has too many spans")
    }
}

/// Packs the range formats of all sheets. Returns one stored value per sheet, and the chunks to
/// write before the root.
///
/// # Errors
/// [`SnapshotError`] if the formats exceed a limit.
pub fn pack_formats<'a>(
    layers: impl IntoIterator<Item = &'a FormatLayer>,
    limits: PackLimits,
) -> Result<(Vec<PackedFormats>, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let mut packed = Vec::new();
    for layer in layers {
        let records = FormatRecords::of(layer);
        records.check()?;
        if records.0.is_empty() || packer.reserve_inline(&records) {
            packed.push(PackedFormats::Inline(records));
            continue;
        }
        let parts = packer.split_into_chunks(records.0, LIST_BYTES, |record| Weight {
            bytes: cbor::encoded_byte_length(record),
            referenced_bytes: 0,
        });
        let chunks =
            parts.into_iter().map(|part| packer.pack_chunk(Kind::Formats, &FormatRecords(part)));
        packed.push(PackedFormats::Chunks(chunks.collect::<Result<_, _>>()?));
    }
    Ok((packed, packer.into_objects()))
}

impl PackedFormats {
    /// Returns the format layer, or all chunks that must be loaded first.
    ///
    /// # Errors
    /// [`SnapshotError`] if the chunks together have more records than a sheet may have.
    pub fn layer<'a>(
        &'a self,
        loaded: &(dyn Fn(&ChunkHash) -> Option<&'a FormatRecords> + 'a),
    ) -> Result<Lookup<FormatLayer>, SnapshotError> {
        let (mut parts, mut missing) = (Vec::new(), Vec::new());
        match self {
            Self::Inline(records) => parts.push(records),
            Self::Chunks(chunks) => {
                for chunk in chunks {
                    match loaded(&chunk.hash) {
                        Some(records) => parts.push(records),
                        None => missing.push(*chunk),
                    }
                }
            }
        }
        if !missing.is_empty() {
            return Ok(Lookup::Need(missing));
        }
        let count = parts.iter().map(|records| records.0.len()).sum::<usize>();
        ensure(count <= MAX_RANGE_FORMATS, "a sheet has too many range formats")?;
        let record = |stored: &StoredFormat| RangeFormat {
            rows: stored.rows.clone(),
            columns: stored.columns.clone(),
            format: stored.format.clone(),
        };
        let records = parts.into_iter().flat_map(|records| &records.0).map(record);
        Ok(Lookup::Ready(FormatLayer::from_records(records.collect())))
    }
}
