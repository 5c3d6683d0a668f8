use clap::{Args, Subcommand};

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
A name stands for cells or a value in formulas, such as =B2*TAX. It starts with a letter or `_`, and \
consists of letters, digits, `_` and `.`.

Examples:
  cellar names                              # list the names
  cellar names set TAX 0.19
  cellar names set Prices B2:B10
  cellar names set Total '=SUM(Costs!B:B)'
  cellar names delete TAX")]
pub(in crate::cli) struct Names {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<NamesCommand>,
    /// Position or time to list the names at, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum NamesCommand {
    /// Define a name, or change what it stands for
    #[command(after_help = "\
The cells of a name move with inserted and deleted rows and columns. They are saved with their sheet and \
with $, such as =Sheet1!$B$2:$B$10.

Examples:
  cellar names set TAX 0.19
  cellar names set Prices B2:B10
  cellar names set Prices B2:B10 --sheet Costs
  cellar names set Total '=SUM(Costs!B:B)'")]
    Set {
        /// Name
        name: String,
        /// Cells, a value or a formula
        #[arg(allow_negative_numbers = true)]
        formula: String,
        /// Sheet of cells that name no sheet [default: the first sheet]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
    /// Delete a name; formulas that use it give #NAME?
    #[command(after_help = "Examples:\n  cellar names delete TAX")]
    Delete {
        /// Name
        name: String,
    },
}
