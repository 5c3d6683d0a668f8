use cellar_base::position::Position;
use clap::Args;

use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
Merging appends the edits of a fork to its source, each with its own author and as it was made. Edits are adapted to \
what others have changed in the source since the fork. The edits that were moved, dropped (their target was deleted) \
or rejected are listed first, and those in conflict: of cells that others have changed as well. Where both have \
changed a cell, the fork wins; the list shows the value of the source. A dry run lists all edits.

Merging again appends only edits that are not merged yet. `cellar undo` undoes a merge as a whole; its edits are then \
not merged again. If the command is interrupted, run it again: no edit is appended twice.

The exit code is 2 if an edit was dropped, rejected or in conflict, or if cells of it were left out, otherwise 0.

Examples:
  cellar merge What-if --dry-run         # show what would become of the edits of the fork What-if
  cellar merge What-if
  cellar merge What-if --through 1.12    # only the edits up to a position of the fork
  cellar merge What-if --json")]
pub(in crate::cli) struct Merge {
    /// Fork to merge into its source
    pub(in crate::cli) fork: SpreadsheetReference,
    /// Last position of the fork whose edits are merged, such as 1.12 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) through: Option<Position>,
    /// Show what would become of the edits without changing anything
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}
