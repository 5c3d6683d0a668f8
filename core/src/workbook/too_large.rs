//! What a workbook has too much of.

use crate::axis_map::Axis;
use crate::limits::{MAX_AXIS_RUNS, MAX_RANGE_FORMATS, MAX_REPLAY_BYTES};
use crate::operation::axis_name;

/// More than one read may hold. The state is a function of the log: it is refused everywhere, at
/// the same operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkbookTooLarge {
    /// More than `MAX_REPLAY_BYTES`.
    #[error(
        "the spreadsheet holds more than {MAX_REPLAY_BYTES} bytes of cells: too many to replay"
    )]
    Cells,
    /// The rows or columns of a sheet are in more than `MAX_AXIS_RUNS` runs.
    #[error(
        "the {} of a sheet were inserted and deleted in more than {MAX_AXIS_RUNS} separate places: \
         too many to replay", axis_name(*.axis)
    )]
    Runs {
        /// Which of them.
        axis: Axis,
    },
    /// More than `MAX_RANGE_FORMATS` in one sheet.
    #[error("a sheet has formats of more than {MAX_RANGE_FORMATS} ranges: too many to replay")]
    Formats,
}
