use clap::{Args, Subcommand};

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  cellar sheets                        # list the sheets
  cellar sheets add Costs
  cellar sheets rename Costs Prices
  cellar sheets delete Prices")]
pub(in crate::cli) struct Sheets {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<SheetsCommand>,
    /// Position or time to list the sheets at, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SheetsCommand {
    /// Add a sheet after the last one
    #[command(after_help = "Examples:\n  cellar sheets add Costs")]
    Add {
        /// Name of the sheet
        name: String,
    },
    /// Rename a sheet
    #[command(after_help = "Examples:\n  cellar sheets rename Costs Prices")]
    Rename {
        /// Current name
        old: String,
        /// New name
        new: String,
    },
    /// Delete a sheet and its contents
    #[command(after_help = "Examples:\n  cellar sheets delete Costs")]
    Delete {
        /// Name of the sheet
        name: String,
    },
}
