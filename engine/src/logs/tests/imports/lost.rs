//! Lost long texts: their cells show an error, and all other cells are readable.

use cellar_base::limits::MAX_LOST_CELLS_AT_ONCE;
use cellar_log::entry::{Edits, Mutation};
use cellar_sheet::cell::ErrorCode;
use cellar_sheet::operation::{DeleteSpans, Spans, Undo};
use cellar_snapshot::tile::NamedText;

use super::texts::{long, named, naming, sheet_of};
use super::*;

const LOST: &str = "#LOST!";

/// A defect of a text's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Missing,
    OtherBytes,
    NoText,
}

const EVERY: [Wrong; 3] = [Wrong::Missing, Wrong::OtherBytes, Wrong::NoText];

impl World {
    /// Imports a sheet with texts in one column, of which the second is lost. Earlier releases
    /// accepted such imports.
    async fn that_lost(wrong: Wrong) -> Self {
        Self::new().await.that_loses(wrong).await
    }

    async fn that_loses(self, wrong: Wrong) -> Self {
        let no_text = vec![0xff; 5_000];
        let mut texts = [named(&long(0)), named(&long(1)), named(&long(2))];
        if wrong == Wrong::NoText {
            texts[1].hash = ChunkHash::of(&no_text);
        }
        let tile = naming(&texts);
        for object in [&tile, &text(0), &text(2)] {
            self.put(object).await;
        }
        match wrong {
            Wrong::Missing => {}
            Wrong::OtherBytes => {
                let stored = text(0).stored;
                let object = PackedObject { chunk: text(1).chunk, stored };
                self.put(&object).await;
            }
            Wrong::NoText => self.put(&pack(&no_text, Bounds::CHUNK).unwrap()).await,
        }
        self.accepted(sheet_of(&tile, 3, FLAT).operation()).await;
        self
    }

    /// Appends an operation that current releases reject.
    async fn accepted(&self, operation: Operation) {
        let mutations =
            vec![Mutation { base: Position::FIRST, authored: operation, committed: None }];
        let edits = Edits { client: CLIENT, name: None, merged: None, first_id: 1, mutations };
        let first = Entry::first(log(), None, self.clock.now_ms() / 1_000);
        let header = Header { summary: None, ..first.header.followed_by(1_000) };
        let entry = Entry { position: at(0, 1), header, content: Content::Edits(edits), ..first };
        assert_eq!(self.tables.put(&entry).await, PutOutcome::Accepted);
    }

    async fn edited_by(&self, client: u8, base: Position, operation: Operation) -> Position {
        let mutations = vec![NewMutation { id: 1, base, operation }];
        let client = ClientKey([client; 8]);
        let request = Request::new(log(), client, None, FIRST_INCARNATION, 0, mutations).unwrap();
        let appended = self.another().append(request).await.unwrap();
        assert_eq!(appended.results[0].rejection, None);
        appended.tail
    }
}

fn text(number: usize) -> PackedObject {
    pack(long(number).as_bytes(), Bounds::TEXT).unwrap()
}

fn set_in(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SHEET, cells: vec![edit] })
}

#[tokio::test]
async fn a_lost_text_affects_only_its_cell() {
    for wrong in EVERY {
        let world = World::that_lost(wrong).await;
        assert_eq!(world.shown().await, [long(0), LOST.to_owned(), long(2)], "{wrong:?}");
        let query = CellsQuery { sheet: SheetName::Number(SHEET), ..everything(None) };
        let read = world.logs.cells(log(), &query).await.unwrap();
        assert_eq!(read.cells[1].cell.value, Value::Error(ErrorCode::Lost));
        // A restored object is readable again: its absence was not cached.
        if wrong != Wrong::NoText {
            world.put(&text(1)).await;
            let again = world.logs.cells(log(), &query).await.unwrap();
            assert_eq!(again.cells[1].cell.value, Value::Text(long(1)));
        }
    }
}

#[tokio::test]
async fn a_deletion_of_a_lost_text_is_diffed_and_undone() {
    for wrong in EVERY {
        let world = World::that_lost(wrong).await;
        let rows = DeleteSpans { sheet: SHEET, spans: Spans::one(0, 2) };
        let deleted = world.edited_by(2, at(0, 1), Operation::DeleteRows(rows)).await;
        assert_eq!(world.shown().await, [long(2)]);
        let changes = world.logs.read_changes(log(), at(0, 1), deleted).await;
        assert!(changes.is_ok(), "{wrong:?}");
        world.edited_by(3, deleted, Operation::Undo(Undo { position: deleted })).await;
        assert_eq!(world.shown().await, [long(0), LOST.to_owned(), long(2)], "{wrong:?}");
    }
}

/// A text is not lost if the store does not respond.
#[tokio::test]
async fn a_temporary_failure_loses_no_text() {
    let requests = {
        let world = World::that_lost(Wrong::Missing).await;
        world.put(&text(1)).await;
        world.shown().await;
        world.blobs.faults.requests()
    };
    let whole = [long(0), long(1), long(2)];
    let mut failed = 0;
    for request in 0..requests {
        let world = World::with_fault(request, Fault::Refused).await.that_loses(Wrong::Missing);
        let world = world.await;
        world.put(&text(1)).await;
        let query = CellsQuery { sheet: SheetName::Number(SHEET), ..everything(None) };
        match world.another().cells(log(), &query).await {
            Ok(read) => {
                let shown: Vec<String> = read.cells.iter().map(|it| it.cell.text()).collect();
                assert_eq!(shown, whole, "{request}");
            }
            Err(LogError::Store(_)) => failed += 1,
            Err(error) => panic!("{request}: {error}"),
        }
    }
    assert!(failed > 0, "no read of a text failed");
}

#[tokio::test]
async fn lost_cells_are_listed_and_replaced_once() {
    for wrong in EVERY {
        let world = World::that_lost(wrong).await;
        let found = world.logs.lost_cells(log()).await.unwrap();
        let [cell] = found.cells.as_slice() else { panic!("{found:?}") };
        assert_eq!((found.at, found.more, cell.sheet), (at(0, 1), false, SHEET));
        assert_eq!((cell.place.to_string().as_str(), cell.sheet_name.as_str()), ("A2", "Imported"));
        assert!(long(1).starts_with(&cell.preview) && !cell.preview.is_empty());
        let why = match wrong {
            Wrong::Missing => "is missing",
            Wrong::OtherBytes | Wrong::NoText => "is damaged",
        };
        assert!(cell.why.contains(why) && cell.why.contains("/chunks/"), "{}", cell.why);

        let replaced = world.logs.replace_lost_cells(log(), "operator").await.unwrap();
        assert_eq!((replaced.cells.len(), replaced.positions.as_slice()), (1, &[at(0, 2)][..]));
        assert_eq!(world.shown().await, [long(0), LOST.to_owned(), long(2)]);
        let again = world.logs.replace_lost_cells(log(), "operator").await.unwrap();
        assert!(again.cells.is_empty() && again.positions.is_empty());
        assert_eq!(world.head().await, at(0, 2));
        // An edit by a user replaces the lost text.
        world.edited_by(2, at(0, 2), set_in(1, "new")).await;
        assert_eq!(world.shown().await, [long(0), "new".to_owned(), long(2)]);
    }
}

#[tokio::test]
async fn concurrent_edits_are_not_replaced() {
    let world = World::that_lost(Wrong::Missing).await;
    let seen = world.logs.lost_cells(log()).await.unwrap().at;
    let edited = world.edited_by(2, seen, set_in(1, "new")).await;
    let client = ClientKey([7; 8]);
    let replacing = set_in(1, LOST);
    let request = Request::directly_after(log(), client, None, FIRST_INCARNATION, seen, replacing);
    let stale = world.logs.append(request).await.unwrap_err();
    assert_eq!(stale, LogError::Refused(Refusal::StaleResolution { newest: edited }));
    assert!(world.logs.lost_cells(log()).await.unwrap().cells.is_empty());
    world.logs.replace_lost_cells(log(), "operator").await.unwrap();
    assert_eq!(world.shown().await, [long(0), "new".to_owned(), long(2)]);
}

#[tokio::test]
async fn bounds_the_lost_cells_of_a_call() {
    let world = World::new().await;
    let most = u32::try_from(MAX_LOST_CELLS_AT_ONCE).unwrap();
    let lost: NamedText = named(&long(1));
    let mut column = TileColumn::new(0);
    for row in 0..=most {
        column.values.push_long_text(row, &lost.preview, lost.hash.0, lost.bytes);
    }
    let tile = packed_tile(&Tile { columns: vec![column] });
    world.put(&tile).await;
    let mut sheet = sheet_of(&tile, MAX_LOST_CELLS_AT_ONCE + 1, FLAT);
    sheet.rows = most + 1;
    world.accepted(sheet.operation()).await;
    for (cells, more) in [(MAX_LOST_CELLS_AT_ONCE, true), (1, false), (0, false)] {
        let replaced = world.logs.replace_lost_cells(log(), "operator").await.unwrap();
        assert_eq!((replaced.cells.len(), replaced.more), (cells, more));
    }
}
