use clap::Args;

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
With a cell, range or sheet, each line is a change with the old and new contents, and the cells are followed back \
through inserted and deleted rows and columns: `B2` is the cell that is B2 now. A line names the cell as it was \
called at that time. Number formats are not shown.

Examples:
  cellar history                         # all edits
  cellar history B2                      # who changed this cell, from what to what
  cellar history Costs!A1:C9
  cellar history Costs                   # all changes of a sheet
  cellar history B2 --since yesterday --by alice
  cellar history --limit 5
  cellar history --until 0.42
  cellar history --until yesterday
  cellar history B2 --json")]
pub(in crate::cli) struct History {
    /// Cell, range or sheet, such as B2, A1:C9, Costs!B2 or Costs [default: all edits of all sheets]
    #[arg(value_name = "CELLS|SHEET")]
    pub(in crate::cli) target: Option<String>,
    /// Sheet [default: the sheet of the range, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Maximum number of lines
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: u32,
    /// Show only edits up to this position or time, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) until: Option<At>,
    /// Show only edits after this position or time
    #[arg(long, value_name = AT)]
    pub(in crate::cli) since: Option<At>,
    /// Show only edits by this author
    #[arg(long, value_name = "AUTHOR")]
    pub(in crate::cli) by: Option<String>,
}
