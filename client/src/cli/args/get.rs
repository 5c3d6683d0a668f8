use std::str::FromStr;

use cellar_base::limits::MAX_ROWS;
use cellar_sheet::a1::{NotARange, Range, column_name, parse_column};
use cellar_sheet::condition::{BadCondition, Conditions};
use clap::Args;

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
--where selects rows by conditions: a column, an operator and a value. A row must fulfil all of them. Join them with \
&& or repeat --where. For one of several texts, use a regular expression.

  D=TX          the value is TX          D!=TX        it is another value
  F<30          smaller; also <= > >=    G>=2026-01-01
  B~park        the text contains park   B!~park      it does not
  B=~^San       a regular expression matches            D=~^(TX|AK)$  it is TX or AK
  D=            blank                    D!=          not blank

A value is read as `cellar set` reads it: as a number, a date, TRUE, an error such as #N/A, or a text. Put a text that \
looks like a number, or contains &&, in double quotes: D='\"007\"'. Single quotes are for the shell. Texts are equal in upper and lower case, except in \
regular expressions. < and > compare numbers with numbers and texts with texts. A blank cell fulfils only `D=`.

Examples:
  cellar get
  cellar get B2:D10
  cellar get A:C --json
  cellar get A3370:G                # down to the last row
  cellar get --last 10
  cellar get --sheet Costs
  cellar get \"'My sheet'!A1:C9\"
  cellar get --formulas             # =SUM(B2:B9) instead of its value
  cellar get --where D=TX
  cellar get A:D --where 'D=TX && F>=30'
  cellar get --where D=TX --where 'B~park'
  cellar get --where 'D=~^(TX|AK)$'
  cellar get --where D=TX --count --sum F --sum G
  cellar get --count                # all rows of the used range
  cellar get --at 0.3               # at an earlier position, see `cellar history`
  cellar get --at yesterday         # as it was 24 hours ago
  cellar get --at 2026-11-24T00:14Z
  cellar get --remote               # read on the server, without a local cache")]
pub(in crate::cli) struct Get {
    /// Range, such as A1:G20, A:C or Sheet1!B2 [default: the top left of the first sheet; with --where, --count or --sum, the whole sheet]
    #[arg(value_name = "RANGE", value_parser = parse_range)]
    pub(in crate::cli) positional_range: Option<Range>,
    /// The same as RANGE
    #[arg(long, short, value_parser = parse_range, conflicts_with = "positional_range")]
    pub(in crate::cli) range: Option<Range>,
    /// Print only the last rows of the range, or of the used range
    #[arg(
        long,
        value_name = "ROWS",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["conditions", "count", "sums"]
    )]
    pub(in crate::cli) last: Option<u32>,
    /// Position or time to read at, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
    /// Sheet [default: the sheet of the range, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Print formulas instead of their values
    #[arg(long)]
    pub(in crate::cli) formulas: bool,
    /// Let the server read the cells, instead of loading and caching a snapshot
    #[arg(long)]
    pub(in crate::cli) remote: bool,
    /// Print only the rows that fulfil these conditions, such as D=TX or 'D=TX && F>=30'
    #[arg(long = "where", value_name = "CONDITIONS")]
    pub(in crate::cli) conditions: Vec<WrittenConditions>,
    /// Print only the number of rows
    #[arg(long)]
    pub(in crate::cli) count: bool,
    /// Print only the sum of the numbers of this column; can be given several times
    #[arg(long = "sum", value_name = "COLUMN")]
    pub(in crate::cli) sums: Vec<ColumnLetters>,
    /// Maximum number of rows to print, with --where
    #[arg(
        long,
        default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "conditions"
    )]
    pub(in crate::cli) limit: u32,
}

impl Get {
    pub(in crate::cli) fn range(&self) -> Option<&Range> {
        self.positional_range.as_ref().or(self.range.as_ref())
    }
}

/// Also accepts a range that extends to the last row, such as `A3370:G`.
fn parse_range(text: &str) -> Result<Range, NotARange> {
    text.parse::<Range>().or_else(|error| {
        let column = text.rsplit_once(':').map(|(_, end)| end.trim_start_matches('$'));
        let ends_with_column = column.is_some_and(|letters| parse_column(letters).is_some());
        match format!("{text}{MAX_ROWS}").parse::<Range>() {
            Ok(range) if ends_with_column => Ok(range),
            _ => Err(error),
        }
    })
}

/// Conditions as given. They are valid, unless they begin with a header in place of a column: the error
/// then says in which column the header is, which needs the spreadsheet.
#[derive(Debug, Clone)]
pub(in crate::cli) struct WrittenConditions(pub(in crate::cli) String);

impl FromStr for WrittenConditions {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        match text.parse::<Conditions>() {
            // Other conditions may exclude blank cells.
            Ok(_) | Err(BadCondition::OnlyBlank | BadCondition::NoSuchColumn { .. }) => {
                Ok(Self(text.to_owned()))
            }
            Err(error) => Err(error),
        }
    }
}

/// A column in capital letters.
#[derive(Debug, Clone)]
pub(in crate::cli) struct ColumnLetters(pub(in crate::cli) String);

impl FromStr for ColumnLetters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse_column(text) {
            Some(column) => Ok(Self(column_name(column))),
            None => Err(format!("`{text}` is not a column; name it by its letters, such as F")),
        }
    }
}
