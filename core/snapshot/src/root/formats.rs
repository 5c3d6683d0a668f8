//! Range formats of sheets, which are stored inline in the root or in chunks.

use minicbor::{Decode, Encode};

use crate::cbor::{self, Body, Kind};
use crate::error::SnapshotError;
use crate::index::{Lookup, ensure};
use crate::level::{ChunkHash, ChunkRef};
use crate::packed::PackedObject;
use crate::packer::{PackLimits, Packer, Weight};
use cellar_base::limits::{MAX_FORMAT_BYTES, MAX_RANGE_FORMATS, MAX_SPANS};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{FormatLayer, RangeFormat};
use cellar_sheet::operation::Spans;

/// Maximum CBOR overhead of a list of range formats, in bytes.
const LIST_BYTES: usize = 12;

/// Range formats of a sheet, as stored in a root.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(flat)]
pub enum PackedFormats {
    /// Stored inside the root.
    #[n(0)]
    Inline(#[n(0)] FormatRecords),
    /// Stored in chunks; the chunk with the oldest records is first.
    #[n(1)]
    Chunks(#[n(0)] Vec<ChunkRef>),
}

/// Range formats of a sheet, oldest first. Contains all range formats of the sheet, or only those
/// of one chunk.
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

impl StoredFormat {
    fn is_valid(&self) -> bool {
        are_valid_spans(&self.rows, Axis::Rows)
            && are_valid_spans(&self.columns, Axis::Columns)
            && self.format.len() <= MAX_FORMAT_BYTES
    }
}

fn are_valid_spans(spans: &Spans, axis: Axis) -> bool {
    let end = spans.iter().next_back().map_or(0, |last_span| last_span.end());
    (1..=MAX_SPANS).contains(&spans.len()) && end <= axis.limit()
}

impl Body for FormatRecords {}

impl FormatRecords {
    pub(super) fn of(layer: &FormatLayer) -> Self {
        let to_stored = |range_format: &RangeFormat| StoredFormat {
            rows: range_format.rows.clone(),
            columns: range_format.columns.clone(),
            format: range_format.format.clone(),
        };
        Self(layer.records().iter().map(to_stored).collect())
    }

    /// Decodes an uncompressed chunk. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the chunk is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let records: Self = cbor::decode(Kind::Formats, bytes)?;
        records.check()?;
        Ok(records)
    }

    fn to_range_formats(&self) -> Vec<RangeFormat> {
        let to_range_format = |record: &StoredFormat| RangeFormat {
            rows: record.rows.clone(),
            columns: record.columns.clone(),
            format: record.format.clone(),
        };
        self.0.iter().map(to_range_format).collect()
    }

    pub(super) fn check(&self) -> Result<(), SnapshotError> {
        ensure(self.0.len() <= MAX_RANGE_FORMATS, "a sheet has too many range formats")?;
        let are_valid_records = self.0.iter().all(StoredFormat::is_valid);
        ensure(are_valid_records, "a range format is empty or has too many spans")
    }
}

/// Packs the range formats of all sheets. Returns the stored formats of each sheet, and the chunks
/// to store before the root.
///
/// # Errors
/// Returns a [`SnapshotError`] if the formats exceed a limit.
pub fn pack_formats<'a>(
    layers: impl IntoIterator<Item = &'a FormatLayer>,
    limits: PackLimits,
) -> Result<(Vec<PackedFormats>, Vec<PackedObject>), SnapshotError> {
    let mut packer = Packer::new(limits);
    let mut packed_formats = Vec::new();
    for layer in layers {
        let records = FormatRecords::of(layer);
        records.check()?;
        packed_formats.push(pack_records(records, &mut packer)?);
    }
    Ok((packed_formats, packer.into_objects()))
}

fn pack_records(
    records: FormatRecords,
    packer: &mut Packer,
) -> Result<PackedFormats, SnapshotError> {
    if records.0.is_empty() || packer.reserve_inline(&records) {
        return Ok(PackedFormats::Inline(records));
    }
    let weigh_record = |record: &StoredFormat| Weight {
        bytes: cbor::encoded_byte_length(record),
        referenced_bytes: 0,
    };
    let mut chunks = Vec::new();
    for chunk_records in packer.split_into_chunks(records.0, LIST_BYTES, weigh_record) {
        chunks.push(packer.pack_chunk(Kind::Formats, &FormatRecords(chunk_records))?);
    }
    Ok(PackedFormats::Chunks(chunks))
}

impl PackedFormats {
    /// Returns the range formats of a sheet, or the missing chunks that must be loaded first.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the chunks together contain more range formats than a sheet
    /// may have.
    pub fn layer<'a>(
        &'a self,
        loaded_chunks: &(dyn Fn(&ChunkHash) -> Option<&'a FormatRecords> + 'a),
    ) -> Result<Lookup<FormatLayer>, SnapshotError> {
        let chunks = match self {
            Self::Inline(records) => {
                return Ok(Lookup::Ready(FormatLayer::from_records(records.to_range_formats())));
            }
            Self::Chunks(chunks) => chunks,
        };
        let mut range_formats = Vec::new();
        let mut missing_chunks = Vec::new();
        for chunk in chunks {
            match loaded_chunks(&chunk.hash) {
                Some(records) => range_formats.extend(records.to_range_formats()),
                None => missing_chunks.push(*chunk),
            }
        }
        if !missing_chunks.is_empty() {
            return Ok(Lookup::Missing(missing_chunks));
        }
        let is_within_limit = range_formats.len() <= MAX_RANGE_FORMATS;
        ensure(is_within_limit, "a sheet has too many range formats")?;
        Ok(Lookup::Ready(FormatLayer::from_records(range_formats)))
    }
}
