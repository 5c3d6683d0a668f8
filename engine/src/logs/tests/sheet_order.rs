//! The order of tabs after sheets were deleted and restored.

use std::collections::BTreeMap;

use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::random::import_of;
use cellar_sheet::operation::{AddSheet, DeleteSheet, ImportSheet, RenameSheet, Revert, Undo};
use proptest::collection::vec;
use proptest::prelude::*;

use super::changes::mutation;
use super::*;
use crate::logs::sheet_places::changes_tabs;

const FIRST: &str = "Sheet1";

/// A log whose entries have one mutation each.
pub(super) struct Edited {
    pub(super) logs: Logs,
    pub(super) tail: Position,
    pub(super) next_id: u64,
}

impl Edited {
    /// Creates a log with the sheets Sheet1, B and C.
    pub(super) async fn three_sheets() -> Self {
        let logs = logs(&Arc::new(MemoryTables::default()));
        logs.create(log(), None).await.unwrap();
        let mut edited = Self { logs, tail: Position::FIRST, next_id: 1 };
        edited.add("B", None).await;
        edited.add("C", None).await;
        edited
    }

    /// Returns the position of the entry.
    pub(super) async fn append(&mut self, operation: Operation) -> Position {
        let request = mutation(1, self.next_id, self.tail, operation.clone());
        let appended = match operation {
            // The objects of an import are not checked.
            Operation::ImportSheet(_) => self.logs.append_unchecked(request).await.unwrap(),
            _ => self.logs.append(request).await.unwrap(),
        };
        assert_eq!(appended.results[0].rejection, None);
        (self.tail, self.next_id) = (appended.tail, self.next_id + 1);
        appended.tail
    }

    pub(super) async fn tabs(&self) -> Tabs {
        self.logs.workbook(log(), None, None).await.unwrap().workbook.tabs().clone()
    }

    pub(super) async fn order(&self) -> Vec<String> {
        let tabs = self.tabs().await;
        tabs.order().iter().map(|sheet| tabs.name(*sheet).unwrap().to_owned()).collect()
    }

    pub(super) async fn add(&mut self, name: &str, before: Option<&str>) -> Position {
        let tabs = self.tabs().await;
        let before = before.map(|before| tabs.named(before).unwrap());
        let (sheet, name) = (tabs.next_sheet(), name.to_owned());
        self.append(Operation::AddSheet(AddSheet { sheet, name, before })).await
    }

    pub(super) async fn delete(&mut self, name: &str) -> Position {
        let sheet = self.tabs().await.named(name).unwrap();
        self.append(Operation::DeleteSheet(DeleteSheet { sheet })).await
    }

    pub(super) async fn replace(&mut self, name: &str) -> Position {
        let tabs = self.tabs().await;
        let (sheet, replaces) = (tabs.next_sheet(), tabs.named(name));
        let import = import_of(cellar_sheet::metadata::Extent::default());
        let import = ImportSheet { sheet, replaces, name: name.to_owned(), cells: 0, ..import };
        self.append(Operation::ImportSheet(import)).await
    }

    pub(super) async fn undo(&mut self, position: Position) -> Position {
        self.append(Operation::Undo(Undo { position })).await
    }

    pub(super) async fn revert(&mut self, sheet: Option<SheetId>, to: Position) -> Position {
        self.append(Operation::Revert(Revert { sheet, ..Revert::whole(to) })).await
    }
}

#[tokio::test]
async fn deleted_sheets_come_back_in_their_order_whichever_is_undone_first() {
    for first_deleted in ["B", FIRST] {
        for undo_in_reverse in [true, false] {
            let mut edited = Edited::three_sheets().await;
            let last_deleted = if first_deleted == "B" { FIRST } else { "B" };
            let first = edited.delete(first_deleted).await;
            let last = edited.delete(last_deleted).await;
            let order = if undo_in_reverse { [last, first] } else { [first, last] };
            for position in order {
                edited.undo(position).await;
            }
            let what = format!("{first_deleted} was deleted first, {undo_in_reverse}");
            assert_eq!(edited.order().await, [FIRST, "B", "C"], "{what}");
        }
    }
}

#[tokio::test]
async fn deleted_sheets_come_back_in_their_order_whichever_is_reverted_first() {
    for sheets in [[0, 1], [1, 0]] {
        let mut edited = Edited::three_sheets().await;
        let complete = edited.tail;
        edited.delete("B").await;
        edited.delete(FIRST).await;
        for sheet in sheets {
            edited.revert(Some(SheetId(sheet)), complete).await;
        }
        assert_eq!(edited.order().await, [FIRST, "B", "C"], "{sheets:?}");
    }
    let mut edited = Edited::three_sheets().await;
    let complete = edited.tail;
    edited.delete("B").await;
    edited.delete(FIRST).await;
    edited.revert(None, complete).await;
    assert_eq!(edited.order().await, [FIRST, "B", "C"]);
}

#[tokio::test]
async fn a_replaced_sheet_comes_back_at_its_place() {
    for by_undo in [true, false] {
        let mut edited = Edited::three_sheets().await;
        let Operation::SetCells(cells) = set(0, "rent") else { panic!() };
        let in_b = Operation::SetCells(SetCells { sheet: SheetId(1), ..cells });
        let complete = edited.append(in_b).await;
        edited.replace("B").await;
        let deleted = edited.delete(FIRST).await;
        if by_undo {
            edited.undo(deleted).await;
        } else {
            edited.revert(Some(SheetId::FIRST), complete).await;
        }
        assert_eq!(edited.order().await, [FIRST, "B", "C"]);
        edited.revert(Some(SheetId(1)), complete).await;
        assert_eq!(edited.order().await, [FIRST, "B", "C"], "{by_undo}");
    }
}

#[tokio::test]
async fn a_sheet_that_was_restored_under_another_name_keeps_its_place() {
    let mut edited = Edited::three_sheets().await;
    let first = edited.delete(FIRST).await;
    let second = edited.delete("B").await;
    edited.undo(first).await;
    let sheet = edited.tabs().await.named(FIRST).unwrap();
    edited.append(Operation::RenameSheet(RenameSheet { sheet, name: "A".to_owned() })).await;
    edited.undo(second).await;
    assert_eq!(edited.order().await, ["A", "B", "C"]);
}

#[tokio::test]
async fn the_search_for_places_reads_a_limited_number_of_entries() {
    let mut edited = Edited::three_sheets().await;
    let first = edited.delete(FIRST).await;
    let second = edited.delete("B").await;
    edited.undo(first).await;
    // The undo needs the entries from `first` on, which are 3.
    for (max_entries, is_found) in [(2, false), (3, true)] {
        let range = (second, edited.tail);
        let history =
            edited.logs.bounded_entry_history(log(), range, changes_tabs, max_entries).await;
        let found = history.unwrap().map(|history| (history.first, history.oldest));
        assert_eq!(found, is_found.then_some((first, first)), "{max_entries}");
    }
}

/// A random step. Numbers select a sheet or an earlier entry.
#[derive(Debug, Clone)]
enum Step {
    Add { before: Option<usize> },
    Delete(usize),
    Replace(usize),
    Undo(usize),
    Revert(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => proptest::option::of(any::<usize>()).prop_map(|before| Step::Add { before }),
        4 => any::<usize>().prop_map(Step::Delete),
        1 => any::<usize>().prop_map(Step::Replace),
        3 => any::<usize>().prop_map(Step::Undo),
        2 => any::<usize>().prop_map(Step::Revert),
    ]
}

/// The names of all sheets in the order that they would have if none had been deleted.
struct Model {
    edited: Edited,
    order: Vec<String>,
    /// The deletions that are in effect, by the name of the sheet: the position before, the position
    /// of the deletion, and the number of the sheet.
    deleted: BTreeMap<String, (Position, Position, SheetId)>,
}

impl Model {
    fn chosen(choices: &[String], number: usize) -> &String {
        &choices[number % choices.len()]
    }

    async fn step(&mut self, step: &Step) {
        let live = self.edited.order().await;
        let deleted: Vec<String> = self.deleted.keys().cloned().collect();
        match step {
            Step::Add { before } => {
                let name = format!("S{}", self.order.len());
                let before = before.map(|number| Self::chosen(&live, number).clone());
                let index = self.order.iter().position(|other| Some(other) == before.as_ref());
                self.order.insert(index.unwrap_or(self.order.len()), name.clone());
                self.edited.add(&name, before.as_deref()).await;
            }
            Step::Delete(number) if live.len() > 1 => {
                let name = Self::chosen(&live, *number).clone();
                let (before, sheet) = (self.edited.tail, self.edited.tabs().await.named(&name));
                let position = self.edited.delete(&name).await;
                self.deleted.insert(name, (before, position, sheet.unwrap()));
            }
            Step::Replace(number) => {
                self.edited.replace(Self::chosen(&live, *number)).await;
            }
            Step::Undo(number) if !deleted.is_empty() => {
                let name = Self::chosen(&deleted, *number);
                let (_, position, _) = self.deleted.remove(name).unwrap();
                self.edited.undo(position).await;
            }
            Step::Revert(number) if !deleted.is_empty() => {
                let name = Self::chosen(&deleted, *number);
                let (before, _, sheet) = self.deleted.remove(name).unwrap();
                self.edited.revert(Some(sheet), before).await;
            }
            _ => {}
        }
        let live = |name: &&String| !self.deleted.contains_key(*name);
        let expected: Vec<&String> = self.order.iter().filter(live).collect();
        assert_eq!(self.edited.order().await.iter().collect::<Vec<_>>(), expected, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn all_sheets_keep_their_order_whenever_they_are_deleted_and_restored(
        steps in vec(any_step(), 1..14),
        undone_last in any::<usize>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let edited = Edited::three_sheets().await;
            let order = edited.order().await;
            let mut model = Model { edited, order, deleted: BTreeMap::new() };
            for step in &steps {
                model.step(step).await;
            }
            while !model.deleted.is_empty() {
                model.step(&Step::Undo(undone_last)).await;
            }
            assert_eq!(model.edited.order().await, model.order);
        });
    }
}
