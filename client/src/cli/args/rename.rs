use cellar_catalog::spreadsheet::Name;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rename 'Budget 2026'")]
pub(in crate::cli) struct Rename {
    /// New name: one line of at most 256 bytes
    #[arg(value_parser = Name::new)]
    pub(in crate::cli) name: Name,
}
