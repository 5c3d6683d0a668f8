use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar undo
  cellar undo
  cellar redo           # takes back the second undo; repeated, the first one

After a new edit of yours, nothing can be redone; `cellar undo POSITION` takes back any undo, by any person: \
`cellar history` lists the positions.")]
pub(in crate::cli) struct Redo {}
