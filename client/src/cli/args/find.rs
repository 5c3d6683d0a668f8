use cellar_sheet::a1::Range;
use clap::Args;

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
The text is searched in what the cells display, such as `2026-01-01` or `12.50`, in upper or lower case. Formulas are \
not searched. With --regex, case matters unless the pattern starts with (?i).

Examples:
  cellar find austin                     # in all sheets
  cellar find austin --sheet Costs
  cellar find austin --range C:D
  cellar find --regex '^San (Jose|Juan)$'
  cellar find austin --count
  cellar find austin --at yesterday
  cellar find austin --json")]
pub(in crate::cli) struct Find {
    /// Text to find
    pub(in crate::cli) text: String,
    /// Read TEXT as a regular expression
    #[arg(long)]
    pub(in crate::cli) regex: bool,
    /// Range to search, such as A1:G20, A:C or Costs!A:C [default: all cells]
    #[arg(long, short)]
    pub(in crate::cli) range: Option<Range>,
    /// Sheet to search [default: the sheet of the range, or all sheets]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Position or time to search at, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
    /// Print only the number of cells
    #[arg(long)]
    pub(in crate::cli) count: bool,
    /// Maximum number of cells to print
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: u32,
}
