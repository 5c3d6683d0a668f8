//! Arguments of `synth feed`.

use clap::{Args, Subcommand};

use super::watch::LocationArguments;

/// Arguments of `feed`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth feed verify\n  synth feed repair --local\n  \
                        synth feed rebuild --yes\n\n\
                        Users can keep working meanwhile. Each command can be interrupted and run again.")]
pub(crate) struct FeedArguments {
    #[command(subcommand)]
    pub(crate) command: FeedCommand,
}

/// Commands of `synth feed`.
#[derive(Debug, Subcommand)]
pub(crate) enum FeedCommand {
    /// Compare the feed with the event streams
    #[command(
        after_help = "Reads the whole feed and all event streams. The exit code is 2 if they differ.\n\nExamples:\n  synth feed verify\n  synth feed verify --json"
    )]
    Verify(FeedLocation),
    /// Add missing events to the feed and update the spreadsheet lists
    #[command(
        after_help = "Events are missing if they were appended before the indexer was deployed, or if \
                            the indexer failed permanently on them.\n\nExamples:\n  synth feed repair\n  synth feed repair --local --json"
    )]
    Repair(FeedLocation),
    /// Rebuild the feed and the spreadsheet lists from the event streams
    #[command(
        after_help = "The new feed has a new generation. All checkpoints become invalid, so consumers \
                            must read the feed from its beginning.\n\nExamples:\n  synth feed rebuild\n  \
                            synth feed rebuild --local --yes"
    )]
    Rebuild(FeedRebuild),
}

/// Options that select the stack of the feed.
#[derive(Debug, Args)]
pub(crate) struct FeedLocation {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
}

/// Arguments of `feed rebuild`.
#[derive(Debug, Args)]
pub(crate) struct FeedRebuild {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}
