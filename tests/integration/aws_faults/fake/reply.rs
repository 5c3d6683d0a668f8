//! Requests and replies in the formats of AWS: forms and XML.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

/// Parses the fields of a form.
pub(super) fn form(body: &[u8]) -> HashMap<String, String> {
    let text = String::from_utf8_lossy(body);
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    fields.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// Returns the access key and the region of a signature: `…
/// Credential=KEY/DATE/REGION/SERVICE/aws4_request, …`.
pub(super) fn scope(authorization: &HeaderValue) -> Option<(String, String)> {
    let (_, scope) = authorization.to_str().ok()?.split_once("Credential=")?;
    let mut parts = scope.split('/');
    Some((parts.next()?.to_owned(), parts.nth(1)?.to_owned()))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// Decodes a body of chunks, each prefixed with its length in hexadecimal.
pub(super) fn unchunked(body: &[u8]) -> Vec<u8> {
    let (mut rest, mut whole) = (body, Vec::new());
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let head = std::str::from_utf8(&rest[..at]).unwrap();
        let length = usize::from_str_radix(head.split(';').next().unwrap(), 16).unwrap_or(0);
        if length == 0 {
            break;
        }
        whole.extend_from_slice(&rest[at + 2..at + 2 + length]);
        rest = &rest[at + 2 + length + 2..];
    }
    whole
}

/// Returns a response of STS or CloudFormation.
pub(super) fn result(action: &str, inner: &str) -> Response {
    xml(
        StatusCode::OK,
        format!(
            "<{action}Response><{action}Result>{inner}</{action}Result><ResponseMetadata>\
             <RequestId>r</RequestId></ResponseMetadata></{action}Response>"
        ),
    )
}

/// Returns an error in the format of S3 or of the other services.
pub(super) fn error(status: StatusCode, code: &str, message: &str, is_of_s3: bool) -> Response {
    let (code, message) = (escaped(code), escaped(message));
    let inner = format!("<Code>{code}</Code><Message>{message}</Message>");
    xml(
        status,
        match is_of_s3 {
            true => format!("<Error>{inner}</Error>"),
            false => {
                format!("<ErrorResponse><Error><Type>Sender</Type>{inner}</Error></ErrorResponse>")
            }
        },
    )
}

/// Returns a successful response to any S3 request.
pub(super) fn object() -> Response {
    Response::builder().header("etag", "\"e\"").body(Body::empty()).unwrap()
}

/// Returns an XML element that contains a text.
pub(super) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn xml(status: StatusCode, text: String) -> Response {
    let reply = Response::builder().status(status).header("content-type", "text/xml");
    reply.body(Body::from(text)).unwrap()
}
