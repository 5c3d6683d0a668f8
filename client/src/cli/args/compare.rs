use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
An xlsx or ods file stores the result of each formula, as the program calculated it that saved the file. This command \
compares these results with those of the current spreadsheet, in the cells with the same names of the sheets with the \
same names. Run it after an import, before rows are inserted or cells are changed.

Numbers that agree to 12 digits are counted as rounding; --exact lists them as well. Formulas that were not calculated \
yet, or have no result in the file, are only counted.

The exit code is 2 if results differ or sheets are missing, otherwise 0.

Examples:
  cellar compare budget.xlsx
  cellar compare budget.xlsx -s Budget --sheets Costs,Plan
  cellar compare budget.xlsx --exact --limit 20
  cellar compare budget.xlsx --json")]
pub(in crate::cli) struct Compare {
    /// Workbook file with formulas: xlsx or ods
    pub(in crate::cli) file: PathBuf,
    /// Sheets to compare [default: all sheets of the file]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(in crate::cli) sheets: Vec<String>,
    /// Also list numbers that differ only by rounding
    #[arg(long)]
    pub(in crate::cli) exact: bool,
    /// Maximum number of differences to list
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: u32,
}
