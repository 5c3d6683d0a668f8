//! Where everything of one space stands in a later one.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::MAX_AXIS_RUNS;
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{InsertBefore, Operation, SheetId};

/// A map of a workbook: what is not listed has not moved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpaceMap {
    /// The author's own new sheets are listed even if they have not moved.
    sheets: BTreeMap<SheetId, SheetMap>,
    /// Numbers of sheets that are new in the later space, whoever added them.
    added: BTreeSet<SheetId>,
    /// Numbers under which the author itself added sheets: these are its own, whoever else has
    /// added one of that number.
    own: BTreeSet<SheetId>,
}

/// Where one sheet and its rows and columns are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetMap {
    /// The sheet's number in the later space; `None` for a new sheet of the author's that was not
    /// added. A deleted sheet keeps its number: it is never reused, and the last sheet of a
    /// workbook is not deleted, which no map can know.
    pub sheet: Option<SheetId>,
    /// Its rows.
    pub rows: AxisMap,
    /// Its columns.
    pub columns: AxisMap,
}

impl SheetMap {
    /// A sheet that has not moved.
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
    /// What committed operations, one after the other, do to the space.
    #[must_use]
    pub fn of(operations: &[Operation]) -> Self {
        let mut map = Self::default();
        for operation in operations.iter().filter(|operation| operation.moves_cells()) {
            map.follow(operation);
        }
        map
    }

    /// What it does to cells alone: for a map that is stored, which moves no operation that adds
    /// a sheet.
    #[must_use]
    pub fn of_cells(&self) -> Self {
        Self::from_sheets(self.sheets.clone())
    }

    /// Whether nothing has moved.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.is_empty() && self.added.is_empty() && self.own.is_empty()
    }

    /// Where a sheet of the older space is. A number that is not listed means the same sheet in both
    /// spaces, even if somebody has tried to add one of that number since: whoever names it has
    /// seen it.
    #[must_use]
    pub fn sheet(&self, id: SheetId) -> SheetMap {
        self.sheets.get(&id).cloned().unwrap_or_else(|| SheetMap::identity(id))
    }

    /// The sheets that have moved, by their number in the older space.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &SheetMap)> {
        self.sheets.iter().map(|(id, map)| (*id, map))
    }

    /// A map of these sheets, for a map that was stored.
    #[must_use]
    pub fn from_sheets(sheets: impl IntoIterator<Item = (SheetId, SheetMap)>) -> Self {
        let moved = sheets.into_iter().filter(|(id, map)| !map.is_identity(*id));
        Self { sheets: moved.collect(), ..Self::default() }
    }

    /// Goes on past the deletion of a sheet of the older space: nothing for it has an effect.
    pub(crate) fn drop_sheet(&mut self, id: SheetId) {
        self.sheets.insert(id, SheetMap { sheet: None, ..SheetMap::identity(id) });
    }

    /// The number that a new sheet gets in the later space: the author's, or if a new sheet has
    /// it, the next that none has. The author's is above every number of the older space.
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

    /// Whether one of the maps has more runs than are worth carrying on.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        let long = |map: &AxisMap| map.runs().len() > MAX_AXIS_RUNS;
        self.sheets.values().any(|sheet| long(&sheet.rows) || long(&sheet.columns))
    }

    /// Goes on past one operation in the later space.
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

    /// Goes on past what others committed, of which `next` is the map.
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

    /// The sheets of the older space that are `target` in the later: one, or none.
    fn sources(&self, target: SheetId) -> Vec<SheetId> {
        let moved = self.sheets.iter().filter(|(_, map)| map.sheet == Some(target));
        let mut sources: Vec<SheetId> = moved.map(|(id, _)| *id).collect();
        // One of the same number that has not moved.
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

    /// Goes on past an author's own mutation: from the author's space behind `authored` to the
    /// later space behind `committed`. What the author inserted leads to where it was committed
    /// (design `4-sync.md` §3: `M := authored⁻¹ ∘ M ∘ committed`).
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

    /// The author's number means the sheet that it added itself, or none if it was not added.
    fn lead_sheet(&mut self, mine: SheetId, done: Option<&Operation>) {
        // A second one of the same number is nothing but a mistake of its author's.
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

    /// The run from what the author inserted to what was committed of it.
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
