//! Transfers the bodies of large log entries directly to and from the object store (S3), bypassing
//! the API.

use std::collections::BTreeMap;

use cellar_api::cost::Cost;
use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::ExternalBody, wire::MutationView,
    wire::NamedSheet, wire::UploadReply, wire::UploadRequest, wire::hexadecimal,
};
use cellar_base::limits::{MAX_AXIS_RUNS, MAX_MOVED_SHEETS, MAX_SHEETS, MAX_UPLOAD_BYTES};
use cellar_log::entry::decode_external_body;
use cellar_log::transform::{FormulaSheet, FormulaSheets, SheetMap, SpaceMap, transform};
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{SheetId, Spans};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::transport::ObjectRequest;
use super::{Client, MAX_REPLY_BODY_BYTES, Spreadsheet};
use crate::ClientError;

/// In hexadecimal.
pub(crate) fn sha256(object: &[u8]) -> String {
    hexadecimal(&Sha256::digest(object))
}

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

    /// Appends an uploaded object as a log entry (`POST
    /// /v1/spreadsheets/{id}/uploads/{upload}/complete`). The request is idempotent.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. A problem of kind `InvalidUpload` means that
    /// the object is missing or too old. In this case, request a new upload URL and upload the
    /// object again.
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
    /// Returns a [`ClientError`] if the request fails. The object may have been stored
    /// nevertheless: an upload URL works only once, so the object store refuses the retry of an
    /// upload whose response was lost. [`Spreadsheet::complete_upload`] determines whether the
    /// object exists.
    pub async fn upload(&self, grant: &UploadReply, object: Vec<u8>) -> Result<(), ClientError> {
        let UploadReply { method, url, headers, .. } = grant;
        self.put_object(UploadGrant { method, url, headers }, object).await
    }

    pub(super) async fn put_object(
        &self,
        grant: UploadGrant<'_>,
        object: Vec<u8>,
    ) -> Result<(), ClientError> {
        let invalid =
            |part| self.unexpected_reply(format!("the upload grant has an invalid {part}"));
        let headers = upload_headers(grant.headers, object.len()).map_err(invalid)?;
        let object_bytes_sent = u64::try_from(object.len()).unwrap_or(u64::MAX);
        let request = ObjectRequest {
            method: Method::from_bytes(grant.method.as_bytes()).map_err(|_| invalid("method"))?,
            url: parse_object_url(grant.url).ok_or_else(|| invalid("URL"))?,
            headers,
            body: Some(object),
            max_bytes: MAX_REPLY_BODY_BYTES,
            cost: Cost { object_puts: 1, object_bytes_sent, ..Cost::default() },
        };
        self.transport.send_object_request(request).await?;
        Ok(())
    }

    /// Downloads and verifies the body of a large entry. Returns the entry's mutations with their
    /// committed operations.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular [`ClientError::WrongObject`]
    /// if the object does not match the entry, and [`ClientError::UnexpectedStatus`] if the
    /// download URL has expired. To get a new URL, request the entry again.
    pub async fn external_mutations(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ClientError> {
        let object = self.download_external_body(external).await?;
        self.verified_mutations(external, &object)
    }

    /// The caller must verify the body.
    pub(crate) async fn download_external_body(
        &self,
        external: &ExternalBody,
    ) -> Result<Vec<u8>, ClientError> {
        let url = external.url.as_deref().and_then(parse_object_url);
        let Some(url) = url else {
            return Err(wrong_object(self.url(), "the entry has no URL for its object"));
        };
        let length = match usize::try_from(external.bytes) {
            Ok(length) if length <= MAX_UPLOAD_BYTES => length,
            _ => {
                let origin = url.origin().ascii_serialization();
                let why = format!(
                    "the body has {} bytes, but at most {MAX_UPLOAD_BYTES} are allowed",
                    external.bytes
                );
                return Err(wrong_object(&origin, why));
            }
        };
        let request = ObjectRequest {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            // Read enough bytes for an error document of S3, which may be longer than a small
            // object.
            max_bytes: length.max(MAX_REPLY_BODY_BYTES),
            cost: Cost { object_gets: 1, ..Cost::default() },
        };
        self.transport.send_object_request(request).await
    }

    /// Returns [`ClientError::WrongObject`] if the object does not match the entry.
    pub(crate) fn verified_mutations(
        &self,
        external: &ExternalBody,
        object: &[u8],
    ) -> Result<Vec<MutationView>, ClientError> {
        decode_mutations(external, object).map_err(|why| {
            let object_url = external.url.as_deref().and_then(parse_object_url);
            let origin = object_url.map(|url| url.origin().ascii_serialization());
            wrong_object(origin.as_deref().unwrap_or(self.url()), why)
        })
    }
}

/// The error states how the body differs from the entry.
fn decode_mutations(external: &ExternalBody, object: &[u8]) -> Result<Vec<MutationView>, String> {
    let length = u64::try_from(object.len()).ok();
    if length != Some(external.bytes) || sha256(object) != external.sha256.to_ascii_lowercase() {
        return Err("the length or SHA-256 hash of the body differs from the entry".to_owned());
    }
    let operations = decode_external_body(object).map_err(|error| error.to_string())?;
    if u32::try_from(operations.len()) != Ok(external.count) {
        return Err("the number of mutations in the body differs from the entry".to_owned());
    }
    let map = decode_space_map(external).ok_or("the axis maps of the entry are invalid")?;
    let to_view = |(id, op)| {
        let committed = transform(&op, &map);
        MutationView { id, base: external.base, op, committed }
    };
    Ok((external.first_id..).zip(operations).map(to_view).collect())
}

fn upload_headers(
    granted: &BTreeMap<String, String>,
    object_bytes: usize,
) -> Result<HeaderMap, &'static str> {
    let mut headers = HeaderMap::new();
    for (name, value) in granted {
        let name = name.parse::<HeaderName>().map_err(|_| "header name")?;
        let value = HeaderValue::from_str(value).map_err(|_| "header value")?;
        if name == CONTENT_LENGTH && value.as_bytes() != object_bytes.to_string().as_bytes() {
            return Err("Content-Length");
        }
        headers.insert(name, value);
    }
    Ok(headers)
}

fn wrong_object(url: &str, why: impl Into<String>) -> ClientError {
    ClientError::WrongObject { url: url.to_owned(), why: why.into() }
}

pub(super) fn parse_object_url(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// The axis maps transform the entry's operations from their base to the entry's position. Returns
/// `None` if the axis maps are invalid.
fn decode_space_map(external: &ExternalBody) -> Option<SpaceMap> {
    let ExternalBody { axis_maps, named_sheets, .. } = external;
    if axis_maps.len() > MAX_MOVED_SHEETS || named_sheets.len() > MAX_SHEETS {
        return None;
    }
    let sheets = axis_maps.iter().map(|sheet| {
        let rows = decode_axis_map(Axis::Rows, &sheet.rows)?;
        let columns = decode_axis_map(Axis::Columns, &sheet.columns)?;
        Some((sheet.sheet, SheetMap { target: sheet.target, rows, columns }))
    });
    let sheets: Option<Vec<(SheetId, SheetMap)>> = sheets.collect();
    let names = named_sheets.iter().map(|NamedSheet { name, sheet, target_name }| {
        (name.clone(), FormulaSheet { sheet: *sheet, later_name: target_name.clone() })
    });
    let formula_sheets = FormulaSheets::from_names(names);
    sheets.map(|sheets| SpaceMap::from_sheets(sheets).with_formula_sheets(formula_sheets))
}

/// Each run is a tuple of `src`, `dst` and `len`. Returns `None` if a run is invalid or there are
/// too many runs.
fn decode_axis_map(axis: Axis, runs: &[(u32, u32, u32)]) -> Option<AxisMap> {
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
        assert_eq!(decode_axis_map(Axis::Rows, &sent), Some(map));
        assert!(decode_axis_map(Axis::Rows, &[]).is_some_and(|map| map.get(0).is_none()));
        let limit = Axis::Rows.limit();
        for bad in [
            vec![(0, 0, 0)],
            vec![(0, 0, limit + 1)],
            vec![(0, 5, 2), (2, 3, 2)],
            vec![(5, 0, 2), (4, 9, 2)],
            vec![(u32::MAX, 0, 1)],
        ] {
            assert_eq!(decode_axis_map(Axis::Rows, &bad), None, "{bad:?}");
        }
        let many = |count: usize| {
            let runs =
                (0..u32::try_from(count).unwrap()).map(|i| (2 * i, i, 1)).collect::<Vec<_>>();
            decode_axis_map(Axis::Rows, &runs).is_some()
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
