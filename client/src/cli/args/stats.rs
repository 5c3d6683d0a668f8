use clap::Args;

use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar stats
  cellar stats Budget
  cellar --json stats")]
pub(in crate::cli) struct Stats {
    /// Spreadsheet [default: -s, or the current one]
    #[arg(value_name = "SPREADSHEET")]
    pub(in crate::cli) target: Option<SpreadsheetReference>,
}
