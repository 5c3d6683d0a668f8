use cellar_base::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
All sheets return to their state at the position. The command appends a new entry and deletes nothing: `cellar \
undo` undoes it like any edit. Edits that others are making meanwhile are applied to the reverted state.

A recovered sheet becomes the last sheet and gets a new number. A revert that does not fit one entry is \
refused; fork the spreadsheet at the position instead.

Examples:
  cellar history                     # list the positions
  cellar diff 0.42                   # list the changes that would be reverted
  cellar revert --to 0.42
  cellar fork --at 0.42              # or: a new spreadsheet with that state")]
pub(in crate::cli) struct Revert {
    /// Position to revert to
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) to: Position,
}
