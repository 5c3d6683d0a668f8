use cellar_base::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar undo           # your newest edit; repeated, the one before it
  cellar undo 0.12      # the edit at this position, by any author, see `cellar history`
  cellar undo 0.13      # undo an undo: redo

Cells that others have changed since then keep their new values. A deleted sheet is recovered as the last \
sheet, with a new number: pending edits of the old sheet do not affect it.

Without a position, edits that no longer have an effect are skipped. At most ten edits are tried.")]
pub(in crate::cli) struct Undo {
    /// Position of the edit [default: your newest edit that was not undone]
    pub(in crate::cli) position: Option<Position>,
}
