use cellar_base::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar undo           # your newest edit; repeated, the one before it
  cellar undo 0.12      # the edit at this position, by any author, see `cellar history`
  cellar undo 0.13      # an undo can be undone as well; `cellar redo` takes back your newest one

The command prints how many cells, rows, columns and sheets it took back, and how many it left because they \
were changed since then. An import is undone as a whole: if its sheet was changed since, the undo is refused and \
names the newest edit to undo first. Edits that were undone are no changes. A deleted sheet is recovered at its place; edits that others made in \
it and have not sent yet will have no effect.

Without a position, edits of which nothing is left to undo are skipped. At most ten edits are tried.")]
pub(in crate::cli) struct Undo {
    /// Position of the edit [default: your newest edit that was not undone]
    pub(in crate::cli) position: Option<Position>,
}
