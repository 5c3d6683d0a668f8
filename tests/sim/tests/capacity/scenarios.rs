//! The loads of the capacity guide.

use super::editors::Habits;
use super::limits::Limits;
use super::load::Load;

/// Time in which the functions of a stack start, before the measurement begins.
const WARM_UP_S: f64 = 10.0;
const MEASURED_S: f64 = 30.0;
const SHEETS: usize = 5_000;
const EDITORS_PER_SHEET: u32 = 2;
pub(super) const EDITORS: f64 = 10_000.0;

/// 10,000 editors on 5,000 sheets that are open.
pub(super) fn many_sheets(edits_per_s: f64, limits: Limits) -> Load {
    let habits = working(edits_per_s, MEASURED_S);
    Load { sheets: SHEETS, editors_per_sheet: EDITORS_PER_SHEET, habits, limits }
}

/// Editors of one sheet that is open.
pub(super) fn one_sheet(editors: u32, edits_per_s: f64) -> Load {
    let habits = working(edits_per_s, MEASURED_S);
    Load { sheets: 1, editors_per_sheet: editors, habits, limits: Limits::default() }
}

/// 10,000 editors who open their sheets within some seconds, and edit now and then.
pub(super) fn morning(open_within_s: f64, limits: Limits) -> Load {
    let habits = Habits {
        edits_per_s: 0.05,
        for_s: open_within_s + MEASURED_S,
        open_within_s: Some(open_within_s),
        measured_from_s: 0.0,
    };
    Load { sheets: SHEETS, editors_per_sheet: EDITORS_PER_SHEET, habits, limits }
}

fn working(edits_per_s: f64, measured_s: f64) -> Habits {
    Habits {
        edits_per_s,
        for_s: WARM_UP_S + measured_s,
        open_within_s: None,
        measured_from_s: WARM_UP_S,
    }
}

/// Edits per second of each editor in a sweep.
pub(super) const SWEPT_RATES: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

/// Settings of a sweep. Each step raises the limit that the one before reaches first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) limits: Limits,
}

pub(super) fn steps() -> [Step; 5] {
    let new_account = Limits { functions: 10, ..Limits::default() };
    let more_functions = Limits { functions: 10_000, ..Limits::default() };
    let warm_tables = Limits { partitions: 40, ..more_functions };
    let rarer_snapshots = Limits { snapshot_entries: 10_000, ..warm_tables };
    [
        Step { name: "new account: 10 concurrent functions", limits: new_account },
        Step { name: "default limits: 1,000 concurrent functions", limits: Limits::default() },
        Step { name: "10,000 concurrent functions", limits: more_functions },
        Step { name: "and tables with 40,000 warm write units", limits: warm_tables },
        Step { name: "and `snapshots.entries: 10000`", limits: rarer_snapshots },
    ]
}
