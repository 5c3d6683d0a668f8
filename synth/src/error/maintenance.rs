//! Errors of the maintenance commands.

use cellar_base::count::count;
use cellar_engine::feed::{FeedError, WebhookError};
use cellar_engine::logs::LogError;
use cellar_engine::ports::PortError;
use cellar_engine::purge::PurgeError;
use cellar_engine::reprocess::RebuildRefusal;
use cellar_engine::retention::RetentionError;
use miette::Diagnostic;

/// Reasons why a maintenance command failed.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum MaintenanceError {
    /// The feed could not be compared, repaired or rebuilt.
    #[error("the feed could not be verified or repaired: {0}")]
    #[diagnostic(
        code(synth::feed),
        help("the event streams were not changed; run the command again to resume")
    )]
    Feed(FeedError),
    /// The stack was deployed by a version without a feed.
    #[error("the stack has no Feed table: it was deployed by an earlier version")]
    #[diagnostic(code(synth::no_index), help("update it with `synth deploy`"))]
    NoFeedTable,
    /// `cellar.yaml` configures no webhook.
    #[error("no `webhook` is configured in cellar.yaml")]
    #[diagnostic(
        code(synth::no_webhook),
        help("add `webhook:` with a `url:` to cellar.yaml, and deploy the stack")
    )]
    NoWebhook,
    /// The progress or the signing secret of the webhook cannot be read or written.
    #[error("cannot read or write the state of the webhook: {0}")]
    #[diagnostic(code(synth::webhook), help("nothing is lost; run the command again"))]
    WebhookState(PortError),
    /// The webhook receiver did not accept every delivery.
    #[error("not all feed items were delivered: {0}")]
    #[diagnostic(
        code(synth::not_delivered),
        help(
            "`synth logs webhook` shows the responses of the receiver; run the command again when the \
             receiver works"
        )
    )]
    NotDelivered(WebhookError),
    /// The log segments could not be listed.
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::survey), help("nothing was changed; run the command again"))]
    OffloadSurvey(RetentionError),
    /// Some segments could not be offloaded.
    #[error("cannot offload {failed_count} of {}: {first_error}", count(*item_count, "segment", "segments"))]
    #[diagnostic(code(synth::offload), help("nothing is lost; run the command again to resume"))]
    Offload {
        /// Number of segments that could not be offloaded.
        failed_count: usize,
        /// Number of segments to offload.
        item_count: usize,
        /// Error of the first failed item.
        first_error: RetentionError,
    },
    /// The deleted spreadsheets could not be listed.
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::purge_survey), help("nothing was changed; run the command again"))]
    PurgeSurvey(PurgeError),
    /// Some deleted spreadsheets could not be purged.
    #[error(
        "cannot purge {failed_count} of {}: {first_error}",
        count(*item_count, "deleted spreadsheet", "deleted spreadsheets")
    )]
    #[diagnostic(code(synth::purge), help("run the command again to purge the rest"))]
    Purge {
        /// Number of spreadsheets that could not be purged.
        failed_count: usize,
        /// Number of spreadsheets to purge.
        item_count: usize,
        /// Error of the first failed item.
        first_error: PurgeError,
    },
    /// The logs could not be searched for missing snapshots and entry bodies.
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::reprocess_survey), help("nothing was changed; run the command again"))]
    ReprocessSurvey(PortError),
    /// Some findings could not be repaired.
    #[error("{failed_count} of {} failed: {first_error}", count(*item_count, "repair", "repairs"))]
    #[diagnostic(code(synth::reprocess), help("nothing is lost; run the command again to resume"))]
    Reprocess {
        /// Number of failed repairs.
        failed_count: usize,
        /// Number of findings to repair.
        item_count: usize,
        /// Error of the first failed item.
        first_error: PortError,
    },
    /// Data is lost, and this command cannot restore it.
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
    /// Some cells whose text is lost could not be found or replaced.
    #[error("not all cells were checked and replaced: {0}")]
    #[diagnostic(
        code(synth::lost_cells),
        help("fix the cause and run the command again; no cell is replaced twice")
    )]
    LostCells(LogError),
    /// A rebuild did not start or finish.
    #[error("not all snapshots were rebuilt: {0}")]
    #[diagnostic(
        code(synth::rebuild),
        help("the log was not changed; fix the cause and run the command again")
    )]
    Rebuild(RebuildRefusal),
}
