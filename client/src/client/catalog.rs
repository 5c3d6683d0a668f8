//! What the catalog says of a spreadsheet, and changes of that.
//!
//! Each change takes the number of changes that its caller has seen ([`DetailsReply::changes`]): the API
//! refuses it if there are others, so that a request that comes late takes back nothing. Repeated
//! unchanged, it finds that it is done.

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
    /// `GET /v1/spreadsheets/{id}/details`: what the catalog says of a spreadsheet, as far as whoever asks
    /// may know it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn details(&self, id: LogId) -> Result<DetailsReply, ClientError> {
        self.transport.send(spreadsheet(Method::GET, id, Some("details"))).await
    }

    /// `GET /v1/spreadsheets/{id}/details/changes`: one page of what was done to a spreadsheet's details,
    /// the newest first; go on below the reply's `next`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn changes(
        &self,
        id: LogId,
        below: Option<u64>,
    ) -> Result<ChangesReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("details")).with_segment("changes");
        self.transport.send(call.with_text("cursor", below.map(|below| below.to_string()))).await
    }

    /// `PATCH /v1/spreadsheets/{id}/details`: renames, archives, deletes or restores a spreadsheet.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn update_details(
        &self,
        id: LogId,
        request: &UpdateDetailsRequest,
        seen: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::PATCH, id, Some("details")).with_body(request)?;
        self.transport.send(call.only_of(seen.map(DetailsReply::etag_of))).await
    }

    /// `POST /v1/spreadsheets/{id}/members`: shares a spreadsheet with somebody, or changes what they
    /// may do.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn share(
        &self,
        id: LogId,
        request: &ShareRequest,
        seen: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("members")).with_body(request)?;
        self.transport.send(call.only_of(seen.map(DetailsReply::etag_of))).await
    }

    /// `DELETE /v1/spreadsheets/{id}/members`: shares a spreadsheet with somebody no longer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn unshare(
        &self,
        id: LogId,
        person: &PersonRequest,
        seen: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::DELETE, id, Some("members"))
            .with_text("subject", Some(person.subject.clone()))
            .with_text("issuer", person.issuer.clone());
        self.transport.send(call.only_of(seen.map(DetailsReply::etag_of))).await
    }

    /// `POST /v1/spreadsheets/{id}/links`: makes a link.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn add_link(
        &self,
        id: LogId,
        request: &LinkRequest,
        seen: Option<u64>,
    ) -> Result<LinkReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("links")).with_body(request)?;
        self.transport.send(call.only_of(seen.map(DetailsReply::etag_of))).await
    }

    /// `DELETE /v1/spreadsheets/{id}/links/{link}`: ends a link.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn remove_link(
        &self,
        id: LogId,
        link: LinkId,
        seen: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = spreadsheet(Method::DELETE, id, Some("links")).with_segment(&link.to_string());
        self.transport.send(call.only_of(seen.map(DetailsReply::etag_of))).await
    }
}
