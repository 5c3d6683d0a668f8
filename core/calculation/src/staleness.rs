//! Reasons why formulas are stale.

use std::sync::Arc;

use cellar_base::limits::MAX_CALCULATION_LONG_TEXTS;
use cellar_functions::SyntaxError;
use cellar_functions::limits::LimitExceeded;

use crate::budget::Exhausted;
use crate::workbook::{CalculatedWorkbook, CellKey};

/// The reason why a formula is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Staleness {
    cause: Arc<StaleCause>,
    /// The stale formula that this formula reads, or `None` if the cause lies in this formula or in
    /// its request.
    read: Option<CellKey>,
}

/// The reason why a formula was not calculated or its result cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StaleCause {
    /// The request reached a limit.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The evaluation of the formula reached a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// The text is not a valid formula.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error("the formula reads more than {MAX_CALCULATION_LONG_TEXTS} long texts")]
    LongTexts,
    #[error(
        "the result is an array of {rows} × {columns} values, which this formula cannot show; \
         use a function that returns one value, such as INDEX or SUM"
    )]
    Array { rows: usize, columns: usize },
    #[error("its result may fill a cell that this formula reads")]
    UnknownSpill,
}

impl Staleness {
    /// Creates the staleness of a formula whose cause lies in the formula itself or in its request.
    pub(crate) fn because_of(cause: impl Into<StaleCause>) -> Self {
        Self { cause: Arc::new(cause.into()), read: None }
    }

    /// Returns the staleness of a formula that reads the stale formula in the cell `read`.
    pub(crate) fn of_reader(&self, read: CellKey) -> Self {
        Self { cause: Arc::clone(&self.cause), read: Some(read) }
    }

    /// Returns a message that explains why the formula in the cell `own` is stale.
    pub(crate) fn note(&self, workbook: &CalculatedWorkbook, own: CellKey) -> Arc<str> {
        let cause = &self.cause;
        Arc::from(match self.read {
            None => format!("not calculated: {cause}"),
            Some(read) => {
                let read = workbook.cell_text(own, read);
                format!("not calculated: {read} is not calculated: {cause}")
            }
        })
    }
}
