use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The format also applies to the blank cells of the range. Formats are written as in Excel:
  Format                       Number      Displayed
  General                      1234.5      1234.5
  0.00                         1234.5      1234.50
  #,##0.00                     1234.5      1,234.50
  #,##0;(#,##0)                -1234       (1,234)
  $#,##0.00                    1234.5      $1,234.50
  0.0 \"kg\"                     1234.5      1234.5 kg
  0.0,, \"million\"              12345678    12.3 million
  0%                           0.25        25%
  0.00E+00                     1234.5      1.23E+03
  # ?/?                        1.25        1 1/4
  yyyy-mm-dd                   45000.25    2023-03-15
  d mmm yyyy                   45000.25    15 Mar 2023
  h:mm AM/PM                   45000.25    6:00 AM
  [h]:mm                       1.25        30:00
Dates are numbers of days. Up to four sections, separated by semicolons, format positive numbers,
negative numbers, zeros and texts. Names of months and days are in English.

Examples:
  cellar format B2:B99 \"#,##0.00\"
  cellar format C:C \"d mmm yyyy\"
  cellar format B2:B99 General     # remove the format")]
pub(in crate::cli) struct Format {
    /// Range such as A1:B5, A:C, 3:5 or Costs!A1
    pub(in crate::cli) range: Range,
    /// Number format in the notation of Excel; General removes the format
    pub(in crate::cli) format: String,
    /// Sheet [default: the sheet of the range, or the first sheet]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}
