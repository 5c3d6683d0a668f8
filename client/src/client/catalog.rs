//! Requests that read and change a spreadsheet's name, status, members and share links.
//!
//! Each request that makes a change is idempotent. It may contain the version of the details that
//! the caller has read ([`DetailsReply::changes`]). If the details have changed since that version,
//! the server rejects the request, so a delayed request cannot undo a newer change.

use cellar_api::wire::{
    ChangeView, ChangesReply, DetailsReply, LinkReply, LinkRequest, PersonRequest, ShareRequest,
    UpdateDetailsRequest,
};
use cellar_catalog::spreadsheet::LinkId;
use reqwest::Method;

use super::pages::read_pages;
use super::{ItemStream, Spreadsheet};
use crate::ClientError;

impl Spreadsheet {
    /// Returns the name, status, members and share links (`GET /v1/spreadsheets/{id}/details`). The
    /// response contains only what the caller's role may view.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn details(&self) -> Result<DetailsReply, ClientError> {
        self.client.transport.send(self.call(Method::GET).with_segment("details")).await
    }

    /// Returns the changes to the name, status, members and share links, newest first.
    pub fn changes(&self) -> ItemStream<ChangeView> {
        let pages = read_pages(self.client.url(), self, None, |spreadsheet, cursor| async move {
            spreadsheet.changes_page(cursor).await
        });
        pages.into_items(|page: ChangesReply| page.changes)
    }

    /// Returns one page of [`Spreadsheet::changes`] (`GET /v1/spreadsheets/{id}/details/changes`).
    /// `cursor` is the `next` of the previous page, or `None` for the first page.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn changes_page(&self, cursor: Option<u64>) -> Result<ChangesReply, ClientError> {
        let call = self.call(Method::GET).with_segment("details").with_segment("changes");
        self.client
            .transport
            .send(call.with_text("cursor", cursor.map(|cursor| cursor.to_string())))
            .await
    }

    /// Renames, archives, unarchives, deletes or undeletes a spreadsheet
    /// (`PATCH /v1/spreadsheets/{id}/details`).
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn update_details(
        &self,
        request: &UpdateDetailsRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = self.call(Method::PATCH).with_segment("details").with_body(request)?;
        self.client.transport.send(call.if_details_version(seen_version)).await
    }

    /// Shares a spreadsheet with a user, or changes the user's role
    /// (`POST /v1/spreadsheets/{id}/members`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn share(
        &self,
        request: &ShareRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = self.call(Method::POST).with_segment("members").with_body(request)?;
        self.client.transport.send(call.if_details_version(seen_version)).await
    }

    /// Revokes a user's access (`DELETE /v1/spreadsheets/{id}/members`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn unshare(
        &self,
        person: &PersonRequest,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = self
            .call(Method::DELETE)
            .with_segment("members")
            .with_text("subject", Some(person.subject.clone()))
            .with_text("issuer", person.issuer.clone());
        self.client.transport.send(call.if_details_version(seen_version)).await
    }

    /// Creates a share link (`POST /v1/spreadsheets/{id}/links`).
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn create_link(
        &self,
        request: &LinkRequest,
        seen_version: Option<u64>,
    ) -> Result<LinkReply, ClientError> {
        let call = self.call(Method::POST).with_segment("links").with_body(request)?;
        self.client.transport.send(call.if_details_version(seen_version)).await
    }

    /// Revokes a share link (`DELETE /v1/spreadsheets/{id}/links/{link}`).
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails.
    pub async fn revoke_link(
        &self,
        link: LinkId,
        seen_version: Option<u64>,
    ) -> Result<DetailsReply, ClientError> {
        let call = self.call(Method::DELETE).with_segment("links").with_segment(&link.to_string());
        self.client.transport.send(call.if_details_version(seen_version)).await
    }
}
