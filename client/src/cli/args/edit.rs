use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar edit
  cellar edit --sheet Costs --cell C300
  cellar edit --column-width 20

Edits are saved to disk before they are shown, and sent as soon as the server responds. They apply to the \
rows and columns that you saw, even if others insert or delete some meanwhile. If the connection or the \
machine fails, `cellar sync` or the next `cellar edit` sends the edits that wait. If a local stack is \
restarted, also at another port, a running `cellar edit` finds it again.

Open a spreadsheet once while the server can be reached. After that, `cellar edit` in the same folder also \
opens it offline, with the cells that were loaded before.

Keys: arrows, Tab, Enter, PageUp, PageDown, Home and Ctrl-Home move; typing replaces a cell, Enter or F2 \
edits it, Delete clears it, Escape cancels; Ctrl-G goes to a cell, Ctrl-O inserts a row, Ctrl-K deletes a \
row, Ctrl-Z undoes your last edit, Ctrl-PageDown and Ctrl-PageUp switch sheets, Ctrl-Q quits.")]
pub(in crate::cli) struct Edit {
    /// Sheet to start with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Cell to start at
    #[arg(long, value_name = "CELL")]
    pub(in crate::cli) cell: Option<Range>,
    /// Width of a column, in characters
    #[arg(long, value_name = "CHARACTERS", default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(4..=200))]
    pub(in crate::cli) column_width: u16,
}
