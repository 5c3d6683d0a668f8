use cellar_base::identity::LogId;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar use 0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55")]
pub(in crate::cli) struct Use {
    /// Id of the spreadsheet
    pub(in crate::cli) id: LogId,
}
