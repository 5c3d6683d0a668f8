use clap::Args;

use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
Later commands use this spreadsheet unless -s names another one. A name that several spreadsheets have is \
refused, and the candidates are listed. The URL of a share link needs no login: it is kept for this spreadsheet in \
.cellar/profile.json, which only your account can read, until another spreadsheet is selected or `cellar logout` \
removes it.

With the --url of another stack, later commands in this folder use that stack. This is refused while edits for the \
present one are not sent, or while its token is saved only in .cellar/profile.json.

Examples:
  cellar use Budget
  cellar use --url https://example.com Budget
  cellar use 0b8f                     # the beginning of its id
  cellar use 'https://example.com/#/s/0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55'
  cellar use 'https://example.com/#/s/0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55?link=SECRET'")]
pub(in crate::cli) struct Use {
    /// Name, id, beginning of the id, or URL of the spreadsheet
    #[arg(value_name = "SPREADSHEET")]
    pub(in crate::cli) target: SpreadsheetReference,
}
