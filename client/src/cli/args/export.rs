use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv files contain one sheet, with cells as displayed; xlsx files contain all sheets, with formulas and \
number formats. A symbolic link is followed; a pipe or device receives the bytes.

Examples:
  cellar export airports.csv
  cellar export budget.xlsx                    # all sheets
  cellar export airports.csv --force
  cellar export costs.csv --sheet Costs
  cellar export for-excel.csv --escape-formulas
  cellar export old.csv --at 0.42
  cellar export yesterday.csv --at yesterday
  cellar export - | head
  cellar export --format xlsx - > budget.xlsx")]
pub(in crate::cli) struct Export {
    /// Output file; - for stdout
    pub(in crate::cli) file: PathBuf,
    /// File format [default: from the file name; csv for - and names without an extension]
    #[arg(long, value_enum)]
    pub(in crate::cli) format: Option<ExportFormat>,
    /// Position or time to export, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
    /// Sheet [default: the first; all for xlsx]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Write formulas instead of their results (csv)
    #[arg(long)]
    pub(in crate::cli) formulas: bool,
    /// Prefix csv texts that start with =, +, -, @, a tab or a line break with ', so that other programs do not
    /// run them as formulas
    #[arg(long)]
    pub(in crate::cli) escape_formulas: bool,
    /// Let the server read the cells, instead of loading a snapshot
    #[arg(long)]
    pub(in crate::cli) remote: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// File format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ExportFormat {
    Csv,
    Tsv,
    Xlsx,
}
