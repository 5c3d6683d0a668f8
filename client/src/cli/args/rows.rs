//! Arguments of `cellar rows`.

use clap::{Args, Subcommand};

use super::Inserted;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rows insert 3 --count 2
  cellar rows delete 3:5")]
pub(in crate::cli) struct Rows {
    #[command(subcommand)]
    pub(in crate::cli) command: RowsCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RowsCommand {
    /// Insert blank rows
    #[command(after_help = "\
Examples:
  cellar rows insert 3              # one row before row 3
  cellar rows insert 3 --count 2 --sheet Costs")]
    Insert {
        /// Row before which to insert, such as 3
        before: String,
        #[command(flatten)]
        inserted: Inserted,
    },
    /// Delete rows and their contents
    #[command(after_help = "\
Examples:
  cellar rows delete 3:5
  cellar rows delete 3 7 9:12 --sheet Costs")]
    Delete {
        /// Rows such as 3 or 3:5; deleted in one edit
        #[arg(required = true)]
        rows: Vec<String>,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}
