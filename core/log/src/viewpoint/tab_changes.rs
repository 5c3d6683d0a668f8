//! Changes to the names and the order of sheets.

use cellar_base::position::Position;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::Operation;

/// Operations that add, rename or delete sheets, in log order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TabChanges {
    changes: Vec<TabChange>,
}

#[derive(Debug, Clone, PartialEq)]
struct TabChange {
    position: Position,
    /// The operation as the client saw it, if it is one of the client's own mutations.
    seen: Option<Operation>,
    committed: Vec<Operation>,
}

impl TabChanges {
    pub(super) fn add(
        &mut self,
        position: Position,
        seen: Option<&Operation>,
        committed: &[Operation],
    ) {
        let seen = seen.filter(|operation| operation.changes_tabs()).cloned();
        let committed = committed.iter().filter(|operation| operation.changes_tabs());
        let committed: Vec<Operation> = committed.cloned().collect();
        if seen.is_some() || !committed.is_empty() {
            self.changes.push(TabChange { position, seen, committed });
        }
    }

    pub(super) fn last_position(&self) -> Option<Position> {
        self.changes.last().map(|change| change.position)
    }

    /// Returns the tabs that the client saw at `base`, and the tabs after the last change.
    /// `start_tabs` are the tabs at the position `start`.
    pub(super) fn seen_and_latest(
        &self,
        start: Position,
        start_tabs: &Tabs,
        base: Position,
    ) -> (Tabs, Tabs) {
        let (mut seen, mut latest) = (start_tabs.clone(), start_tabs.clone());
        for change in self.changes.iter().filter(|change| change.position > start) {
            if change.position <= base {
                change.committed.iter().for_each(|operation| seen.apply(operation));
            }
            change.committed.iter().for_each(|operation| latest.apply(operation));
        }
        let own = self.changes.iter().filter(|change| change.position > base);
        own.filter_map(|change| change.seen.as_ref()).for_each(|operation| seen.apply(operation));
        (seen, latest)
    }
}
