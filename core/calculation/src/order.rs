//! The order in which formulas are calculated.
//!
//! Formulas that wait for the results of other formulas are on a stack. A formula is open from its
//! first evaluation until it has a result. If an evaluation needs an open formula, that formula and
//! all open formulas above it on the stack form a cycle.
//!
//! Some formulas are calculated in advance, before their results are known to be needed. If a cycle
//! contains such a formula, it is not an error: the formula and those above it are removed from the
//! stack.

use crate::workbook::CellKey;

/// A formula on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) key: CellKey,
    /// Whether the result is known to be needed. Otherwise, the formula is calculated in advance.
    is_needed: bool,
    pub(crate) is_open: bool,
    /// Whether formulas that this formula might need may be calculated in advance. Cleared once
    /// doing so has led to a cycle.
    may_prepare: bool,
}

/// The stack of formulas that wait for a result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    stack: Vec<Waiting>,
}

/// The outcome of [`Order::wait_for`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// The needed formulas were pushed and are calculated next.
    Waits,
    /// These formulas form a cycle: each formula needs the next one, and the last needs the first.
    /// They were removed from the stack.
    Cycle(Vec<CellKey>),
    /// These formulas were removed from the stack without a result, because the first of them was
    /// calculated in advance and led to a cycle.
    Abandoned(Vec<CellKey>),
}

impl Order {
    /// Pushes a formula whose result was requested.
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

    /// Makes the formula on top of the stack wait for the `needed` formulas. Only the first of them
    /// is known to be needed. `is_open` returns whether a formula is open.
    pub(crate) fn wait_for(
        &mut self,
        needed: &[CellKey],
        is_open: impl Fn(CellKey) -> bool,
    ) -> Arrangement {
        let Some((first, others)) = needed.split_first() else { return Arrangement::Waits };
        if is_open(*first) {
            let cycle_start =
                self.stack.iter().position(|waiting| waiting.is_open && waiting.key == *first);
            return self.unwind(cycle_start.unwrap_or(0));
        }
        if self.last().is_some_and(|last| last.may_prepare) {
            for key in others.iter().rev().filter(|key| !is_open(**key)) {
                self.push(*key, false);
            }
        }
        self.push(*first, true);
        Arrangement::Waits
    }

    /// Removes a cycle, which extends from the index `cycle_start` to the top of the stack. If the
    /// cycle contains a formula calculated in advance, removes only the formulas from that one on.
    fn unwind(&mut self, cycle_start: usize) -> Arrangement {
        let in_advance = |(index, waiting): (usize, &Waiting)| {
            let is_on_path = index > cycle_start && waiting.is_open && !waiting.is_needed;
            is_on_path.then_some(index)
        };
        let prepared = self.stack.iter().enumerate().find_map(in_advance);
        let start = prepared.unwrap_or(cycle_start);
        let removed = self.stack.split_off(start);
        let open = removed.into_iter().filter(|waiting| waiting.is_open);
        let keys = open.map(|waiting| waiting.key).collect();
        if prepared.is_none() {
            return Arrangement::Cycle(keys);
        }
        // Also remove the formulas that were pushed together with it but not evaluated yet.
        while self.stack.pop_if(|waiting| !waiting.is_open).is_some() {}
        if let Some(last) = self.stack.last_mut() {
            last.may_prepare = false;
        }
        Arrangement::Abandoned(keys)
    }

    /// Removes all formulas and returns the open ones.
    pub(crate) fn clear(&mut self) -> Vec<CellKey> {
        let stack = std::mem::take(&mut self.stack);
        stack.into_iter().filter(|waiting| waiting.is_open).map(|waiting| waiting.key).collect()
    }
}
