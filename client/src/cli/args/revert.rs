use cellar_sheet::a1::Range;
use clap::Args;

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
All sheets return to their state at the position, or only the sheet of --sheet or the cells of --range. The command \
appends one entry and deletes nothing: `cellar undo` undoes it like any edit. If nothing differs, it appends no \
entry. Edits that others are making meanwhile are applied to the reverted state.

A sheet that was deleted or replaced since then is recovered at its place. A range keeps the \
rows and columns that were inserted since then; their cells are cleared. A revert that does not fit one entry is \
refused; fork the spreadsheet at the position instead.

Examples:
  cellar history                     # list the positions
  cellar revert --to 0.42 --dry-run  # list the changes that would be reverted
  cellar revert --to 0.42
  cellar revert --to \"2 hours ago\"
  cellar revert --to 0.42 --sheet Costs
  cellar revert --to 0.42 --range A1:C10
  cellar revert --to 0.42 --range \"'My sheet'!A1:C10\"
  cellar fork --at 0.42              # or: a new spreadsheet with that state")]
pub(in crate::cli) struct Revert {
    /// Position or time to revert to, such as 0.42 or `2 hours ago`
    #[arg(long, value_name = AT)]
    pub(in crate::cli) to: At,
    /// Sheet to revert, by its present name or its name at the position [default: all sheets]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Range to revert, such as A1:C10, A:C or Costs!A1:C10 [default: all cells]
    #[arg(long, short)]
    pub(in crate::cli) range: Option<Range>,
    /// List the changes that would be reverted, as `cellar diff` does, without changing anything
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}
