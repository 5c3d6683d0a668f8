//! `GET /`: the page that a browser shows at the URL of a stack, of a spreadsheet or of a share link.
//! It says which command to type instead. Id and secret are in the fragment of the URL, which the
//! browser does not send.

use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::IntoResponse;

use super::state::ApiState;

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// The page loads nothing.
const NOTHING_ELSE: &str = "default-src 'none'";

pub(super) async fn get_start_page(
    State(state): State<ApiState>,
    headers: HeaderMap,
) -> impl IntoResponse {
    let text = describe(state.stack());
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let (content_type, body) =
        if accept.contains("text/html") { (HTML, to_html(&text)) } else { (TEXT, text) };
    let response_headers: [(HeaderName, &'static str); 4] = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, NOTHING_ELSE),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (response_headers, body)
}

fn describe(stack: &str) -> String {
    format!(
        "This is the stack {stack} of Cellar, a spreadsheet backend. It has no page for browsers yet.

If you opened a link to a spreadsheet, copy the whole address of this page, and type it in quotes:

  cellar get -s 'ADDRESS'

To work with the stack, type the address without the part from # on, and then your token:

  cellar login ADDRESS

Programs use the HTTP API, which /v1/openapi.json describes.
"
    )
}

fn to_html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<!doctype html>\n<title>Cellar</title>\n<pre>\n{escaped}</pre>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_no_markup_of_others() {
        let html = to_html(&describe("a<script>&"));
        assert!(html.contains("the stack a&lt;script&gt;&amp; of Cellar"), "{html}");
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</pre>\n"));
    }
}
