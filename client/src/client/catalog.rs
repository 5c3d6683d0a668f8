//! Requests that read and change a spreadsheet's name, status, members and share links.
//!
//! Each change request includes the details version that the caller has read
//! ([`DetailsReply::changes`]). The API refuses the change if that version is stale, so a delayed
//! request cannot undo a newer change. Change requests are idempotent.

use cellar_api::{
    wire::ChangesReply, wire::DetailsReply, wire::LinkReply, wire::LinkRequest,
    wire::PersonRequest, wire::ShareRequest, wire::UpdateDetailsRequest,
};
use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::LinkId;
use reqwest::Method;

use super::{Client, spreadsheet};
use crate::ClientError;

impl Client {
    /// `GET /v1/spreadsheets/{id}/details`: returns the name, status, members and share links that
    /// are visible to the caller's role.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn details(&self, id: LogId) -> Result<DetailsReply, ClientError> {
        self.transport.send(spreadsheet(Method::GET, id, Some("details"))).await
    }

    /// `GET /v1/spreadsheets/{id}/details/changes`: returns one page of details changes, newest
    /// first. `cursor` is the previous page's `next`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn changes(
        &self,
        id: LogId,
        cursor: Option<u64>,
    ) -> Result<ChangesReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("details")).with_segment("changes");
        self.transport.send(call.with_text("cursor", cursor.map(|cursor| cursor.to_string()))).await
    }

    /// `PATCH /v1/spreadsheets/{id}/details`: renames, archives, unarchives, deletes or undeletes a
    /// spreadsheet.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn update_details(
        &self,
        id: LogId,
        request: &UpdateDetailsRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::PATCH, id, Some("details")).with_body(request)?;
        let if_match = seen_version.map(DetailsReply::etag_of);
        self.transport.send(call.if_match(if_match)).await
    }

    /// `POST /v1/spreadsheets/{id}/members`: shares a spreadsheet with a user, or changes the
    /// user's role.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn share(
        &self,
        id: LogId,
        request: &ShareRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("members")).with_body(request)?;
        let if_match = seen_version.map(DetailsReply::etag_of);
        self.transport.send(call.if_match(if_match)).await
    }

    /// `DELETE /v1/spreadsheets/{id}/members`: revokes a user's access.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn unshare(
        &self,
        id: LogId,
        person: &PersonRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::DELETE, id, Some("members"))
            .with_text("subject", Some(person.subject.clone()))
            .with_text("issuer", person.issuer.clone());
        let if_match = seen_version.map(DetailsReply::etag_of);
        self.transport.send(call.if_match(if_match)).await
    }

    /// `POST /v1/spreadsheets/{id}/links`: creates a share link.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create_link(
        &self,
        id: LogId,
        request: &LinkRequest,
        seen_version: Option<u64>,
    ) -> Result<LinkReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("links")).with_body(request)?;
        let if_match = seen_version.map(DetailsReply::etag_of);
        self.transport.send(call.if_match(if_match)).await
    }

    /// `DELETE /v1/spreadsheets/{id}/links/{link}`: revokes a share link.
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn revoke_link(
        &self,
        id: LogId,
        link: LinkId,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::DELETE, id, Some("links")).with_segment(&link.to_string());
        let if_match = seen_version.map(DetailsReply::etag_of);
        self.transport.send(call.if_match(if_match)).await
    }
}
