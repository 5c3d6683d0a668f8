//! Imports: grants, the bucket of chunks, and checks as strict as those of the server.

use cellar_snapshot::index::StripeIndex;
use std::collections::{BTreeMap, BTreeSet};

use cellar_api::{
    wire::ChunkUpload, wire::ImportCheckReply, wire::ImportCheckRequest, wire::ImportUploadsReply,
    wire::ImportUploadsRequest, wire::NewChunk, wire::UploadedChunk,
};
use cellar_base::limits::MAX_IMPORT_OBJECTS;
use cellar_exchange::{Block, LongBlockText};
use cellar_formula::Template;
use cellar_formula::reference::NoSheets;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::ImportSheet;
use cellar_snapshot::chunk;
use cellar_snapshot::index::{Children, IndexChunk, Lookup, PackedLevel, PackedSheet};
use cellar_snapshot::level::{ChunkHash, ChunkRef, StoredTile};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::tile::{NamedText, TileValue};

use super::*;

/// A chunk in the bucket.
#[derive(Debug, Clone)]
pub(crate) struct StoredChunk {
    pub(crate) stored: Vec<u8>,
    /// Whether the chunk was checked, and is kept permanently.
    pub(crate) kept: bool,
}

fn refused(why: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::InvalidImport, why)
}

fn incomplete(why: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::IncompleteImport, why)
}

impl Inner {
    pub(super) fn grant_chunks(
        &self,
        id: LogId,
        request: ImportUploadsRequest,
    ) -> Result<ImportUploadsReply, Problem> {
        if !(1..=MAX_IMPORT_OBJECTS).contains(&request.chunks.len()) {
            return Err(refused("ask for at least one and at most 256"));
        }
        let grant = |NewChunk { hash, bytes, sha256 }| {
            let headers = [
                ("content-length".to_owned(), bytes.to_string()),
                ("if-none-match".to_owned(), "*".to_owned()),
                ("x-checksum".to_owned(), sha256),
            ];
            ChunkUpload {
                method: "PUT".into(),
                url: format!("{}/chunks/{id}/{hash}?signature=secret", self.url),
                headers: headers.into_iter().collect(),
                expires_s: 1_700_000_900,
            }
        };
        Ok(ImportUploadsReply { uploads: request.chunks.into_iter().map(grant).collect() })
    }

    pub(super) fn put_chunk(&mut self, key: &str, headers: &HeaderMap, body: &[u8]) -> Response {
        assert!(!headers.contains_key("authorization"), "the token went to the bucket");
        let answer = |status: u16| (StatusCode::from_u16(status).unwrap(), "<Code/>");
        let hash = key.split('/').nth(1).unwrap().parse::<ChunkHash>().unwrap();
        if self.chunks.contains_key(&hash) {
            return answer(412).into_response();
        }
        assert_eq!(headers["if-none-match"], "*");
        let sha256 = cellar_api::wire::hexadecimal(&sha2::Sha256::digest(body));
        assert_eq!(headers["x-checksum"].to_str().unwrap(), sha256);
        assert_eq!(headers["content-length"], body.len().to_string());
        self.chunks.insert(hash, StoredChunk { stored: body.to_vec(), kept: false });
        answer(200).into_response()
    }

    pub(super) fn check_chunks(
        &mut self,
        request: &ImportCheckRequest,
    ) -> Result<ImportCheckReply, Problem> {
        let mut checked = 0;
        let mut objects = request.tiles.len();
        for tile in &request.tiles {
            let (hash, bytes) = self.unpacked(tile)?;
            let texts = chunk::decode(&bytes).map_err(|_| refused("no tile"))?.named_texts();
            objects += texts.len();
            self.keep_texts(&texts)?;
            self.keep(hash);
            checked += 1;
        }
        if objects > MAX_IMPORT_OBJECTS && request.tiles.len() > 1 {
            return Err(refused("too many texts"));
        }
        if let Some(index) = &request.tile_index_chunk {
            let (hash, bytes) = self.unpacked(index)?;
            let children = IndexChunk::decode(&bytes).unwrap().children().unwrap().unwrap();
            checked += 1 + self.check_children(&children)?;
            self.keep(hash);
        }
        Ok(ImportCheckReply { checked })
    }

    fn check_children(&mut self, children: &Children) -> Result<u32, Problem> {
        if children.count() > MAX_IMPORT_OBJECTS {
            return Err(refused("too many objects"));
        }
        for tile in &children.tiles {
            let (hash, bytes) = self.unpacked(&named(&tile.chunk))?;
            let decoded = chunk::decode(&bytes).map_err(|_| refused("no tile"))?;
            tile.check(&decoded).map_err(|why| refused(why.to_string()))?;
            if !decoded.named_texts().is_empty() && !self.chunks[&hash].kept {
                return Err(refused("check a tile with long texts by itself"));
            }
            self.keep(hash);
        }
        for child in &children.index {
            let hash = child.chunk.hash;
            if !self.chunks.get(&hash).is_some_and(|chunk| chunk.kept) {
                return Err(incomplete(format!("check {hash} first")));
            }
        }
        Ok(u32::try_from(children.count()).unwrap())
    }

    /// Checks the imports of an append.
    pub(super) fn check_imports<'a>(
        &mut self,
        operations: impl Iterator<Item = &'a Operation>,
    ) -> Result<(), Problem> {
        let mut objects = 0;
        for operation in operations {
            let Operation::ImportSheet(import) = operation else { continue };
            let children = StripeIndex::of_import(&import.tile_index).unwrap().children().unwrap();
            objects += self.check_children(&children)?;
        }
        match usize::try_from(objects).unwrap() {
            0..=MAX_IMPORT_OBJECTS => Ok(()),
            _ => Err(refused("too many objects in one request")),
        }
    }

    fn unpacked(&self, chunk: &UploadedChunk) -> Result<(ChunkHash, Vec<u8>), Problem> {
        let hash: ChunkHash = chunk.hash.parse().unwrap();
        let missing = || incomplete(format!("{hash} is not there: upload it again"));
        let stored = self.chunks.get(&hash).ok_or_else(missing)?;
        assert_eq!(stored.stored.len(), usize::try_from(chunk.bytes).unwrap());
        Ok((hash, unpack(hash, &stored.stored, Bounds::CHUNK).unwrap()))
    }

    fn keep_texts(&mut self, texts: &BTreeSet<NamedText>) -> Result<(), Problem> {
        for named in texts {
            let hash = named.hash;
            let missing = || incomplete(format!("{hash} is not there: upload it again"));
            let stored = self.chunks.get(&hash).ok_or_else(missing)?;
            let text = unpack(hash, &stored.stored, Bounds::TEXT).unwrap();
            named.check(&String::from_utf8(text).unwrap()).unwrap();
            self.keep(hash);
        }
        Ok(())
    }

    fn keep(&mut self, hash: ChunkHash) {
        self.chunks.get_mut(&hash).unwrap().kept = true;
    }

    /// Returns the cells of an imported sheet.
    pub(super) fn cells_of(&self, import: &ImportSheet) -> Vec<((u32, u32), Cell)> {
        let level = PackedLevel { sheets: vec![PackedSheet::of_import(import).unwrap()] };
        let all = self.chunks.iter().filter(|(_, chunk)| chunk.kept);
        let index: BTreeMap<ChunkHash, IndexChunk> = all
            .filter_map(|(hash, chunk)| {
                let bytes = unpack(*hash, &chunk.stored, Bounds::CHUNK).unwrap();
                Some((*hash, IndexChunk::decode(&bytes).ok()?))
            })
            .collect();
        let Lookup::Ready(level) = level.load_all(&|hash| index.get(hash)).unwrap() else {
            panic!("a chunk of the index is missing");
        };
        let mut cells = Vec::new();
        for stripe in level.sheets.iter().flat_map(|sheet| &sheet.stripes) {
            for place in &stripe.tiles {
                let StoredTile::Chunk(chunk) = &place.stored else { panic!("no chunk") };
                let block = self.block(chunk);
                cells.extend(block.cells().map(|found| {
                    let row = place.rows.first + found.row;
                    let column = stripe.columns.first + found.column;
                    let text = found.formula.as_deref().map(str::to_owned);
                    let template = template_at(&block, found.row, found.column);
                    let formula = template
                        .map(|one| one.text_at(CellName { row, column }, &NoSheets))
                        .or(text);
                    let (value, format) = (found.value, found.format.map(str::to_owned));
                    ((row, column), Cell { value, formula, format })
                }));
            }
        }
        assert_eq!(cells.len() as u64, import.cells);
        cells
    }

    /// Decodes a tile with its long texts. Its cells are relative to its top left cell.
    fn block(&self, chunk: &ChunkRef) -> Block {
        let tile = chunk::decode(&self.unpacked(&named(chunk)).unwrap().1).unwrap();
        let mut long_texts = Vec::new();
        for layer in tile.columns.iter().map(|column| &column.values) {
            for value in layer.values() {
                let TileValue::LongText(number) = value else { continue };
                let hash = layer.long_text(*number).unwrap().hash;
                let stored = &self.chunks[&ChunkHash(hash)];
                assert!(stored.kept, "a text was not checked");
                let text = unpack(ChunkHash(hash), &stored.stored, Bounds::CHUNK).unwrap();
                long_texts.push(LongBlockText { hash, text: String::from_utf8(text).unwrap() });
            }
        }
        Block { tile, long_texts }
    }
}

fn named(chunk: &ChunkRef) -> UploadedChunk {
    UploadedChunk { hash: chunk.hash.to_string(), bytes: chunk.bytes }
}

/// Returns the template of a formula, which is independent of the place of the tile.
fn template_at(block: &Block, row: u32, column: u32) -> Option<Template> {
    let of_column = block.tile.columns.iter().find(|one| one.index == column)?;
    Some(Template::decode(of_column.templates.at(row)?.to_owned()).unwrap())
}
