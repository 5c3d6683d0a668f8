//! Arguments of `cellar columns`.

use clap::{Args, Subcommand};

use super::Inserted;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar columns insert C
  cellar columns delete C:D")]
pub(in crate::cli) struct Columns {
    #[command(subcommand)]
    pub(in crate::cli) command: ColumnsCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ColumnsCommand {
    /// Insert blank columns
    #[command(after_help = "\
Examples:
  cellar columns insert C           # one column before column C
  cellar columns insert C --count 2 --sheet Costs")]
    Insert {
        /// Column before which to insert, such as C
        before: String,
        #[command(flatten)]
        inserted: Inserted,
    },
    /// Delete columns and their contents
    #[command(after_help = "\
Examples:
  cellar columns delete C:D
  cellar columns delete C F:G --sheet Costs")]
    Delete {
        /// Columns such as C or C:D; deleted in one edit
        #[arg(required = true)]
        columns: Vec<String>,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}
