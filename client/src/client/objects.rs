//! Large entries: their objects go to the store and come from it directly.

use std::collections::BTreeMap;

use cellar_api::cost::Cost;
use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::ExternalBody, wire::MutationView,
    wire::SheetAxisMaps, wire::UploadReply, wire::UploadRequest, wire::hexadecimal,
};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_AXIS_RUNS, MAX_MOVED_SHEETS, MAX_UPLOAD_BYTES};
use cellar_log::entry::decode_external_body;
use cellar_log::transform::{SheetMap, SpaceMap, transform};
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{SheetId, Spans};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::transport::ObjectRequest;
use super::{Client, MAX_REPLY_BODY_BYTES, spreadsheet};
use crate::ClientError;

/// The SHA-256 of an object, hexadecimal.
pub(crate) fn sha256(object: &[u8]) -> String {
    hexadecimal(&Sha256::digest(object))
}

/// The one request by which an object may be uploaded.
pub(super) struct Grant<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) headers: &'a BTreeMap<String, String>,
}

impl Client {
    /// `POST /v1/spreadsheets/{id}/uploads`: asks for the request by which an object may be
    /// uploaded. Nothing is changed by it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn request_upload(
        &self,
        id: LogId,
        request: &UploadRequest,
    ) -> Result<UploadReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("uploads")).with_body(request)?;
        self.transport.send(call).await
    }

    /// Uploads an object as it was granted: with the method, to the URL and with the headers of the
    /// grant, and without the token.
    ///
    /// # Errors
    /// [`ClientError`]. A refusal does not say that the object is not there: a request works once,
    /// so the repetition of one whose answer was lost is refused. Only
    /// [`Client::complete_upload`] finds out.
    pub async fn upload(&self, grant: &UploadReply, object: Vec<u8>) -> Result<(), ClientError> {
        let UploadReply { method, url, headers, .. } = grant;
        self.put_object(Grant { method, url, headers }, object).await
    }

    /// Uploads an object as it was granted.
    pub(super) async fn put_object(
        &self,
        grant: Grant<'_>,
        object: Vec<u8>,
    ) -> Result<(), ClientError> {
        let fault = |why: &str| ClientError::NotUnderstood {
            url: self.url().to_owned(),
            why: format!("it grants an upload that cannot be made: {why}"),
        };
        let method = Method::from_bytes(grant.method.as_bytes());
        let mut headers = HeaderMap::new();
        for (name, value) in grant.headers {
            let name = name.parse::<HeaderName>().map_err(|_| fault("a header's name"))?;
            let value = HeaderValue::from_str(value).map_err(|_| fault("a header's value"))?;
            if name == CONTENT_LENGTH && value.as_bytes() != object.len().to_string().as_bytes() {
                return Err(fault("it is for another length"));
            }
            headers.insert(name, value);
        }
        let bytes = u64::try_from(object.len()).unwrap_or(u64::MAX);
        let request = ObjectRequest {
            method: method.map_err(|_| fault("its method"))?,
            url: object_url(grant.url).ok_or_else(|| fault("its URL"))?,
            headers,
            body: Some(object),
            max_bytes: MAX_REPLY_BODY_BYTES,
            cost: Cost { object_puts: 1, object_bytes_sent: bytes, ..Cost::default() },
        };
        self.transport.object(request).await.map(|_| ())
    }

    /// `POST /v1/spreadsheets/{id}/uploads/{upload}/complete`: makes an uploaded object an entry,
    /// once, however often it is repeated.
    ///
    /// # Errors
    /// [`ClientError`]; a problem of the kind `UploadRefused` if the object is not there or too
    /// old: ask for a new upload.
    pub async fn complete_upload(
        &self,
        id: LogId,
        upload: Uuid,
        request: &CompleteRequest,
    ) -> Result<AppendReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("uploads"))
            .with_segment(&upload.to_string())
            .with_segment("complete")
            .with_body(request)?;
        self.transport.send(call).await
    }

    /// The mutations of a large entry: fetches its object, verifies it, and moves them to where
    /// the entry stands.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::WrongObject`] if the object is not what the entry says, and
    /// a refusal of the store if the URL has ended: load the entry again for a new one.
    pub async fn external_mutations(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ClientError> {
        let object = self.external_object(external).await?;
        self.mutations_of(external, &object)
    }

    /// Fetches the object of a large entry. [`Client::mutations_of`] verifies it.
    pub(crate) async fn external_object(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<u8>, ClientError> {
        let url = external.url.as_deref().and_then(object_url);
        let url = url.ok_or_else(|| wrong(self.url(), "the entry has no URL for its object"))?;
        let shown = url.origin().ascii_serialization();
        let length =
            usize::try_from(external.bytes).ok().filter(|bytes| *bytes <= MAX_UPLOAD_BYTES);
        let max_bytes = length
            .ok_or_else(|| wrong(&shown, "the entry says that it is longer than any"))?
            // What the store says when it refuses may be longer than a small object.
            .max(MAX_REPLY_BODY_BYTES);
        let cost = Cost { object_gets: 1, ..Cost::default() };
        let (method, headers, body) = (Method::GET, HeaderMap::new(), None);
        let request = ObjectRequest { method, url, headers, body, max_bytes, cost };
        self.transport.object(request).await
    }

    /// The mutations of a large entry whose object is there, moved to where the entry stands.
    ///
    /// # Errors
    /// [`ClientError::WrongObject`] if the object is not what the entry says.
    pub(crate) fn mutations_of(
        &self,
        external: &ExternalBody,
        object: &[u8],
    ) -> Result<Vec<MutationView>, ClientError> {
        let url = external.url.as_deref().and_then(object_url);
        let shown = url.map(|url| url.origin().ascii_serialization());
        let fault = |why: &str| wrong(shown.as_deref().unwrap_or_else(|| self.url()), why);
        let length = u64::try_from(object.len()).ok();
        if length != Some(external.bytes) || sha256(object) != external.sha256.to_ascii_lowercase()
        {
            return Err(fault("its length or SHA-256 is not what the entry says"));
        }
        let operations = decode_external_body(object).map_err(|e| fault(&e.to_string()))?;
        if u32::try_from(operations.len()) != Ok(external.count) {
            return Err(fault("it does not hold as many mutations as the entry says"));
        }
        let map =
            space_map(&external.axis_maps).ok_or_else(|| fault("the entry's maps are none"))?;
        let view = |(id, op)| {
            let committed = transform(&op, &map);
            MutationView { id, base: external.base, op, committed }
        };
        Ok((external.first_id..).zip(operations).map(view).collect())
    }
}

fn wrong(url: &str, why: &str) -> ClientError {
    ClientError::WrongObject { url: url.to_owned(), why: why.to_owned() }
}

pub(super) fn object_url(url: &str) -> Option<Url> {
    Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// The maps of an entry; `None` if they are not what a server sends.
fn space_map(moved: &[SheetAxisMaps]) -> Option<SpaceMap> {
    if moved.len() > MAX_MOVED_SHEETS {
        return None;
    }
    let sheets = moved.iter().map(|sheet| {
        let rows = axis_map(Axis::Rows, &sheet.rows)?;
        let columns = axis_map(Axis::Columns, &sheet.columns)?;
        Some((sheet.sheet, SheetMap { target: sheet.target, rows, columns }))
    });
    let sheets: Option<Vec<(SheetId, SheetMap)>> = sheets.collect();
    sheets.map(SpaceMap::from_sheets)
}

fn axis_map(axis: Axis, runs: &[(u32, u32, u32)]) -> Option<AxisMap> {
    if runs.len() > MAX_AXIS_RUNS {
        return None;
    }
    // From a map that keeps nothing, run by run: one that breaks the order is not taken.
    let nothing = AxisMap::delete(axis, &Spans::all(axis));
    runs.iter().try_fold(nothing, |map, &(src, dst, len)| {
        let map = map.with_run(Run { src, dst, len });
        (len > 0 && map.get(src) == Some(dst) && map.keeps_order()).then_some(map)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_the_map_they_were_sent_as() {
        let map =
            AxisMap::insert(Axis::Rows, 3, 2).then(&AxisMap::delete(Axis::Rows, &Spans::one(7, 1)));
        let sent: Vec<(u32, u32, u32)> =
            map.runs().iter().map(|run| (run.src, run.dst, run.len)).collect();
        assert_eq!(axis_map(Axis::Rows, &sent), Some(map));
        assert!(axis_map(Axis::Rows, &[]).is_some_and(|map| map.get(0).is_none()));
        let limit = Axis::Rows.limit();
        for bad in [
            vec![(0, 0, 0)],
            vec![(0, 0, limit + 1)],
            vec![(0, 5, 2), (2, 3, 2)],
            vec![(5, 0, 2), (4, 9, 2)],
            vec![(u32::MAX, 0, 1)],
        ] {
            assert_eq!(axis_map(Axis::Rows, &bad), None, "{bad:?}");
        }
        let many = |count: usize| {
            let runs =
                (0..u32::try_from(count).unwrap()).map(|i| (2 * i, i, 1)).collect::<Vec<_>>();
            axis_map(Axis::Rows, &runs).is_some()
        };
        assert!(many(MAX_AXIS_RUNS) && !many(MAX_AXIS_RUNS + 1));
    }

    #[test]
    fn a_url_of_an_object_is_http() {
        assert!(object_url("https://bucket.example/uploads/a?X-Amz-Signature=1").is_some());
        for bad in ["", "file:///etc/passwd", "uploads/a"] {
            assert!(object_url(bad).is_none(), "{bad}");
        }
    }
}
