use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
The list is sorted by name. It shows id, name, your role and the creation time, marks the current spreadsheet, \
and names the source of a fork. A new, renamed or newly shared spreadsheet appears after a few seconds.

Examples:
  cellar list
  cellar list budget                 # names that contain `budget`
  cellar list --mine
  cellar list --forks
  cellar list --status deleted       # spreadsheets that `cellar undelete -s NAME` recovers
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
    /// Only forks
    #[arg(long)]
    pub(in crate::cli) forks: bool,
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
