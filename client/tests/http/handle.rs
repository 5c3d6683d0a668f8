//! The handle of a spreadsheet: cells in one line, and followed changes.

use cellar::editor::{Editor, EditorError};
use cellar::operation::InsertBefore;
use cellar::{
    CellsQuery, FollowEvent, ItemStream, Operation, Position, SheetId, Spreadsheet, Value,
};

use super::block_on;
use super::edits::{Case, set};
use super::fake::Fault;

fn handle(case: &Case) -> Spreadsheet {
    case.fake.client().spreadsheet(case.id)
}

/// Applies an operation as another program.
fn apply_elsewhere(case: &Case, operation: Operation) -> Position {
    let folder = tempfile::tempdir().unwrap();
    block_on(Editor::new(handle(case), folder.path()).apply(operation)).unwrap().position
}

fn insert_row_above() -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 })
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn a_cell_is_set_in_one_line() {
    let case = Case::new();
    let spreadsheet = handle(&case);
    let first = block_on(spreadsheet.set("A1", "42")).unwrap();
    block_on(spreadsheet.set_value("sheet1!$A$2", text("42"))).unwrap();
    assert_eq!(first.position.to_string(), "0.1");
    let query = CellsQuery::of_range("A1:A2").at_or_after(first.position);
    let cells = block_on(spreadsheet.cells(query).collect()).unwrap();
    let values: Vec<_> = cells.into_iter().map(|found| found.cell.value).collect();
    assert_eq!(values, [Value::Number(42.0), text("42")]);
}

#[test]
fn an_invalid_reference_sends_nothing() {
    let case = Case::new();
    for reference in ["", "A1:B2", "A0", "Sheet1!"] {
        let error = block_on(handle(&case).set(reference, "x")).unwrap_err();
        assert!(matches!(error, EditorError::InvalidCell { .. }), "{error}");
    }
    assert_eq!(case.fake.requests(), [""; 0]);
}

#[test]
fn without_a_folder_a_lost_reply_does_not_append_twice() {
    let case = Case::new();
    let spreadsheet = handle(&case);
    block_on(spreadsheet.set("A1", "before")).unwrap();
    case.fake.fail([Fault::Lost]);
    case.fake.fail(std::iter::repeat_n(Fault::Answer(504, String::new()), 4));
    let error = block_on(spreadsheet.set("A2", "lost")).unwrap_err();
    assert!(matches!(error, EditorError::Kept { .. }), "{error}");
    let applied = block_on(spreadsheet.set("A3", "after")).unwrap();
    assert_eq!(applied.earlier_edits, 1);
    assert_eq!(case.texts(), ["before", "lost", "after"]);
}

#[test]
fn an_edit_refers_to_the_cells_that_were_read() {
    let case = Case::new();
    let spreadsheet = handle(&case);
    block_on(spreadsheet.set("A1", "one")).unwrap();
    block_on(spreadsheet.cells(CellsQuery::default()).collect()).unwrap();
    apply_elsewhere(&case, insert_row_above());
    block_on(spreadsheet.set("A1", "changed")).unwrap();
    let base = case.fake.appends().last().unwrap().mutations[0].base;
    assert_eq!(base.to_string(), "0.1", "the position that was read");
    // A new handle has read nothing and refers to the newest state.
    block_on(handle(&case).set("A1", "above")).unwrap();
    let base = case.fake.appends().last().unwrap().mutations[0].base;
    assert_eq!(base.to_string(), "0.3");
}

async fn next(events: &mut ItemStream<FollowEvent>) -> FollowEvent {
    events.try_next().await.unwrap().unwrap()
}

#[test]
fn followed_entries_are_reported_once_and_in_order() {
    let case = Case::new();
    apply_elsewhere(&case, set(0, "one"));
    apply_elsewhere(&case, set(1, "two"));
    block_on(async {
        let mut events = handle(&case).follow(Some(Position::FIRST));
        for expected in ["0.1", "0.2"] {
            let FollowEvent::Entry(entry) = next(&mut events).await else { panic!("no entry") };
            assert_eq!(entry.position.to_string(), expected);
        }
        // More than the attempts of one call, because a request for pokes also takes a fault.
        case.fake.fail(std::iter::repeat_n(Fault::Answer(502, String::new()), 8));
        assert!(matches!(next(&mut events).await, FollowEvent::Offline(_)));
        assert!(matches!(next(&mut events).await, FollowEvent::Online));
        case.fake.lock().incarnations.insert(case.id, 2);
        let FollowEvent::Skipped { to, restored } = next(&mut events).await else {
            panic!("the restore was not reported")
        };
        assert!(restored && to.to_string() == "0.2", "{to}");
    });
}
