use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar details
  cellar details --changes           # changes with author and time
  cellar details --json")]
pub(in crate::cli) struct Details {
    /// List changes of the details, newest first
    #[arg(long)]
    pub(in crate::cli) changes: bool,
}
