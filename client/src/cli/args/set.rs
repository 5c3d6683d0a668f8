use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Numbers, dates such as 2026-11-21, TRUE and FALSE are recognized; a value that starts with = is a formula; \
everything else is text. With --text, every value is text. All cells of one command are set in one edit.

The command needs a connection. To edit offline, use `cellar edit`, which must have opened the spreadsheet once while the \
server could be reached.

Examples:
  cellar set A1 hello
  cellar set A1 1 B1 2.50 C1 2026-11-21
  cellar set A1 -5
  cellar set A4 '=SUM(A1:A3)'
  cellar set --text A1 007
  cellar set --sheet Costs A1 1
  cellar set -- A1 --dashes")]
pub(in crate::cli) struct Set {
    /// Pairs of a cell and its value
    #[arg(required = true, value_name = "CELL VALUE", allow_negative_numbers = true)]
    pub(in crate::cli) pairs: Vec<String>,
    /// Set all values as text
    #[arg(long)]
    pub(in crate::cli) text: bool,
    /// Sheet [default: the sheet of the cells, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}
