use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The format also applies to the blank cells of the range. Every format is stored; these are displayed:
  General              the number without formatting
  0                    whole numbers
  0.00                 a fixed number of decimals, up to 15
  yyyy-mm-dd hh:mm:ss  dates and times: yyyy, mm, dd, hh, mm (minutes, if after hh) and ss in any
                       order, separated by one of - / . : T or a space
Numbers with any other format are displayed as General.

Examples:
  cellar format B2:B99 0.00
  cellar format C:C yyyy-mm-dd
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
