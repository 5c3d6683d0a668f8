use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
The list is sorted by name. A new, renamed or newly shared spreadsheet appears after a few seconds.

Examples:
  cellar list
  cellar list budget                 # names that contain `budget`
  cellar list --mine
  cellar list --status deleted       # spreadsheets that `cellar undelete -s ID` recovers
  cellar list --json")]
pub(in crate::cli) struct List {
    /// List only spreadsheets whose name contains this text (case-insensitive)
    pub(in crate::cli) name: Option<String>,
    /// Only spreadsheets that you own
    #[arg(long, conflicts_with = "shared")]
    pub(in crate::cli) mine: bool,
    /// Only spreadsheets owned by others
    #[arg(long)]
    pub(in crate::cli) shared: bool,
    /// Status
    #[arg(long, value_enum, default_value_t = ListStatus::Active)]
    pub(in crate::cli) status: ListStatus,
}

/// Status of the listed spreadsheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ListStatus {
    /// Editable
    Active,
    /// Read-only
    Archived,
    /// Deleted; you can undelete it
    Deleted,
}
