//! Reads a file and packs its cells into objects on worker threads.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::resume_unwind;
use std::path::Path;

use cellar_exchange::{Block, ImportStep, LongBlockText, SheetStart};
use cellar_formula::Template;
use cellar_sheet::a1::column_name;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::{RowTooLarge, SheetWriter, WrittenSheet};
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::Tile;

use super::index_parts::IndexParts;
use super::parser::{self, ParsedFile, ParserMessage};
use super::progress::ProgressMonitor;
use crate::import::file::{Findings, SheetReader};
use crate::import::{ImportError, ReadOptions};

/// The hashes prevent a text that occurs in many cells from being uploaded more than once. When the
/// limit is reached, all hashes are forgotten, which is harmless because an object may be uploaded
/// again.
const MAX_REMEMBERED_HASHES: usize = 1 << 16;

/// Number of bytes at the start of a CSV file from which column types are detected.
///
/// If later rows contradict the detected types, the file is read again, and objects that were
/// already uploaded may remain unused. A file that is not longer than this sample is examined
/// completely before its cells are packed.
const SAMPLE_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum total length of the names of sheets in the formulas of a sheet. A file can contain any
/// number of names that are no sheets.
const MAX_NAMED_SHEET_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) enum PackedItem {
    /// An object of the next sheet.
    Object(PackedChunk),
    /// A part of the tile index of the next sheet. The objects of its tiles precede it.
    IndexPart(PackedObject),
    /// A sheet whose objects have all been packed.
    Sheet(PackedSheet),
}

#[derive(Debug, Clone)]
pub(super) struct PackedChunk {
    pub(super) packed: PackedObject,
    pub(super) long_text_count: usize,
}

#[derive(Debug)]
pub(super) struct PackedSheet {
    pub(super) start: SheetStart,
    pub(super) written: WrittenSheet,
    /// Names of sheets in formulas, in lower case. They may not be sheets of the file.
    pub(super) named_sheets: BTreeSet<String>,
}

/// If the sink is closed, reading stops.
pub(super) trait Sink {
    /// Blocks while the sink is full.
    fn send(&mut self, item: PackedItem) -> Result<(), PackStop>;

    fn is_closed(&self) -> bool;
}

impl Sink for tokio::sync::mpsc::Sender<PackedItem> {
    fn send(&mut self, item: PackedItem) -> Result<(), PackStop> {
        self.blocking_send(item).map_err(|_| PackStop::SinkClosed)
    }

    fn is_closed(&self) -> bool {
        tokio::sync::mpsc::Sender::is_closed(self)
    }
}

pub(super) enum PackStop {
    SinkClosed,
    Failed(ImportError),
}

impl From<ImportError> for PackStop {
    fn from(error: ImportError) -> Self {
        Self::Failed(error)
    }
}

/// A second thread parses the file while this thread packs the cells into chunks.
pub(super) fn read_file(
    path: &Path,
    options: &ReadOptions,
    progress: &ProgressMonitor,
    sink: &mut impl Sink,
) -> Result<Findings, ImportError> {
    let file = SheetReader::open(path, options, Some(SAMPLE_BYTES))?;
    std::thread::scope(|scope| {
        let (parser, parsed_file) = parser::connect();
        let parser_thread = scope.spawn(move || parser.parse(file, progress));
        // Packing drops its end of the connection, so that the parser stops after an error.
        let pack_result = SheetPacker::new(parsed_file, sink).pack_steps(progress);
        let findings = parser_thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        pack_result?;
        Ok(findings)
    })
}

/// A sheet whose cells are being packed.
struct OpenSheet {
    start: SheetStart,
    writer: SheetWriter,
    index_parts: IndexParts,
    named_sheets: NamedSheets,
}

impl OpenSheet {
    fn new(start: SheetStart) -> Self {
        let (writer, index_parts) = (SheetWriter::default(), IndexParts::default());
        Self { start, writer, index_parts, named_sheets: NamedSheets::default() }
    }
}

/// Names of sheets in formulas, in lower case.
#[derive(Debug, Default)]
struct NamedSheets {
    names: BTreeSet<String>,
    /// Total length of the names.
    bytes: usize,
}

impl NamedSheets {
    /// Adds the names in the formulas of a block, until they have `MAX_NAMED_SHEET_BYTES`.
    fn add_block(&mut self, tile: &Tile) {
        for encoded in tile.columns.iter().flat_map(|column| column.templates.distinct()) {
            // The name of a sheet is followed by `'!` in a template.
            if encoded.contains("'!") {
                let template = Template::decode(encoded.to_owned());
                template.iter().flat_map(Template::sheet_names).for_each(|name| self.add(&name));
            }
        }
    }

    fn add(&mut self, name: &str) {
        let name = name.to_lowercase();
        let bytes = self.bytes.saturating_add(name.len());
        if bytes <= MAX_NAMED_SHEET_BYTES && !self.names.contains(&name) {
            self.bytes = bytes;
            self.names.insert(name);
        }
    }
}

struct SheetPacker<'a, S> {
    sheet: Option<OpenSheet>,
    sent_hashes: HashSet<ChunkHash>,
    /// Chunks without long texts, and chunks that were already passed to the sink, are not
    /// included.
    long_text_counts: RefCell<HashMap<ChunkHash, usize>>,
    file: ParsedFile,
    sink: &'a mut S,
}

impl<'a, S: Sink> SheetPacker<'a, S> {
    fn new(file: ParsedFile, sink: &'a mut S) -> Self {
        Self {
            sheet: None,
            sent_hashes: HashSet::new(),
            long_text_counts: RefCell::default(),
            file,
            sink,
        }
    }

    /// Stops early if the sink is closed, or if the parser closes the channel because of an error.
    fn pack_steps(mut self, progress: &ProgressMonitor) -> Result<(), ImportError> {
        match self.pack_until_end(progress) {
            Ok(()) | Err(PackStop::SinkClosed) => Ok(()),
            Err(PackStop::Failed(error)) => Err(error),
        }
    }

    fn pack_until_end(&mut self, progress: &ProgressMonitor) -> Result<(), PackStop> {
        while !self.sink.is_closed() {
            match self.file.next_message() {
                Some(ParserMessage::Step(step)) => self.pack_step(step, progress)?,
                Some(ParserMessage::EndOfFile) => return self.finish_sheet(),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn pack_step(&mut self, step: ImportStep, progress: &ProgressMonitor) -> Result<(), PackStop> {
        match step {
            ImportStep::Working => {}
            ImportStep::Sheet(start) => {
                self.finish_sheet()?;
                self.sheet = Some(OpenSheet::new(start));
            }
            ImportStep::Restart => {
                progress.reset_cells();
                self.restart_sheet();
            }
            ImportStep::Block(block) => {
                progress.add_cells(&block.tile);
                self.pack_block(block)?;
            }
        }
        Ok(())
    }

    fn pack_block(&mut self, block: Block) -> Result<(), PackStop> {
        let Some(sheet) = &mut self.sheet else { return Ok(()) };
        sheet.named_sheets.add_block(&block.tile);
        let encode = |tile: &Tile| encode_tile(tile, &self.long_text_counts);
        let chunks = sheet.writer.push(block.tile, &encode).map_err(row_too_large)?;
        self.file.request_block(sheet.writer.next_block_cells());
        let index_parts = sheet.index_parts.pack_filled(&sheet.writer);
        for long_text in &block.long_texts {
            self.send_long_text_if_new(long_text)?;
        }
        self.send_new_chunks(chunks)?;
        let name = self.sheet_name();
        for part in index_parts.map_err(|why| ImportError::SheetTooLarge { name, why })? {
            self.sink.send(PackedItem::IndexPart(part))?;
        }
        Ok(())
    }

    /// The parser will send all cells of the sheet again. Objects that were already uploaded are
    /// reused or expire.
    fn restart_sheet(&mut self) {
        if let Some(sheet) = &mut self.sheet {
            *sheet = OpenSheet::new(sheet.start.clone());
        }
    }

    fn finish_sheet(&mut self) -> Result<(), PackStop> {
        let Some(OpenSheet { start, writer, named_sheets, .. }) = self.sheet.take() else {
            return Ok(());
        };
        let encode = |tile: &Tile| encode_tile(tile, &self.long_text_counts);
        let (written, chunks) = writer.finish(&encode).map_err(row_too_large)?;
        self.send_new_chunks(chunks)?;
        let named_sheets = named_sheets.names;
        self.sink.send(PackedItem::Sheet(PackedSheet { start, written, named_sheets }))?;
        Ok(())
    }

    fn send_new_chunks(&mut self, chunks: Vec<PackedObject>) -> Result<(), PackStop> {
        let long_text_counts = self.long_text_counts.take();
        for packed in chunks {
            let hash = packed.chunk.hash;
            let long_text_count = long_text_counts.get(&hash).copied().unwrap_or(0);
            self.send_if_new(hash, PackedChunk { packed, long_text_count })?;
        }
        Ok(())
    }

    fn send_long_text_if_new(&mut self, body: &LongBlockText) -> Result<(), PackStop> {
        let hash = ChunkHash(body.hash);
        if self.sent_hashes.contains(&hash) {
            return Ok(());
        }
        let packed = pack(body.text.as_bytes(), Bounds::CHUNK)
            .map_err(|why| ImportError::SheetTooLarge { name: self.sheet_name(), why })?;
        self.send_if_new(hash, PackedChunk { packed, long_text_count: 0 })
    }

    /// Returns an empty string for a CSV file.
    fn sheet_name(&self) -> String {
        self.sheet.as_ref().and_then(|sheet| sheet.start.name.clone()).unwrap_or_default()
    }

    fn send_if_new(&mut self, hash: ChunkHash, object: PackedChunk) -> Result<(), PackStop> {
        if self.sent_hashes.len() >= MAX_REMEMBERED_HASHES {
            self.sent_hashes.clear();
        }
        let is_new = self.sent_hashes.insert(hash);
        if is_new {
            self.sink.send(PackedItem::Object(object))?;
        }
        Ok(())
    }
}

fn encode_tile(
    tile: &Tile,
    long_text_counts: &RefCell<HashMap<ChunkHash, usize>>,
) -> Option<PackedObject> {
    let object = chunk_of(tile)?;
    let long_text_count = tile.named_texts().len();
    if long_text_count > 0 {
        long_text_counts.borrow_mut().insert(object.chunk.hash, long_text_count);
    }
    Some(object)
}

fn row_too_large(error: RowTooLarge) -> ImportError {
    ImportError::RowTooLarge {
        row: u64::from(error.row).saturating_add(1),
        column: column_name(error.column),
    }
}

#[cfg(test)]
mod tests {
    use cellar_snapshot::level::{ChunkRef, StoredTile};

    use super::*;

    #[derive(Default)]
    struct Collected {
        objects: Vec<PackedChunk>,
        index_parts: Vec<ChunkRef>,
        sheets: Vec<PackedSheet>,
        capacity: Option<usize>,
    }

    impl Sink for Collected {
        fn send(&mut self, item: PackedItem) -> Result<(), PackStop> {
            match item {
                PackedItem::Object(object) => self.objects.push(object),
                PackedItem::IndexPart(part) => self.index_parts.push(part.chunk),
                PackedItem::Sheet(sheet) => self.sheets.push(sheet),
            }
            self.capacity = self.capacity.map(|capacity| capacity.saturating_sub(1));
            if self.is_closed() { Err(PackStop::SinkClosed) } else { Ok(()) }
        }

        fn is_closed(&self) -> bool {
            self.capacity == Some(0)
        }
    }

    fn read_text(
        text: &str,
        capacity: Option<usize>,
    ) -> (Collected, Option<cellar_exchange::Survey>, ProgressMonitor) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let (mut sink, progress) =
            (Collected { capacity, ..Collected::default() }, ProgressMonitor::default());
        let findings = read_file(&path, &ReadOptions::default(), &progress, &mut sink).unwrap();
        (sink, findings.survey, progress)
    }

    #[test]
    fn packs_objects_before_their_sheet() {
        let (found, survey, progress) = read_text("a,b\n1,2\n3,\n", None);
        let [sheet] = found.sheets.as_slice() else { panic!("{:?}", found.sheets) };
        assert_eq!((sheet.written.extent.rows, sheet.written.extent.columns), (3, 2));
        assert_eq!((sheet.written.cells, survey.unwrap().rows), (5, 3));
        assert_eq!(found.objects.len(), 1);
        let progress = progress.current();
        assert_eq!((progress.cells, progress.read.done), (5, progress.read.total));
    }

    #[test]
    fn reads_again_if_later_rows_contradict_the_column_type() {
        let rows = u64::from(u32::try_from(SAMPLE_BYTES).unwrap() / 8) + 150_000;
        let text: String = (0..rows).map(|row| format!("{}\n", 1_000_000 + row)).collect();
        let (numbers, ..) = read_text(&text, None);
        let (found, survey, progress) = read_text(&format!("{text}x\n"), None);
        let [sheet] = found.sheets.as_slice() else { panic!("{:?}", found.sheets) };
        assert_eq!((sheet.written.cells, survey.unwrap().cells), (rows + 1, rows + 1));
        assert_eq!(progress.current().cells, rows + 1);
        let hashes = |found: &Collected| -> HashSet<_> {
            found.objects.iter().map(|object| object.packed.chunk.hash).collect()
        };
        let (numbers, found) = (hashes(&numbers), hashes(&found));
        assert!(!numbers.is_disjoint(&found), "some were packed before the type changed");
        let tiles = sheet.written.stripes.iter().flat_map(|stripe| &stripe.tiles);
        for tile in tiles {
            let StoredTile::Chunk(chunk) = tile.stored else { panic!("{tile:?}") };
            assert!(found.contains(&chunk.hash) && !numbers.contains(&chunk.hash));
        }
    }

    #[test]
    fn packs_each_long_text_once() {
        let long = "x".repeat(10_000);
        let (found, ..) = read_text(&format!("{long},1\n{long},2\n{long}y,3\n"), None);
        let [one, two, tile] = found.objects.as_slice() else { panic!("{:?}", found.objects) };
        assert_eq!([one, two, tile].map(|object| object.long_text_count), [0, 0, 2]);
        assert_eq!(one.packed.chunk.hash, ChunkHash::of(long.as_bytes()));
    }

    /// Returns a file with enough pseudorandom numbers for several chunks.
    fn random_numbers() -> String {
        let number = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12;
        (0..400_000).map(|row| format!("{}\n", number(row))).collect()
    }

    #[test]
    fn stops_when_the_sink_is_closed() {
        let text = random_numbers();
        let all = read_text(&text, None).0.objects.len();
        let (found, ..) = read_text(&text, Some(2));
        assert!(all > 3 && found.objects.len() == 2 && found.sheets.is_empty(), "{all}");
    }

    /// An interrupted import can then use the objects that it has already uploaded.
    #[test]
    fn a_file_is_packed_into_the_same_chunks_each_time() {
        let text = random_numbers();
        let pack = || {
            let found = read_text(&text, None).0;
            let hashes = found.objects.iter().map(|object| object.packed.chunk.hash);
            hashes.collect::<Vec<_>>()
        };
        let first = pack();
        assert!(first.len() > 3);
        for _ in 0..3 {
            assert_eq!(pack(), first);
        }
    }
}
