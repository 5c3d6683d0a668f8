//! Hot paths of Cellar on fixed inputs. `tests/instructions.rs` counts their instructions with
//! Valgrind, and compares them with the stored counts.

mod appends;
mod cells;
mod files;
mod formulas;
mod snapshots;

/// Reason why a path could not run.
pub type Failure = Box<dyn std::error::Error>;

/// A path that is ready to run. The preparation is not counted. The returned number depends on the
/// result, so that the compiler cannot leave the work out.
pub type PreparedPath = Box<dyn FnOnce() -> Result<usize, Failure>>;

/// Prepares a path.
pub type PreparePath = fn() -> Result<PreparedPath, Failure>;

/// All paths by name.
pub const HOT_PATHS: [(&str, PreparePath); 12] = [
    ("encode-tile", snapshots::encode_tile),
    ("decode-tile", snapshots::decode_tile),
    ("fold-edits", snapshots::fold_edits),
    ("far-window", snapshots::far_window),
    ("append-edits", appends::append_edits),
    ("append-past-inserted-rows", appends::append_past_inserted_rows),
    ("import-csv", files::import_csv),
    ("export-csv", files::export_csv),
    ("parse-formulas", formulas::parse_formulas),
    ("calculate-formulas", formulas::calculate_formulas),
    ("cells-to-json", cells::cells_to_json),
    ("display-cells", cells::display_cells),
];

/// Runs a path. Valgrind counts the instructions of this function only.
#[inline(never)]
pub fn run_counted_path(path: PreparedPath) -> Result<usize, Failure> {
    path()
}
