//! Arguments of `synth feed`.

use clap::{Args, Subcommand};

use super::WhereArguments;

/// Arguments of `feed`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth feed verify\n  synth feed repair --local\n  \
                        synth feed rebuild --yes\n\n\
                        Everybody may go on working meanwhile, and each may be interrupted and run again.")]
pub(crate) struct FeedArguments {
    #[command(subcommand)]
    pub(crate) command: FeedCommand,
}

/// What to do with the feed.
#[derive(Debug, Subcommand)]
pub(crate) enum FeedCommand {
    /// Compare the feed with the streams that it is made of
    #[command(
        after_help = "Reads the whole feed and the whole Stream table. The exit code is 2 if they \
                            differ.\n\nExamples:\n  synth feed verify\n  synth feed verify --json"
    )]
    Verify(FeedPlace),
    /// Index what is missing in the feed, and bring the lists of spreadsheets up to date with it
    #[command(
        after_help = "Changes that were made before there was an indexer, or of which it gave up, are \
                            missing.\n\nExamples:\n  synth feed repair\n  synth feed repair --local --json"
    )]
    Repair(FeedPlace),
    /// Build the feed and the lists of spreadsheets anew, from the streams
    #[command(
        after_help = "Whoever reads the feed is told that it is another one, and begins anew: their \
                            checkpoints are worth nothing then.\n\nExamples:\n  synth feed rebuild\n  \
                            synth feed rebuild --local --yes"
    )]
    Rebuild(FeedRebuild),
}

/// Whose feed.
#[derive(Debug, Args)]
pub(crate) struct FeedPlace {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
}

/// Whose feed, and whether to ask.
#[derive(Debug, Args)]
pub(crate) struct FeedRebuild {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}
