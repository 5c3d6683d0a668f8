//! Maps from one state's coordinates to a later one's.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::MAX_AXIS_RUNS;
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{InsertBefore, Operation, SheetId};

/// Map of a workbook; sheets that are not listed are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpaceMap {
    /// Includes the author's new sheets, even if unchanged.
    sheets: BTreeMap<SheetId, SheetMap>,
    /// Numbers of the sheets that exist only in the later state, by any author.
    added: BTreeSet<SheetId>,
    /// Numbers under which the author itself added sheets; these refer to its own sheets, even if
    /// others added one with the same number.
    own: BTreeSet<SheetId>,
}

/// Map of one sheet, its rows and its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetMap {
    /// Number of the sheet in the later state; `None` if the author's new sheet was not added. A
    /// deleted sheet keeps its number: it is never reused, and a map cannot know whether the
    /// deletion was refused because the sheet was the last one.
    pub sheet: Option<SheetId>,
    /// Map of the rows.
    pub rows: AxisMap,
    /// Map of the columns.
    pub columns: AxisMap,
}

impl SheetMap {
    /// Creates the map of an unchanged sheet.
    #[must_use]
    pub fn identity(sheet: SheetId) -> Self {
        let (rows, columns) = (AxisMap::identity(Axis::Rows), AxisMap::identity(Axis::Columns));
        Self { sheet: Some(sheet), rows, columns }
    }

    fn is_identity(&self, sheet: SheetId) -> bool {
        self.sheet == Some(sheet) && self.rows.is_identity() && self.columns.is_identity()
    }

    fn axis_mut(&mut self, axis: Axis) -> &mut AxisMap {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}

impl SpaceMap {
    /// Creates the map of committed operations, in order.
    #[must_use]
    pub fn of(operations: &[Operation]) -> Self {
        let mut map = Self::default();
        for operation in operations.iter().filter(|operation| operation.moves_cells()) {
            map.follow(operation);
        }
        map
    }

    /// Returns the map's effect on cells alone. A stored map needs no more, because it never
    /// transforms an operation that adds a sheet.
    #[must_use]
    pub fn of_cells(&self) -> Self {
        Self::from_sheets(self.sheets.clone())
    }

    /// Returns whether nothing has moved.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.is_empty() && self.added.is_empty() && self.own.is_empty()
    }

    /// Returns the map of a sheet of the older state. A number that is not listed refers to the
    /// same sheet in both states, even if somebody tried to add a sheet with that number since: an
    /// author that names it has seen it.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> SheetMap {
        self.sheets.get(&id).cloned().unwrap_or_else(|| SheetMap::identity(id))
    }

    /// Returns the changed sheets by their number in the older state.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &SheetMap)> {
        self.sheets.iter().map(|(id, map)| (*id, map))
    }

    /// Creates a map from stored sheets.
    #[must_use]
    pub fn from_sheets(sheets: impl IntoIterator<Item = (SheetId, SheetMap)>) -> Self {
        let moved = sheets.into_iter().filter(|(id, map)| !map.is_identity(*id));
        Self { sheets: moved.collect(), ..Self::default() }
    }

    /// Adds the deletion of a sheet of the older state: operations on it have no effect.
    pub(crate) fn drop_sheet(&mut self, id: SheetId) {
        self.sheets.insert(id, SheetMap { sheet: None, ..SheetMap::identity(id) });
    }

    /// Returns the number of a new sheet in the later state: the author's number or, if a new sheet
    /// has it, the next free one. The author's number is above every number of the older state.
    pub(super) fn free_number(&self, wanted: SheetId) -> SheetId {
        let mut number = wanted;
        for _ in self
            .added
            .range(wanted..)
            .zip(wanted.0..=u32::MAX)
            .take_while(|(id, next)| id.0 == *next)
        {
            number = SheetId(number.0.saturating_add(1));
        }
        number
    }

    /// Returns whether a map has too many runs to continue.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        let long = |map: &AxisMap| map.runs().len() > MAX_AXIS_RUNS;
        self.sheets.values().any(|sheet| long(&sheet.rows) || long(&sheet.columns))
    }

    /// Adds one operation in the later coordinates.
    pub fn follow(&mut self, operation: &Operation) {
        match operation {
            Operation::InsertRows(insert) => self.insert(Axis::Rows, insert),
            Operation::InsertColumns(insert) => self.insert(Axis::Columns, insert),
            Operation::DeleteRows(delete) => {
                let map = AxisMap::delete(Axis::Rows, &delete.spans);
                self.follow_axis(Axis::Rows, delete.sheet, &map);
            }
            Operation::DeleteColumns(delete) => {
                let map = AxisMap::delete(Axis::Columns, &delete.spans);
                self.follow_axis(Axis::Columns, delete.sheet, &map);
            }
            Operation::AddSheet(add) => {
                self.added.insert(add.sheet);
            }
            Operation::ImportSheet(import) => {
                self.added.insert(import.sheet);
            }
            Operation::DeleteSheet(_)
            | Operation::SetCells(_)
            | Operation::ClearRange(_)
            | Operation::SetFormat(_)
            | Operation::RenameSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_) => {}
        }
    }

    /// Adds the map `next` of others' operations.
    pub(super) fn follow_map(&mut self, next: &Self) {
        for (sheet, map) in &next.sheets {
            self.follow_axis(Axis::Rows, *sheet, &map.rows);
            self.follow_axis(Axis::Columns, *sheet, &map.columns);
        }
        self.added.extend(&next.added);
    }

    fn insert(&mut self, axis: Axis, insert: &InsertBefore) {
        let map = AxisMap::insert(axis, insert.before, insert.count);
        self.follow_axis(axis, insert.sheet, &map);
    }

    fn follow_axis(&mut self, axis: Axis, target: SheetId, next: &AxisMap) {
        if next.is_identity() {
            return;
        }
        for id in self.sources(target) {
            self.change(id, |map| {
                let axis_map = map.axis_mut(axis);
                *axis_map = axis_map.then(next);
            });
        }
    }

    /// Returns the sheets of the older state that are `target` in the later one: at most one.
    fn sources(&self, target: SheetId) -> Vec<SheetId> {
        let moved = self.sheets.iter().filter(|(_, map)| map.sheet == Some(target));
        let mut sources: Vec<SheetId> = moved.map(|(id, _)| *id).collect();
        // An unlisted sheet keeps its number.
        if !self.sheets.contains_key(&target) {
            sources.push(target);
        }
        sources
    }

    fn change(&mut self, id: SheetId, change: impl FnOnce(&mut SheetMap)) {
        let mut map = self.sheet(id);
        change(&mut map);
        if map.is_identity(id) && !self.own.contains(&id) {
            self.sheets.remove(&id);
        } else {
            self.sheets.insert(id, map);
        }
    }

    /// Adds an author's own mutation: from the author's coordinates after `authored` to the later
    /// coordinates after `committed`. Rows that the author inserted map to the rows that were
    /// committed: `M := authored⁻¹ ∘ M ∘ committed`.
    pub fn follow_own(&mut self, authored: &Operation, committed: &[Operation]) {
        match authored {
            Operation::InsertRows(insert) => self.precede_insert(Axis::Rows, insert),
            Operation::InsertColumns(insert) => self.precede_insert(Axis::Columns, insert),
            Operation::DeleteRows(delete) => {
                let back = AxisMap::delete(Axis::Rows, &delete.spans).reversed();
                self.precede(Axis::Rows, delete.sheet, &back);
            }
            Operation::DeleteColumns(delete) => {
                let back = AxisMap::delete(Axis::Columns, &delete.spans).reversed();
                self.precede(Axis::Columns, delete.sheet, &back);
            }
            _ => {}
        }
        committed.iter().for_each(|operation| self.follow(operation));
        match (authored, committed) {
            (Operation::InsertRows(mine), [Operation::InsertRows(done)]) => {
                self.lead(Axis::Rows, mine, done);
            }
            (Operation::InsertColumns(mine), [Operation::InsertColumns(done)]) => {
                self.lead(Axis::Columns, mine, done);
            }
            (Operation::AddSheet(mine), done) => self.lead_sheet(mine.sheet, done.first()),
            (Operation::ImportSheet(mine), done) => self.lead_sheet(mine.sheet, done.first()),
            _ => {}
        }
    }

    /// Maps the author's number to the sheet that it added itself, or to none if that was not
    /// added.
    fn lead_sheet(&mut self, mine: SheetId, done: Option<&Operation>) {
        // A second sheet with the same number is a mistake of its author.
        if !self.own.insert(mine) {
            return;
        }
        let sheet = match done {
            Some(Operation::AddSheet(done)) => Some(done.sheet),
            Some(Operation::ImportSheet(done)) => Some(done.sheet),
            _ => None,
        };
        self.sheets.insert(mine, SheetMap { sheet, ..SheetMap::identity(mine) });
    }

    fn precede_insert(&mut self, axis: Axis, insert: &InsertBefore) {
        let back = AxisMap::insert(axis, insert.before, insert.count).reversed();
        self.precede(axis, insert.sheet, &back);
    }

    fn precede(&mut self, axis: Axis, sheet: SheetId, back: &AxisMap) {
        self.change(sheet, |map| {
            let axis_map = map.axis_mut(axis);
            *axis_map = back.then(axis_map);
        });
    }

    /// Adds the run from the inserted rows to the committed ones.
    fn lead(&mut self, axis: Axis, mine: &InsertBefore, done: &InsertBefore) {
        let room = axis.limit().saturating_sub(mine.before.max(done.before));
        let len = mine.count.min(done.count).min(room);
        let run = Run { src: mine.before, dst: done.before, len };
        self.change(mine.sheet, |map| {
            let axis_map = map.axis_mut(axis);
            *axis_map = axis_map.clone().with_run(run);
        });
    }
}
