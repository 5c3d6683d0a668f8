//! Name and members of a replayed fork.

use cellar_api::wire::{DetailsReply, ShareRequest};
use cellar_catalog::spreadsheet::Member;
use serde::Serialize;

use super::ReplayError;
use crate::Spreadsheet;

/// The name and sharing of a fork, as far as a replay can keep them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptDetails {
    /// Name of the fork, or an empty string if it has none. The new fork has the same name.
    pub name: String,
    /// Members of the fork. The new fork has the same members and roles, and the caller as an owner.
    /// `None` if the caller may not see the members: the new fork then has no other member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<Member>>,
    /// Number of share links of the fork. They grant no access to the new fork. `None` if the caller
    /// may not see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_left: Option<usize>,
}

impl KeptDetails {
    pub(super) fn of(details: DetailsReply) -> Self {
        let links_left = details.links.map(|links| links.len());
        Self { name: details.name, members: details.members, links_left }
    }

    /// Members that already have their role are skipped, so that a repetition changes nothing. A
    /// member of the new fork keeps a role that was given in the meantime.
    pub(super) async fn share_with_members(
        &self,
        new_fork: &Spreadsheet,
    ) -> Result<(), ReplayError> {
        let Some(members) = &self.members else { return Ok(()) };
        let new_members = new_fork.details().await?.members.unwrap_or_default();
        for member in members {
            let is_member = new_members.iter().any(|present| present.person == member.person);
            if !is_member {
                let request = ShareRequest {
                    subject: member.person.subject.clone(),
                    issuer: Some(member.person.issuer.clone()),
                    role: member.role,
                };
                new_fork.share(&request, None).await?;
            }
        }
        Ok(())
    }
}
