use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar clear A1:B5
  cellar clear A1 C1 E1:E9
  cellar clear A:C
  cellar clear 3:5 --sheet Costs
  cellar clear \"'My sheet'!A1\"")]
pub(in crate::cli) struct Clear {
    /// Ranges to clear in one edit, such as A1:B5, A:C, 3:5 or Costs!A1
    #[arg(required = true, value_name = "RANGE")]
    pub(in crate::cli) ranges: Vec<Range>,
    /// Sheet [default: the sheet of the ranges, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}
