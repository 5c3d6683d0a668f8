use std::path::PathBuf;

use cellar_base::limits::MAX_FEED_PAGE_ITEMS;
use cellar_catalog::feed::Checkpoint;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The feed contains every change of a spreadsheet's name, members, links and status, in one permanent order, \
since the stack was created. It requires an operator token (`synth token create --all`).

With --checkpoint, the next run resumes after the last printed item. Items printed just before an \
interruption may be printed again.

Examples:
  cellar feed
  cellar feed --payloads --json      # with the payload of each event
  cellar feed --follow --checkpoint feed.json
  cellar feed --after 1000001")]
pub(in crate::cli) struct Feed {
    /// Print only items after this checkpoint [default: from the beginning]
    #[arg(long, value_name = "CHECKPOINT")]
    pub(in crate::cli) after: Option<Checkpoint>,
    /// File that stores the progress, from which the command resumes
    #[arg(long, value_name = "FILE", conflicts_with = "after")]
    pub(in crate::cli) checkpoint: Option<PathBuf>,
    /// Follow the feed until Ctrl-C
    #[arg(long, short)]
    pub(in crate::cli) follow: bool,
    /// Include the payload of each event
    #[arg(long)]
    pub(in crate::cli) payloads: bool,
    /// Items per request
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FEED_PAGE_ITEMS)))]
    pub(in crate::cli) page_size: Option<u32>,
}
