//! Reading a file into the objects that its sheets are made of: all of the work that takes time, on
//! threads of its own.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use cellar_exchange::{Block, LongBody, Piece, SheetStart, Survey};
use cellar_sheet::a1::column_name;
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::{RowTooLarge, SheetWriter, WrittenSheet};
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::Tile;

use super::progress::Watch;
use crate::import::file::Sheets;
use crate::import::{ImportError, ReadOptions};

/// Names of objects that are remembered, so that a text in many cells is sent once; with more, some
/// may be sent again, and are there already.
const MAX_CACHED_OBJECTS: usize = 1 << 16;

/// Bytes of a csv file by which it is decided what its columns are, until others show that they are
/// something else: then it is read once more, and what was sent of it may be of no use. Below it, all is
/// looked at first.
const SAMPLE_BYTES: u64 = 4 * 1024 * 1024;

/// Blocks that wait to be written.
const PIECES_AHEAD: usize = 1;

/// What comes out of a file.
#[derive(Debug)]
pub(super) enum Found {
    /// A part of the sheet that comes next.
    Object(Object),
    /// A sheet, all of whose objects came before.
    Sheet(FoundSheet),
}

/// An object that is to be stored.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) packed: PackedObject,
    /// How many long texts it names.
    pub(super) long_texts: usize,
}

/// A sheet of the file.
#[derive(Debug)]
pub(super) struct FoundSheet {
    pub(super) start: SheetStart,
    pub(super) written: WrittenSheet,
}

/// Where what is found goes. A sink that is closed ends the reading.
pub(super) trait Sink {
    /// Takes it, perhaps after a while; `false` if it is closed.
    fn put(&mut self, found: Found) -> bool;

    /// Whether nobody waits for more.
    fn is_closed(&self) -> bool;
}

impl Sink for tokio::sync::mpsc::Sender<Found> {
    fn put(&mut self, found: Found) -> bool {
        self.blocking_send(found).is_ok()
    }

    fn is_closed(&self) -> bool {
        tokio::sync::mpsc::Sender::is_closed(self)
    }
}

/// Reads a file to its end, or until the sink is closed. Gives what the columns of csv are.
///
/// Two threads share the work: one takes the file apart, this one makes chunks.
pub(super) fn read(
    path: &Path,
    options: &ReadOptions,
    watch: &Watch,
    sink: &mut impl Sink,
) -> Result<Option<Survey>, ImportError> {
    let file = Sheets::open(path, options, Some(SAMPLE_BYTES))?;
    std::thread::scope(|scope| {
        let (pieces, received) = sync_channel(PIECES_AHEAD);
        let taking_apart = scope.spawn(move || take_apart(file, watch, &pieces));
        let written =
            Reader { sheet: None, known: HashSet::new(), naming: RefCell::default(), sink }
                .write(&received, watch);
        drop(received);
        let survey = taking_apart.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        written.map(|()| survey)
    })
}

/// Sends the pieces of a file, the last of which is none, until there is nobody who takes them.
fn take_apart(
    mut file: Sheets,
    watch: &Watch,
    pieces: &SyncSender<Option<Piece>>,
) -> Result<Option<Survey>, ImportError> {
    loop {
        let piece = file.next()?;
        watch.read(file.progress());
        let is_end = piece.is_none();
        if pieces.send(piece).is_err() || is_end {
            return Ok(file.survey().cloned());
        }
    }
}

struct Reader<'a, S> {
    sheet: Option<(SheetStart, SheetWriter)>,
    known: HashSet<ChunkHash>,
    /// How many long texts a chunk names, of chunks that name some and were not sent yet.
    naming: RefCell<HashMap<ChunkHash, usize>>,
    sink: &'a mut S,
}

impl<S: Sink> Reader<'_, S> {
    /// Writes what is received. It ends early if nobody takes what is written.
    fn write(
        mut self,
        received: &Receiver<Option<Piece>>,
        watch: &Watch,
    ) -> Result<(), ImportError> {
        let mut goes_on = true;
        while goes_on && !self.sink.is_closed() {
            // Whoever does not send any more has an error to tell.
            let Ok(piece) = received.recv() else { break };
            goes_on = match piece {
                Some(Piece::Working) => true,
                Some(Piece::Sheet(start)) => {
                    let goes_on = self.end_sheet()?;
                    self.sheet = Some((start, SheetWriter::default()));
                    goes_on
                }
                // What was sent of it may be used again; the rest is deleted by itself.
                Some(Piece::Restart) => {
                    watch.restart();
                    self.restart_sheet();
                    true
                }
                Some(Piece::Block(block)) => {
                    watch.cells(&block.tile);
                    self.block(block)?
                }
                None => {
                    self.end_sheet()?;
                    false
                }
            };
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<bool, ImportError> {
        let Some((_, writer)) = &mut self.sheet else { return Ok(true) };
        let encode = |tile: &Tile| encoded(tile, &self.naming);
        let chunks = writer.push(block.tile, &encode).map_err(row_too_large)?;
        for text in &block.long_texts {
            if !self.text(text)? {
                return Ok(false);
            }
        }
        Ok(self.chunks(chunks))
    }

    fn restart_sheet(&mut self) {
        if let Some((_, writer)) = &mut self.sheet {
            *writer = SheetWriter::default();
        }
    }

    fn end_sheet(&mut self) -> Result<bool, ImportError> {
        let Some((start, writer)) = self.sheet.take() else { return Ok(true) };
        let encode = |tile: &Tile| encoded(tile, &self.naming);
        let (written, chunks) = writer.finish(&encode).map_err(row_too_large)?;
        Ok(self.chunks(chunks) && self.sink.put(Found::Sheet(FoundSheet { start, written })))
    }

    fn chunks(&mut self, chunks: Vec<PackedObject>) -> bool {
        let naming = self.naming.take();
        chunks.into_iter().all(|packed| {
            let long_texts = naming.get(&packed.chunk.hash).copied().unwrap_or(0);
            !self.is_new(packed.chunk.hash)
                || self.sink.put(Found::Object(Object { packed, long_texts }))
        })
    }

    fn text(&mut self, body: &LongBody) -> Result<bool, ImportError> {
        if !self.is_new(ChunkHash(body.hash)) {
            return Ok(true);
        }
        let packed = pack(body.text.as_bytes(), Bounds::CHUNK).map_err(|why| {
            let start = self.sheet.as_ref().map(|(start, _)| start);
            let name = start.and_then(|start| start.name.clone()).unwrap_or_default();
            ImportError::SheetTooLarge { name, why }
        })?;
        Ok(self.sink.put(Found::Object(Object { packed, long_texts: 0 })))
    }

    fn is_new(&mut self, hash: ChunkHash) -> bool {
        if self.known.len() >= MAX_CACHED_OBJECTS {
            self.known.clear();
        }
        self.known.insert(hash)
    }
}

/// Encodes a tile, and notes how many long texts it names.
fn encoded(tile: &Tile, naming: &RefCell<HashMap<ChunkHash, usize>>) -> Option<PackedObject> {
    let object = chunk_of(tile)?;
    let texts = tile.named_texts().len();
    if texts > 0 {
        naming.borrow_mut().insert(object.chunk.hash, texts);
    }
    Some(object)
}

fn row_too_large(fault: RowTooLarge) -> ImportError {
    ImportError::RowTooLarge {
        row: u64::from(fault.row).saturating_add(1),
        column: column_name(fault.column),
    }
}

#[cfg(test)]
mod tests {
    use cellar_snapshot::level::StoredTile;

    use super::*;

    #[derive(Default)]
    struct Collected {
        objects: Vec<Object>,
        sheets: Vec<FoundSheet>,
        room: Option<usize>,
    }

    impl Sink for Collected {
        fn put(&mut self, found: Found) -> bool {
            match found {
                Found::Object(object) => self.objects.push(object),
                Found::Sheet(sheet) => self.sheets.push(sheet),
            }
            self.room = self.room.map(|room| room.saturating_sub(1));
            self.room != Some(0)
        }

        fn is_closed(&self) -> bool {
            self.room == Some(0)
        }
    }

    fn read_text(text: &str, room: Option<usize>) -> (Collected, Option<Survey>, Watch) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let (mut sink, watch) = (Collected { room, ..Collected::default() }, Watch::default());
        let survey = read(&path, &ReadOptions::default(), &watch, &mut sink).unwrap();
        (sink, survey, watch)
    }

    #[test]
    fn a_file_becomes_objects_and_then_a_sheet() {
        let (found, survey, watch) = read_text("a,b\n1,2\n3,\n", None);
        let [sheet] = found.sheets.as_slice() else { panic!("{:?}", found.sheets) };
        assert_eq!((sheet.written.extent.rows, sheet.written.extent.columns), (3, 2));
        assert_eq!((sheet.written.cells, survey.unwrap().rows), (5, 3));
        assert_eq!(found.objects.len(), 1);
        let progress = watch.now();
        assert_eq!((progress.cells, progress.read.done), (5, progress.read.total));
    }

    #[test]
    fn a_column_that_is_not_what_it_seemed_to_be_is_read_once_more() {
        let rows = u64::from(u32::try_from(SAMPLE_BYTES).unwrap() / 8) + 150_000;
        let text: String = (0..rows).map(|row| format!("{}\n", 1_000_000 + row)).collect();
        let (numbers, ..) = read_text(&text, None);
        let (found, survey, watch) = read_text(&format!("{text}x\n"), None);
        let [sheet] = found.sheets.as_slice() else { panic!("{:?}", found.sheets) };
        assert_eq!((sheet.written.cells, survey.unwrap().cells), (rows + 1, rows + 1));
        assert_eq!(watch.now().cells, rows + 1);
        let hashes = |found: &Collected| -> HashSet<_> {
            found.objects.iter().map(|object| object.packed.chunk.hash).collect()
        };
        let (numbers, found) = (hashes(&numbers), hashes(&found));
        assert!(!numbers.is_disjoint(&found), "some came before it was known");
        let tiles = sheet.written.stripes.iter().flat_map(|stripe| &stripe.tiles);
        for tile in tiles {
            let StoredTile::Chunk(chunk) = tile.stored else { panic!("{tile:?}") };
            assert!(found.contains(&chunk.hash) && !numbers.contains(&chunk.hash));
        }
    }

    #[test]
    fn a_long_text_is_an_object_of_its_own_once() {
        let long = "x".repeat(10_000);
        let (found, ..) = read_text(&format!("{long},1\n{long},2\n{long}y,3\n"), None);
        let [one, two, tile] = found.objects.as_slice() else { panic!("{:?}", found.objects) };
        assert_eq!([one, two, tile].map(|object| object.long_texts), [0, 0, 2]);
        assert_eq!(one.packed.chunk.hash, ChunkHash::of(long.as_bytes()));
    }

    #[test]
    fn reading_ends_where_nobody_takes_what_is_found() {
        // Several chunks of numbers that look random.
        let number = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12;
        let text: String = (0..400_000).map(|row| format!("{}\n", number(row))).collect();
        let all = read_text(&text, None).0.objects.len();
        let (found, ..) = read_text(&text, Some(2));
        assert!(all > 3 && found.objects.len() == 2 && found.sheets.is_empty(), "{all}");
    }
}
