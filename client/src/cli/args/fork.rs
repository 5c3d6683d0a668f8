use cellar_catalog::spreadsheet::Name;
use clap::Args;

use super::nonce::parse_nonce;
use crate::cli::at::{AT, At};

#[derive(Debug, Args)]
#[command(after_help = "\
A fork is a new spreadsheet that shares the contents and history of its source up to the position. Later edits \
of either do not affect the other. Nothing is copied: forking is fast and takes almost no space.

Examples:
  cellar fork                        # fork at the newest position and select the fork
  cellar fork --at 0.42              # fork at an earlier position, see `cellar history`
  cellar fork --at yesterday         # fork the state of 24 hours ago
  cellar fork --at 0.42 --no-use     # keep the current spreadsheet selected
  cellar fork --nonce what-if-2026   # repeated, it returns the same fork")]
pub(in crate::cli) struct Fork {
    /// Name of the fork [default: `Fork of NAME`]
    #[arg(long, value_parser = Name::new)]
    pub(in crate::cli) name: Option<Name>,
    /// Position or time to fork at, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) at: Option<At>,
    /// Keep the current spreadsheet selected
    #[arg(long)]
    pub(in crate::cli) no_use: bool,
    /// Idempotency key: repeated commands with the same nonce, subject and spreadsheet return the same fork
    #[arg(long, value_parser = parse_nonce)]
    pub(in crate::cli) nonce: Option<String>,
}
