//! Uploads the bodies of large log entries to the object store (S3), and downloads them, without
//! passing through the API.

use std::collections::BTreeMap;

use cellar_api::cost::Cost;
use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::ExternalBody, wire::MutationView,
    wire::SheetAxisMaps, wire::UploadReply, wire::UploadRequest, wire::hexadecimal,
};
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
use super::{Client, MAX_REPLY_BODY_BYTES, Spreadsheet};
use crate::ClientError;

/// Returns the SHA-256 hash of an object in hexadecimal.
pub(crate) fn sha256(object: &[u8]) -> String {
    hexadecimal(&Sha256::digest(object))
}

/// A presigned upload request for one object.
pub(super) struct UploadGrant<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) headers: &'a BTreeMap<String, String>,
}

impl Spreadsheet {
    /// Returns an upload URL for the body of a large log entry
    /// (`POST /v1/spreadsheets/{id}/uploads`). Does not change the spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn request_upload(
        &self,
        request: &UploadRequest,
    ) -> Result<UploadReply, ClientError> {
        let call = self.call(Method::POST).with_segment("uploads").with_body(request)?;
        self.client.transport.send(call).await
    }

    /// Appends an uploaded object as a log entry
    /// (`POST /v1/spreadsheets/{id}/uploads/{upload}/complete`). The request is idempotent.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. A problem of kind `InvalidUpload` means that
    /// the object is missing or too old; request a new upload URL in this case.
    pub async fn complete_upload(
        &self,
        upload: Uuid,
        request: &CompleteRequest,
    ) -> Result<AppendReply, ClientError> {
        let call = self
            .call(Method::POST)
            .with_segment("uploads")
            .with_segment(&upload.to_string())
            .with_segment("complete")
            .with_body(request)?;
        self.client.transport.send(call).await
    }
}

impl Client {
    /// Uploads an object to its upload URL. The request is sent without a token.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. The object may exist even if the object
    /// store refuses the upload: an upload URL works only once, so a retry after a lost response is
    /// refused. [`Spreadsheet::complete_upload`] determines whether the object exists.
    pub async fn upload(&self, grant: &UploadReply, object: Vec<u8>) -> Result<(), ClientError> {
        let UploadReply { method, url, headers, .. } = grant;
        self.put_object(UploadGrant { method, url, headers }, object).await
    }

    /// Uploads an object with a presigned request.
    pub(super) async fn put_object(
        &self,
        grant: UploadGrant<'_>,
        object: Vec<u8>,
    ) -> Result<(), ClientError> {
        let invalid = |part: &str| ClientError::NotUnderstood {
            url: self.url().to_owned(),
            why: format!("the upload grant has an invalid {part}"),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in grant.headers {
            let name = name.parse::<HeaderName>().map_err(|_| invalid("header name"))?;
            let value = HeaderValue::from_str(value).map_err(|_| invalid("header value"))?;
            if name == CONTENT_LENGTH && value.as_bytes() != object.len().to_string().as_bytes() {
                return Err(invalid("Content-Length"));
            }
            headers.insert(name, value);
        }
        let bytes = u64::try_from(object.len()).unwrap_or(u64::MAX);
        let request = ObjectRequest {
            method: Method::from_bytes(grant.method.as_bytes()).map_err(|_| invalid("method"))?,
            url: parse_object_url(grant.url).ok_or_else(|| invalid("URL"))?,
            headers,
            body: Some(object),
            max_bytes: MAX_REPLY_BODY_BYTES,
            cost: Cost { object_puts: 1, object_bytes_sent: bytes, ..Cost::default() },
        };
        self.transport.send_object_request(request).await.map(|_| ())
    }

    /// Downloads and verifies the body of a large entry. Returns the entry's mutations, with the
    /// operations as committed.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular [`ClientError::WrongObject`]
    /// if the object does not match the entry, and [`ClientError::UnexpectedStatus`] if the URL has
    /// expired. To get a new URL, load the entry again.
    pub async fn external_mutations(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ClientError> {
        let object = self.external_object(external).await?;
        self.mutations_of(external, &object)
    }

    /// Downloads the body of a large entry. The caller must verify the body.
    pub(crate) async fn external_object(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<u8>, ClientError> {
        let url = external.url.as_deref().and_then(parse_object_url);
        let url =
            url.ok_or_else(|| wrong_object(self.url(), "the entry has no URL for its object"))?;
        let length = match usize::try_from(external.bytes) {
            Ok(length) if length <= MAX_UPLOAD_BYTES => length,
            _ => {
                let origin = url.origin().ascii_serialization();
                let why =
                    format!("{} bytes exceed the limit of {MAX_UPLOAD_BYTES}", external.bytes);
                return Err(wrong_object(&origin, &why));
            }
        };
        let request = ObjectRequest {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            // The limit must also leave room for an S3 error document, which may be longer than a
            // small object.
            max_bytes: length.max(MAX_REPLY_BODY_BYTES),
            cost: Cost { object_gets: 1, ..Cost::default() },
        };
        self.transport.send_object_request(request).await
    }

    /// Verifies and decodes the body of a large entry. Returns the entry's mutations, with the
    /// operations as committed.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::WrongObject`] if the object does not match the entry.
    pub(crate) fn mutations_of(
        &self,
        external: &ExternalBody,
        object: &[u8],
    ) -> Result<Vec<MutationView>, ClientError> {
        let object_url = external.url.as_deref().and_then(parse_object_url);
        let origin = match object_url {
            Some(url) => url.origin().ascii_serialization(),
            None => self.url().to_owned(),
        };
        let fault = |why: &str| wrong_object(&origin, why);
        let length = u64::try_from(object.len()).ok();
        if length != Some(external.bytes) || sha256(object) != external.sha256.to_ascii_lowercase()
        {
            return Err(fault("its length or SHA-256 differs from the entry"));
        }
        let operations = decode_external_body(object).map_err(|error| fault(&error.to_string()))?;
        if u32::try_from(operations.len()) != Ok(external.count) {
            return Err(fault("its number of mutations differs from the entry"));
        }
        let map = space_map(&external.axis_maps)
            .ok_or_else(|| fault("the axis maps of the entry are invalid"))?;
        let view = |(id, op)| {
            let committed = transform(&op, &map);
            MutationView { id, base: external.base, op, committed }
        };
        Ok((external.first_id..).zip(operations).map(view).collect())
    }
}

fn wrong_object(url: &str, why: &str) -> ClientError {
    ClientError::WrongObject { url: url.to_owned(), why: why.to_owned() }
}

/// Parses the URL of an object. Returns `None` if the URL is not an HTTP URL.
pub(super) fn parse_object_url(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Decodes an entry's axis maps, which describe row and column moves. Returns `None` if they are
/// invalid.
fn space_map(sheet_maps: &[SheetAxisMaps]) -> Option<SpaceMap> {
    if sheet_maps.len() > MAX_MOVED_SHEETS {
        return None;
    }
    let sheets = sheet_maps.iter().map(|sheet| {
        let rows = axis_map(Axis::Rows, &sheet.rows)?;
        let columns = axis_map(Axis::Columns, &sheet.columns)?;
        Some((sheet.sheet, SheetMap { target: sheet.target, rows, columns }))
    });
    let sheets: Option<Vec<(SheetId, SheetMap)>> = sheets.collect();
    sheets.map(SpaceMap::from_sheets)
}

/// Decodes an axis map from runs of retained rows or columns. A run consists of `src`, `dst` and
/// `len`. Returns `None` if a run is invalid.
fn axis_map(axis: Axis, runs: &[(u32, u32, u32)]) -> Option<AxisMap> {
    if runs.len() > MAX_AXIS_RUNS {
        return None;
    }
    let mut map = AxisMap::delete(axis, &Spans::all(axis));
    for &(src, dst, len) in runs {
        map = map.with_run(Run { src, dst, len });
        if len == 0 || map.get(src) != Some(dst) || !map.keeps_order() {
            return None;
        }
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_axis_maps_and_rejects_invalid_runs() {
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
    fn object_urls_must_be_http() {
        assert!(parse_object_url("https://bucket.example/uploads/a?X-Amz-Signature=1").is_some());
        for bad in ["", "file:///etc/passwd", "uploads/a"] {
            assert!(parse_object_url(bad).is_none(), "{bad}");
        }
    }
}
