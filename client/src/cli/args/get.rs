use cellar_base::position::Position;
use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar get
  cellar get --range B2:D10
  cellar get --range A:C --json
  cellar get --sheet Costs
  cellar get --range \"'My sheet'!A1:C9\"
  cellar get --at 0.3               # at an earlier position, see `cellar history`
  cellar get --remote               # read on the server, without a local cache")]
pub(in crate::cli) struct Get {
    /// Range, such as A1:G20, A:C or Sheet1!B2 [default: the top left of the first sheet]
    #[arg(long, short)]
    pub(in crate::cli) range: Option<Range>,
    /// Position to read at, such as 0.42 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) at: Option<Position>,
    /// Sheet [default: the sheet of the range, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Let the server read the cells, instead of loading and caching a snapshot
    #[arg(long)]
    pub(in crate::cli) remote: bool,
}
