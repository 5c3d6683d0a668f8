//! Who gets in.

use cellar::ClientError;
use cellar_api::{wire::AppendRequest, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use uuid::Uuid;

use super::super::Target;
use super::super::report::CheckOutcome;
use super::Checked;

const NO_KEY: &str = "the private key is not here, so no other token can be made";

/// Nobody gets in without a token.
pub(super) async fn stranger(target: &Target<'_>, id: LogId) -> Checked {
    let stranger = target.client(None)?;
    Ok(refused(stranger.head(id, None).await, ProblemKind::Unauthorized))
}

fn refused<T>(reply: Result<T, ClientError>, kind: ProblemKind) -> CheckOutcome {
    match reply {
        Err(error) if error.problem_kind() == Some(kind) => CheckOutcome::Passed,
        Err(error) => CheckOutcome::Failed(format!("expected {}, got: {error}", kind.status())),
        Ok(_) => CheckOutcome::Failed(format!("expected {}, but it was allowed", kind.status())),
    }
}

/// A viewer reads and does not write.
pub(super) async fn viewer(target: &Target<'_>, id: LogId, request: &AppendRequest) -> Checked {
    let Some(token) = target.token_for(id, Role::Viewer)? else {
        return Ok(CheckOutcome::Skipped(NO_KEY.to_owned()));
    };
    let viewer = target.client(Some(&token))?;
    viewer.head(id, None).await?;
    Ok(refused(viewer.append(id, request).await, ProblemKind::Forbidden))
}

/// Whoever may see another spreadsheet only does not learn that this one is there.
pub(super) async fn hidden(target: &Target<'_>, id: LogId) -> Checked {
    let other = LogId::from_uuid(Uuid::new_v4());
    let Some(token) = target.token_for(other, Role::Owner)? else {
        return Ok(CheckOutcome::Skipped(NO_KEY.to_owned()));
    };
    let stranger = target.client(Some(&token))?;
    Ok(refused(stranger.head(id, None).await, ProblemKind::NotFound))
}
