//! The page in the browser: `GET /` and the files that it loads. Every path is a route of its own, so
//! that no request can name another file.

use axum::Router;
use axum::extract::State;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cellar_web::{File, Representation};

use super::accept_encoding::accepts;
use super::if_none_match::IfNoneMatch;
use super::start_page;
use super::state::ApiState;

const INDEX: &str = "/";
const HTML: &str = "text/html";
/// A year, the longest time that caches heed.
const KEEP_FOREVER: &str = "public, max-age=31536000, immutable";
/// Browsers keep the file, and ask each time whether it has changed.
const ASK_EACH_TIME: &str = "no-cache";
/// The page uses none of these, so that a script in it cannot either.
const NO_DEVICES: &str =
    "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";
const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// Adds a route for each file of the page.
pub(super) fn add_routes(mut router: Router<ApiState>) -> Router<ApiState> {
    router = router.route(INDEX, get(get_index));
    for file in cellar_web::FILES {
        if file.path != INDEX {
            let handler = move |State(state): State<ApiState>, headers: HeaderMap, known| async move {
                respond(&state, file, &headers, &known).await
            };
            router = router.route(file.path, get(handler));
        }
    }
    router
}

/// Browsers get the page. Other clients get a text that says what the stack is.
async fn get_index(
    State(state): State<ApiState>,
    headers: HeaderMap,
    known: IfNoneMatch,
) -> Response {
    let mut response = match cellar_web::index() {
        Some(index) if text_of(&headers, &ACCEPT).contains(HTML) => {
            respond(&state, index, &headers, &known).await
        }
        _ => start_page::respond(state.stack()),
    };
    response.headers_mut().append(VARY, HeaderValue::from_name(ACCEPT));
    response
}

async fn respond(
    state: &ApiState,
    file: &File,
    request_headers: &HeaderMap,
    known: &IfNoneMatch,
) -> Response {
    let (encoding, representation) = choose(file, text_of(request_headers, &ACCEPT_ENCODING));
    let caching = if file.is_immutable { KEEP_FOREVER } else { ASK_EACH_TIME };
    let headers: [(HeaderName, &'static str); 8] = [
        (CONTENT_TYPE, file.content_type),
        (CACHE_CONTROL, caching),
        (ETAG, representation.etag),
        (VARY, "accept-encoding"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (PERMISSIONS_POLICY, NO_DEVICES),
        // A person signs in by a redirect, so no other window needs access to this one.
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    ];
    let is_known = known.includes(representation.etag);
    let mut response = match is_known {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, representation.bytes).into_response(),
    };
    // Workers have the policy of their own script, so every file has it.
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, state.page_policy().await);
    if let (Some(encoding), false) = (encoding, is_known) {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// Returns the shortest encoding that the client reads.
fn choose(file: &File, accept_encoding: &str) -> (Option<&'static str>, Representation) {
    for (encoding, representation) in [("br", file.brotli), ("gzip", file.gzip)] {
        if let Some(representation) = representation
            && accepts(accept_encoding, encoding)
        {
            return (Some(encoding), representation);
        }
    }
    (None, file.plain)
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
