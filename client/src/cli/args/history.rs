use cellar_base::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar history
  cellar history --limit 5
  cellar history --until 0.42
  cellar history --json")]
pub(in crate::cli) struct History {
    /// Maximum number of entries
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: u32,
    /// Show only edits up to this position [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) until: Option<Position>,
}
