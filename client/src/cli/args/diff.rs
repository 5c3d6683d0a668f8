use cellar_base::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 2 if there are differences, otherwise 0.

Examples:
  cellar diff 0.3              # compare with the newest position
  cellar diff 0.3 0.9
  cellar diff 0.3 0.9 --json")]
pub(in crate::cli) struct Diff {
    /// Earlier position, such as 0.3
    pub(in crate::cli) from: Position,
    /// Later position [default: the newest]
    pub(in crate::cli) to: Option<Position>,
}
