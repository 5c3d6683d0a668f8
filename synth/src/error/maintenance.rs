//! Errors of the maintenance commands.

use cellar_base::count::count;
use cellar_engine::feed::{FeedError, WebhookError};
use cellar_engine::logs::LogError;
use cellar_engine::ports::PortError;
use cellar_engine::purge::PurgeError;
use cellar_engine::reprocess::RebuildRefusal;
use cellar_engine::retention::RetentionError;
use miette::Diagnostic;

#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum MaintenanceError {
    #[error("the feed could not be verified or repaired: {0}")]
    #[diagnostic(
        code(synth::feed),
        help("the event streams were not changed; run the command again to resume")
    )]
    Feed(FeedError),
    #[error("the stack has no Feed table: it was deployed by an earlier version")]
    #[diagnostic(code(synth::no_index), help("update it with `synth deploy`"))]
    NoFeedTable,
    #[error("no `webhook` is configured in cellar.yaml")]
    #[diagnostic(
        code(synth::no_webhook),
        help("add `webhook:` with a `url:` to cellar.yaml, and deploy the stack")
    )]
    NoWebhook,
    #[error("cannot read or write the state of the webhook: {0}")]
    #[diagnostic(code(synth::webhook), help("nothing is lost; run the command again"))]
    WebhookState(PortError),
    #[error("not all feed items were delivered: {0}")]
    #[diagnostic(
        code(synth::not_delivered),
        help(
            "`synth logs webhook` shows the responses of the receiver; run the command again when the \
             receiver works"
        )
    )]
    NotDelivered(WebhookError),
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::survey), help("nothing was changed; run the command again"))]
    OffloadSurvey(RetentionError),
    #[error("cannot offload {failed_count} of {}: {first_error}", count(*item_count, "segment", "segments"))]
    #[diagnostic(code(synth::offload), help("nothing is lost; run the command again to resume"))]
    Offload {
        /// Number of segments that could not be offloaded.
        failed_count: usize,
        item_count: usize,
        first_error: RetentionError,
    },
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::purge_survey), help("nothing was changed; run the command again"))]
    PurgeSurvey(PurgeError),
    #[error(
        "cannot purge {failed_count} of {}: {first_error}",
        count(*item_count, "deleted spreadsheet", "deleted spreadsheets")
    )]
    #[diagnostic(code(synth::purge), help("run the command again to purge the rest"))]
    Purge {
        /// Number of spreadsheets that could not be purged.
        failed_count: usize,
        item_count: usize,
        first_error: PurgeError,
    },
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::reprocess_survey), help("nothing was changed; run the command again"))]
    ReprocessSurvey(PortError),
    #[error("{failed_count} of {} failed: {first_error}", count(*item_count, "repair", "repairs"))]
    #[diagnostic(code(synth::reprocess), help("nothing is lost; run the command again to resume"))]
    Reprocess {
        failed_count: usize,
        item_count: usize,
        /// Error of the first failed item.
        first_error: PortError,
    },
    #[error(
        "{} cannot be repaired by this command",
        count(*lost_count, "finding", "findings")
    )]
    #[diagnostic(
        code(synth::lost),
        help(
            "see the report: restore bodies and offloaded segments from older versions of their objects, and \
             rebuild snapshots with `synth reprocess --rebuild --spreadsheet ID`"
        )
    )]
    Lost {
        /// Number of findings that cannot be repaired.
        lost_count: usize,
    },
    #[error("not all cells were checked and replaced: {0}")]
    #[diagnostic(
        code(synth::lost_cells),
        help("fix the cause and run the command again; no cell is replaced twice")
    )]
    LostCells(LogError),
    #[error("not all snapshots were rebuilt: {0}")]
    #[diagnostic(
        code(synth::rebuild),
        help("the log was not changed; fix the cause and run the command again")
    )]
    Rebuild(RebuildRefusal),
}
