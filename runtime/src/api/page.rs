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
use cellar_web::{Contents, File};

use super::accept_encoding::accepts;
use super::if_none_match::IfNoneMatch;
use super::reply::report_internal;
use super::start_page;
use super::state::ApiState;

const INDEX: &str = "/";
const BROTLI: &str = "br";
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
    let brotli = match file.contents {
        Contents::Brotli(bytes) if accepts(text_of(request_headers, &ACCEPT_ENCODING), BROTLI) => {
            Some(bytes)
        }
        Contents::Brotli(_) | Contents::Plain(_) => None,
    };
    let etag = if brotli.is_some() { file.brotli_etag } else { file.etag };
    let mut response = match brotli {
        _ if known.includes(etag) => StatusCode::NOT_MODIFIED.into_response(),
        Some(bytes) => ([(CONTENT_ENCODING, BROTLI)], bytes).into_response(),
        None => match file.plain() {
            Ok(bytes) => bytes.into_owned().into_response(),
            Err(error) => return report_internal(&error.to_string()).into_response(),
        },
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, file.content_type),
        (CACHE_CONTROL, if file.is_immutable { KEEP_FOREVER } else { ASK_EACH_TIME }),
        (ETAG, etag),
        (VARY, "accept-encoding"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (PERMISSIONS_POLICY, NO_DEVICES),
        // A person signs in by a redirect, so no other window needs access to this one.
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Workers have the policy of their own script, so every file has it.
    headers.insert(CONTENT_SECURITY_POLICY, state.page_policy().await);
    response
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
