//! Access control checks: requests without a token, restricted roles, and hidden spreadsheets.

use cellar::ClientError;
use cellar_api::{wire::AppendRequest, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use uuid::Uuid;

use crate::smoke::report::{CheckOutcome, CheckResult};
use crate::smoke::target::SmokeTarget;

const NO_KEY: &str = "the private key is missing, so no other token can be signed";

pub(super) async fn rejects_missing_token(target: &SmokeTarget<'_>, log_id: LogId) -> CheckResult {
    let client = target.client(None)?;
    Ok(expect_problem(client.spreadsheet(log_id).head().await, ProblemKind::Unauthorized))
}

fn expect_problem<T>(reply: Result<T, ClientError>, kind: ProblemKind) -> CheckOutcome {
    match reply {
        Err(error) if error.problem_kind() == Some(kind) => CheckOutcome::Passed,
        Err(error) => CheckOutcome::Failed(format!("expected {}, got: {error}", kind.status())),
        Ok(_) => CheckOutcome::Failed(format!("expected {}, but it was allowed", kind.status())),
    }
}

pub(super) async fn rejects_edits_of_viewer(
    target: &SmokeTarget<'_>,
    log_id: LogId,
    request: &AppendRequest,
) -> CheckResult {
    let Some(token) = target.token_for(log_id, Role::Viewer)? else {
        return Ok(CheckOutcome::Skipped(NO_KEY.to_owned()));
    };
    let viewer_client = target.client(Some(&token))?;
    viewer_client.spreadsheet(log_id).head().await?;
    Ok(expect_problem(
        viewer_client.spreadsheet(log_id).append(request).await,
        ProblemKind::Forbidden,
    ))
}

/// Checks that a spreadsheet seems not to exist if the token grants access only to another
/// spreadsheet.
pub(super) async fn hides_other_spreadsheets(
    target: &SmokeTarget<'_>,
    log_id: LogId,
) -> CheckResult {
    let other_log_id = LogId::from_uuid(Uuid::new_v4());
    let Some(token) = target.token_for(other_log_id, Role::Owner)? else {
        return Ok(CheckOutcome::Skipped(NO_KEY.to_owned()));
    };
    let client = target.client(Some(&token))?;
    Ok(expect_problem(client.spreadsheet(log_id).head().await, ProblemKind::NotFound))
}
