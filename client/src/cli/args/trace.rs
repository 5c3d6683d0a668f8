use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Only direct connections are printed: trace the printed cells to follow them further. References that a formula \
calculates, as with INDIRECT, are not found.

Examples:
  cellar trace B2
  cellar trace Costs!B2
  cellar trace B2 --json")]
pub(in crate::cli) struct Trace {
    /// Cell, such as B2 or Sheet1!B2
    pub(in crate::cli) cell: String,
    /// Sheet [default: the sheet of the cell, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}
