//! Parquet with zstd level 3 and row groups of 122,880 rows, as DuckDB writes them, and default
//! options: typed columns, dictionaries, and pages with an index.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cellar_reference_data::{COLUMNS, NAMES, POPULATED_PER_1000_ROWS, ReferenceValue, value};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, Length};
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::sheet::Measured;
use crate::Failure;
use crate::clock::{Stopwatch, median_s};

const SCHEMA: &str = "message sheet {
    required int32 id; required binary product (UTF8); required binary code (UTF8);
    required int32 quantity; required double price; optional double measure; required int32 date;
    required boolean active; optional binary note (UTF8); required double total;
}";
const GROUP_ROWS: u32 = 122_880;

/// One column of a row group in the types of the writer.
enum Typed {
    Integers(Vec<i32>),
    Numbers(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Vec<ByteArray>),
}

/// Values, and for each row whether it has a value.
struct TypedColumn {
    values: Typed,
    levels: Vec<i16>,
}

pub(super) fn measured(rows: u32) -> Result<Measured, Failure> {
    let mut watch = Stopwatch::default();
    let file = Arc::new(written(rows, Vec::new(), &mut watch)?);
    let cells = f64::from(rows) * f64::from(POPULATED_PER_1000_ROWS) / 1e3;
    let counted = Counted { file: Arc::clone(&file), bytes: Arc::default() };
    let shown = far_view(&counted, rows)?;
    let bytes = counted.bytes.load(Ordering::Relaxed);
    if !(400..=500).contains(&shown) {
        return Err(format!("Parquet shows {shown} cells of 50 rows").into());
    }
    let decoded_cells = cells * f64::from(GROUP_ROWS.min(rows)) / f64::from(rows);
    Ok(Measured {
        name: "Parquet",
        bytes_per_cell: Some(file.len() as f64 / cells),
        import_cpu_s: Some(watch.total_s() * 1e6 / f64::from(rows)),
        far_view_ms: Some(median_s(21, || far_view(&counted, rows)) * 1e3),
        far_view_kb: Some(bytes as f64 / 1e3),
        decode_ns: Some(median_s(7, || read_group(&counted)) * 1e9 / decoded_cells),
        ..Measured::default()
    })
}

/// Imports without a file.
pub(super) fn import_to_nowhere(rows: u32) -> Result<(), Failure> {
    written(rows, std::io::sink(), &mut Stopwatch::default()).map(drop)
}

fn written<W: Write + Send>(rows: u32, to: W, watch: &mut Stopwatch) -> Result<W, Failure> {
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    for first in (0..rows).step_by(GROUP_ROWS as usize) {
        let end = rows.min(first + GROUP_ROWS);
        let columns: Vec<TypedColumn> = (0..COLUMNS).map(|at| column(first, end, at)).collect();
        watch.run(|| write_group(writer.next_row_group()?, &columns))?;
    }
    Ok(watch.run(|| writer.into_inner())?)
}

fn column(first: u32, end: u32, number: u32) -> TypedColumn {
    let all = || (first..end).map(|row| value(row, number));
    let levels = all().map(|value| i16::from(value != ReferenceValue::Empty)).collect();
    let numbers = || {
        all().filter_map(|value| match value {
            ReferenceValue::Number(number) => Some(number),
            _ => None,
        })
    };
    let values = match NAMES[number as usize] {
        "id" | "quantity" | "date" => {
            Typed::Integers(numbers().map(|number| number as i32).collect())
        }
        "price" | "measure" | "total" => Typed::Numbers(numbers().collect()),
        "active" => Typed::Bools(all().map(|value| value == ReferenceValue::Bool(true)).collect()),
        _ => Typed::Texts(
            all()
                .filter_map(|value| match value {
                    ReferenceValue::Text(text) => Some(ByteArray::from(text.into_bytes())),
                    _ => None,
                })
                .collect(),
        ),
    };
    TypedColumn { values, levels }
}

fn write_group<W: Write + Send>(
    mut group: SerializedRowGroupWriter<'_, W>,
    columns: &[TypedColumn],
) -> Result<(), Failure> {
    for TypedColumn { values, levels } in columns {
        let mut writer = group.next_column()?.ok_or("Parquet has too few columns")?;
        let levels = Some(levels.as_slice());
        match values {
            Typed::Integers(list) => writer.typed::<Int32Type>().write_batch(list, levels, None)?,
            Typed::Numbers(list) => writer.typed::<DoubleType>().write_batch(list, levels, None)?,
            Typed::Bools(list) => writer.typed::<BoolType>().write_batch(list, levels, None)?,
            Typed::Texts(list) => {
                writer.typed::<ByteArrayType>().write_batch(list, levels, None)?
            }
        };
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

/// A file that counts the bytes that are read.
#[derive(Clone)]
struct Counted {
    file: Arc<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
}

impl Length for Counted {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }
}

impl ChunkReader for Counted {
    type T = std::io::Cursor<Vec<u8>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // Bytes for the header of a page, whose data is then read by its length.
        const HEADER_BYTES: usize = 64;
        let rest = self.file.get(start as usize..).unwrap_or_default();
        self.bytes.fetch_add(rest.len().min(HEADER_BYTES), Ordering::Relaxed);
        Ok(std::io::Cursor::new(rest[..rest.len().min(1 << 16)].to_vec()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let start = start as usize;
        let part = self.file.get(start..start + length).unwrap_or_default();
        Ok(bytes::Bytes::copy_from_slice(part))
    }
}

fn open(file: &Counted) -> Result<SerializedFileReader<Counted>, Failure> {
    let options = ReadOptionsBuilder::new().with_page_index().build();
    Ok(SerializedFileReader::new_with_options(file.clone(), options)?)
}

/// Reads the footer, the page index, and the pages with 50 rows at nine tenths of the sheet.
/// Returns the number of cells.
fn far_view(file: &Counted, rows: u32) -> Result<usize, Failure> {
    let reader = open(file)?;
    let first = rows / 10 * 9;
    let (group, skipped) = (first / GROUP_ROWS, first % GROUP_ROWS);
    cells(&reader, group as usize, skipped as usize, 50)
}

/// Reads the whole first row group.
fn read_group(file: &Counted) -> Result<usize, Failure> {
    cells(&open(file)?, 0, 0, GROUP_ROWS as usize)
}

/// Reads the cells of some rows. Returns their number.
fn cells(
    reader: &SerializedFileReader<Counted>,
    group: usize,
    skipped: usize,
    count: usize,
) -> Result<usize, Failure> {
    let group = reader.get_row_group(group)?;
    let mut cells = 0;
    for number in 0..COLUMNS as usize {
        cells += match group.get_column_reader(number)? {
            ColumnReader::Int32ColumnReader(column) => read::<Int32Type>(column, skipped, count)?,
            ColumnReader::DoubleColumnReader(column) => read::<DoubleType>(column, skipped, count)?,
            ColumnReader::BoolColumnReader(column) => read::<BoolType>(column, skipped, count)?,
            ColumnReader::ByteArrayColumnReader(column) => {
                read::<ByteArrayType>(column, skipped, count)?
            }
            _ => return Err("Parquet has a column of another type".into()),
        };
    }
    Ok(cells)
}

fn read<T: DataType>(
    mut column: parquet::column::reader::ColumnReaderImpl<T>,
    skipped: usize,
    count: usize,
) -> Result<usize, Failure> {
    let (mut values, mut levels) = (Vec::with_capacity(count), Vec::with_capacity(count));
    column.skip_records(skipped)?;
    column.read_records(count, Some(&mut levels), None, &mut values)?;
    Ok(std::hint::black_box(values).len())
}
