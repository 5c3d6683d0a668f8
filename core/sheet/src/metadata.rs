//! The outline of a workbook: all of its state but the cells.
//!
//! Formats of ranges grow when rows are inserted inside, so where they are depends on each step, not
//! only on where rows went: they are kept whole and moved entry by entry, and are in no level.

use std::collections::BTreeMap;

use crate::operation::SheetId;
use crate::workbook::{Extent, FormatLayer, Tabs};

/// What a snapshot's root says of the workbook.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Which sheets there are.
    pub tabs: Tabs,
    /// Each of them.
    pub sheets: BTreeMap<SheetId, SheetOutline>,
}

/// A sheet without its cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SheetOutline {
    /// How far it was ever written to.
    pub extent: Extent,
    /// The formats of its ranges.
    pub formats: FormatLayer,
}

impl Default for Outline {
    fn default() -> Self {
        let sheets = BTreeMap::from([(SheetId::FIRST, SheetOutline::default())]);
        Self { tabs: Tabs::default(), sheets }
    }
}
