//! Arguments of `rows insert` and `columns insert`.

use cellar_base::limits::MAX_INSERT;
use clap::Args;

/// The number of blank rows or columns to insert, and the sheet to insert them into.
#[derive(Debug, Args)]
pub(in crate::cli) struct Inserted {
    /// Number to insert
    #[arg(
        long, short = 'n', default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_INSERT))
    )]
    pub(in crate::cli) count: u32,
    /// Sheet [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}
