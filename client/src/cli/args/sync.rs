use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar sync                        # the current spreadsheet
  cellar sync -s Budget
  cellar sync --all                  # every spreadsheet with edits that wait in this folder
  cellar sync --all --json | jq .sent
  until cellar sync; do sleep 60; done

Sends edits that `cellar edit` made offline, and edits of commands that were interrupted or got no answer. Each \
edit takes effect once, even if an earlier attempt reached the server. Needs no terminal. Quit `cellar edit` first; \
it sends its edits itself.

Exit codes: 0 nothing waits any more, 2 an edit was rejected, had no effect or was moved to a file, 1 an error; \
edits that were not sent are kept.")]
pub(in crate::cli) struct Sync {
    /// Send the waiting edits of all spreadsheets, not only of the current one
    #[arg(long)]
    pub(in crate::cli) all: bool,
}
