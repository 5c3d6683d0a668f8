//! The order in which formulas are calculated.
//!
//! Formulas that wait for the results of other formulas are on a stack. A formula is open from its
//! first evaluation until it has a result. If an evaluation needs an open formula, that formula and
//! all open formulas above it on the stack form a cycle.
//!
//! Some formulas are calculated in advance, before their results are known to be needed. If a cycle
//! contains such a formula, it is not an error: the formula and those above it are removed from the
//! stack.

//!
//! A segment on the stack can have several cells, which are evaluated together. If such a segment
//! is in a cycle, this does not mean that one of its cells is. So its cells are then evaluated one
//! by one.

use crate::segment::Segment;
use crate::workbook::CellKey;

/// Formulas on the stack that are evaluated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) segment: Segment,
    /// Whether the result is known to be needed. Otherwise, the formula is calculated in advance.
    is_needed: bool,
    pub(crate) is_open: bool,
    /// Whether formulas that this formula might need may be calculated in advance. Cleared once
    /// doing so has led to a cycle.
    may_prepare: bool,
    /// How often the segment has waited for formulas.
    waits: u32,
    /// Whether the columns of the segment could not be evaluated at once.
    pub(crate) is_by_rows: bool,
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
    Abandoned(Vec<Segment>),
    /// These segments were removed from the stack without a result, because the first of them has
    /// several cells and is in a cycle of segments.
    Split(Vec<Segment>),
}

impl Order {
    /// Pushes formulas whose results were requested.
    pub(crate) fn push_requested(&mut self, segment: Segment) {
        self.push(segment, true);
    }

    fn push(&mut self, segment: Segment, is_needed: bool) {
        let (is_open, may_prepare, waits, is_by_rows) = (false, true, 0, false);
        self.stack.push(Waiting { segment, is_needed, is_open, may_prepare, waits, is_by_rows });
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

    /// Replaces the segment on top of the stack, which is not open, by parts of it.
    pub(crate) fn replace_last(&mut self, parts: &[Segment]) {
        if let Some(last) = self.stack.pop() {
            parts.iter().rev().for_each(|part| self.push(*part, last.is_needed));
        }
    }

    /// Removes the rows above `first_row` from the segment on top of the stack.
    pub(crate) fn advance_last(&mut self, first_row: u32) {
        if let Some(last) = self.stack.last_mut() {
            last.segment.first_row = first_row;
        }
    }

    /// Has the rows of the segment on top of the stack evaluated one after the other.
    pub(crate) fn evaluate_last_by_rows(&mut self) {
        if let Some(last) = self.stack.last_mut() {
            last.is_by_rows = true;
        }
    }

    /// Makes the formulas on top of the stack wait for the `needed` formulas. The formula in
    /// `needed_cell` is known to be needed, and the others are calculated in advance. `is_open`
    /// returns whether a formula is open.
    pub(crate) fn wait_for(
        &mut self,
        needed_cell: CellKey,
        needed: &[Segment],
        is_open: impl Fn(CellKey) -> bool,
    ) -> Arrangement {
        /// Maximum number of times that a segment of several cells waits.
        const MAX_WAITS: u32 = 8;
        let Some((first, others)) = needed.split_first() else { return Arrangement::Waits };
        if is_open(needed_cell) {
            let is_start =
                |waiting: &Waiting| waiting.is_open && waiting.segment.contains(needed_cell);
            let cycle_start = self.stack.iter().position(is_start);
            return self.unwind(cycle_start.unwrap_or(0));
        }
        let Some(last) = self.stack.last_mut() else { return Arrangement::Waits };
        last.waits += 1;
        if !last.segment.is_cell() && last.waits > MAX_WAITS {
            return self.split(self.stack.len() - 1);
        }
        if last.may_prepare {
            for other in others.iter().rev().filter(|other| !is_open(other.first())) {
                self.push(*other, false);
            }
            // Of several cells, not all are known to be needed.
            self.push(*first, first.is_cell());
        } else {
            self.push(Segment::cell(needed_cell), true);
        }
        Arrangement::Waits
    }

    /// Has the cells of the segment on top of the stack evaluated one by one.
    pub(crate) fn split_last(&mut self) -> Arrangement {
        self.split(self.stack.len().saturating_sub(1))
    }

    /// Removes a cycle, which extends from the index `cycle_start` to the top of the stack. If the
    /// cycle contains a segment of several cells, removes only the segments from that one on. If it
    /// contains a formula calculated in advance, removes only the formulas from that one on.
    fn unwind(&mut self, cycle_start: usize) -> Arrangement {
        let is_several = |waiting: &Waiting| waiting.is_open && !waiting.segment.is_cell();
        let several = self.stack.iter().skip(cycle_start).position(is_several);
        if let Some(offset) = several {
            return self.split(cycle_start + offset);
        }
        let in_advance = |(index, waiting): (usize, &Waiting)| {
            let is_on_path = index > cycle_start && waiting.is_open && !waiting.is_needed;
            is_on_path.then_some(index)
        };
        let prepared = self.stack.iter().enumerate().find_map(in_advance);
        let start = prepared.unwrap_or(cycle_start);
        let open = self.remove_from(start);
        if prepared.is_none() {
            return Arrangement::Cycle(open.into_iter().map(Segment::first).collect());
        }
        // Also remove the formulas that were pushed together with it but not evaluated yet.
        while self.stack.pop_if(|waiting| !waiting.is_open).is_some() {}
        if let Some(last) = self.stack.last_mut() {
            last.may_prepare = false;
        }
        Arrangement::Abandoned(open)
    }

    /// Removes the segments from the index `start` on. The first of them is requested again if no
    /// formula waits for it.
    fn split(&mut self, start: usize) -> Arrangement {
        let first = self.stack.get(start).copied();
        let open = self.remove_from(start);
        let has_reader = self.stack.iter().any(|waiting| waiting.is_open);
        if has_reader {
            while self.stack.pop_if(|waiting| !waiting.is_open).is_some() {}
        } else if let Some(first) = first {
            self.push_requested(first.segment);
        }
        Arrangement::Split(open)
    }

    /// Removes the segments from the index `start` on and returns the open ones.
    fn remove_from(&mut self, start: usize) -> Vec<Segment> {
        let removed = self.stack.split_off(start);
        let open = removed.into_iter().filter(|waiting| waiting.is_open);
        open.map(|waiting| waiting.segment).collect()
    }

    /// Removes all formulas and returns the open ones.
    pub(crate) fn clear(&mut self) -> Vec<Segment> {
        self.remove_from(0)
    }
}
