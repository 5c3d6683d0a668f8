//! The order in which formulas are calculated.
//!
//! Formulas wait on a stack for the formulas that they need. A formula is open from its first
//! evaluation until it has a result. If an open formula is needed again, the formulas between form
//! a cycle, unless one of them was only calculated in advance.

use crate::workbook::CellKey;

/// A formula on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) key: CellKey,
    /// Whether the formula above certainly needs the result. Otherwise it is calculated in advance.
    is_needed: bool,
    pub(crate) is_open: bool,
    /// Whether formulas may be calculated in advance for this one. Not after a cycle was found that
    /// goes through one of them.
    may_prepare: bool,
}

/// Formulas that wait for a result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    stack: Vec<Waiting>,
}

/// The effect of a formula that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// The needed formulas are calculated next.
    Waits,
    /// The formulas from the needed one to the one that needs it form a cycle, in this order. They
    /// have left the stack.
    Cycle(Vec<CellKey>),
    /// These formulas have left the stack without a result, because they were calculated in advance
    /// and led to a cycle.
    Abandoned(Vec<CellKey>),
}

impl Order {
    /// Adds a formula that is calculated for the request.
    pub(crate) fn push_requested(&mut self, key: CellKey) {
        self.push(key, true);
    }

    fn push(&mut self, key: CellKey, is_needed: bool) {
        self.stack.push(Waiting { key, is_needed, is_open: false, may_prepare: true });
    }

    pub(crate) fn last(&self) -> Option<Waiting> {
        self.stack.last().copied()
    }

    pub(crate) fn open_last(&mut self) {
        if let Some(last) = self.stack.last_mut() {
            last.is_open = true;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.stack.pop()
    }

    /// Lets the last formula wait for the formulas that it needs, of which only the first is needed
    /// for certain. `is_open` returns whether a formula is open.
    pub(crate) fn wait_for(
        &mut self,
        needed: &[CellKey],
        is_open: impl Fn(CellKey) -> bool,
    ) -> Arrangement {
        let Some((first, others)) = needed.split_first() else { return Arrangement::Waits };
        if is_open(*first) {
            let place =
                self.stack.iter().position(|waiting| waiting.is_open && waiting.key == *first);
            return self.unwind(place.unwrap_or(0));
        }
        if self.last().is_some_and(|last| last.may_prepare) {
            for key in others.iter().rev().filter(|key| !is_open(**key)) {
                self.push(*key, false);
            }
        }
        self.push(*first, true);
        Arrangement::Waits
    }

    /// Removes the formulas after the needed one, at `place` on the stack.
    fn unwind(&mut self, place: usize) -> Arrangement {
        let in_advance = |(index, waiting): (usize, &Waiting)| {
            let is_on_path = index > place && waiting.is_open && !waiting.is_needed;
            is_on_path.then_some(index)
        };
        let prepared = self.stack.iter().enumerate().find_map(in_advance);
        let start = prepared.unwrap_or(place);
        let removed = self.stack.split_off(start);
        let open = removed.into_iter().filter(|waiting| waiting.is_open);
        let keys = open.map(|waiting| waiting.key).collect();
        if prepared.is_none() {
            return Arrangement::Cycle(keys);
        }
        // The formulas that were prepared beside it have not been evaluated.
        while self.stack.pop_if(|waiting| !waiting.is_open).is_some() {}
        if let Some(last) = self.stack.last_mut() {
            last.may_prepare = false;
        }
        Arrangement::Abandoned(keys)
    }

    /// Removes all formulas, and returns those that were open.
    pub(crate) fn clear(&mut self) -> Vec<CellKey> {
        let stack = std::mem::take(&mut self.stack);
        stack.into_iter().filter(|waiting| waiting.is_open).map(|waiting| waiting.key).collect()
    }
}
