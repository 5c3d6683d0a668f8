use clap::Args;

use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
Later commands use this spreadsheet unless -s names another one. A name that several spreadsheets have is \
refused, and the candidates are listed.

Examples:
  cellar use Budget
  cellar use 0b8f                     # the beginning of its id
  cellar use 'https://example.com/#/s/0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55'")]
pub(in crate::cli) struct Use {
    /// Name, id, beginning of the id, or URL of the spreadsheet
    #[arg(value_name = "SPREADSHEET")]
    pub(in crate::cli) target: SpreadsheetReference,
}
