use std::str::FromStr;

use clap::Args;

use crate::cli::at::At;
use crate::cli::reference::{BadReference, SpreadsheetReference};

#[derive(Debug, Args)]
#[command(after_help = "\
Compares two positions of the current spreadsheet, or two spreadsheets as they are now. Of two spreadsheets, one must \
be a fork of the other, or both must come from one. Rows and columns that both had when they separated are compared \
by identity, others by their place. A name that looks like a position or a time is read as one: write the id instead.

Of a sheet that was added or deleted, the number of cells is printed; --cells lists them. With --json, all cells are \
listed.

If more cells were edited between the positions than the server can compare, both positions are read from the bucket. \
Then --json lists at most 1,000,000 cells of each sheet, and counts the others as `unlisted_cells`.

The exit code is 2 if there are differences, otherwise 0.

Examples:
  cellar diff 0.3              # compare with the newest position
  cellar diff 0.3 0.9
  cellar diff 0.3 --cells      # with the cells of added and deleted sheets
  cellar diff yesterday        # what has changed in the last 24 hours
  cellar diff Budget What-if   # what differs in the fork What-if of Budget
  cellar diff 0.3 0.9 --json")]
pub(in crate::cli) struct Diff {
    /// Earlier position or time, such as 0.3 or `2 hours ago`; or a spreadsheet
    pub(in crate::cli) from: DiffSide,
    /// Later position or time [default: the newest]; or the spreadsheet to compare with
    pub(in crate::cli) to: Option<DiffSide>,
    /// Also list the cells of sheets that were added or deleted
    #[arg(long)]
    pub(in crate::cli) cells: bool,
    /// Maximum number of cells to list
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: u32,
}

#[derive(Debug, Clone)]
pub(in crate::cli) enum DiffSide {
    At(At),
    Spreadsheet {
        reference: SpreadsheetReference,
        /// Why the text is no position and no time.
        not_a_position: String,
    },
}

impl FromStr for DiffSide {
    type Err = BadReference;

    fn from_str(text: &str) -> Result<Self, BadReference> {
        match text.parse() {
            Ok(at) => Ok(Self::At(at)),
            Err(not_a_position) => {
                Ok(Self::Spreadsheet { reference: text.parse()?, not_a_position })
            }
        }
    }
}
