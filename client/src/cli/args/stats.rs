use cellar_base::identity::LogId;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar stats
  cellar stats 4b74c877-c40f-8d75-966e-04fce373d865
  cellar --json stats")]
pub(in crate::cli) struct Stats {
    /// Spreadsheet [default: -s, or the current one]
    pub(in crate::cli) id: Option<LogId>,
}
