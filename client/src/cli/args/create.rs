use cellar_catalog::spreadsheet::Name;
use clap::Args;

use super::nonce::parse_nonce;

#[derive(Debug, Args)]
#[command(after_help = "\
You are its owner. Share it with `cellar share` or `cellar links`.

Examples:
  cellar create 'Budget 2026'
  cellar create                       # without a name
  cellar create Budget --nonce b2026  # repeated, it returns the same spreadsheet")]
pub(in crate::cli) struct Create {
    /// Name of the spreadsheet
    #[arg(value_name = "NAME", value_parser = Name::new, conflicts_with = "name_option")]
    pub(in crate::cli) name: Option<Name>,
    /// The same as NAME
    #[arg(long = "name", value_name = "NAME", value_parser = Name::new, hide = true)]
    pub(in crate::cli) name_option: Option<Name>,
    /// Idempotency key: repeated commands with the same nonce and subject return the same spreadsheet
    #[arg(long, value_parser = parse_nonce)]
    pub(in crate::cli) nonce: Option<String>,
}
