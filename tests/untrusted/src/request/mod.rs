//! Requests to the HTTP API (I17, I20, I22).

mod world;

use std::sync::LazyLock;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, header};
use cellar_api::wire::Problem;
use cellar_base::limits::MAX_REPLY_BYTES;
use tokio::runtime::{Builder, Runtime};

use self::world::{Caller, SPREADSHEET, World};
use crate::parts::split;

/// Maximum requests of one input. Later ones see the effects of earlier ones.
const MAX_REQUESTS: usize = 4;
/// Maximum length of an answer: `MAX_REPLY_BYTES` and the JSON around it.
const MAX_ANSWER_BYTES: usize = 2 * MAX_REPLY_BYTES;
const PROBLEM_JSON: &str = "application/problem+json";
/// Paths that need no token.
const PUBLIC_PATHS: [&str; 2] = ["/v1/health", "/v1/openapi.json"];

/// Placeholder for the id of the spreadsheet in paths and headers.
const ID_PLACEHOLDER: char = '@';

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

/// Reads requests. Each has a letter for the caller, followed by the HTTP text: a line with method
/// and path, header lines, an empty line, and the body. All must be answered, and refused requests
/// must change nothing. Returns whether all succeeded.
pub(super) fn read(bytes: &[u8]) -> bool {
    let requests: Vec<_> =
        split(bytes).into_iter().take(MAX_REQUESTS).filter_map(parse_request).collect();
    if requests.is_empty() {
        return false;
    }
    RUNTIME.block_on(async {
        let world = World::new().await;
        let mut all_read = true;
        for (caller, request) in requests {
            all_read &= check_answer(&world, caller, request).await;
        }
        all_read
    })
}

fn parse_request(bytes: &[u8]) -> Option<(Caller, Request<Body>)> {
    let (caller, rest) = bytes.split_first()?;
    let caller = Caller::from_byte(*caller)?;
    let mut lines = rest.splitn(2, |byte| *byte == b'\n');
    let (mut first, mut rest) = (lines.next()?.splitn(2, |byte| *byte == b' '), lines.next());
    let method = first.next()?;
    let path = std::str::from_utf8(first.next()?).ok()?.replace(ID_PLACEHOLDER, &SPREADSHEET);
    let mut request = Request::builder().method(method).uri(path);
    if let Some(authorization) = caller.authorization() {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    while let Some(text) = rest {
        let mut lines = text.splitn(2, |byte| *byte == b'\n');
        let line = lines.next()?;
        rest = lines.next();
        if line.is_empty() {
            break;
        }
        let at = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at(at);
        let value = value.get(1..)?.trim_ascii();
        // Links contain the id of the spreadsheet too.
        request = match std::str::from_utf8(value) {
            Ok(text) => request.header(name, text.replace(ID_PLACEHOLDER, &SPREADSHEET)),
            Err(_) => request.header(name, value),
        };
    }
    Some((caller, request.body(Body::from(rest.unwrap_or_default().to_vec())).ok()?))
}

async fn check_answer(world: &World, caller: Caller, request: Request<Body>) -> bool {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let has_own_token = request.headers().get_all(header::AUTHORIZATION).iter().count()
        > usize::from(caller != Caller::Nobody);
    let before = world.stored().await;
    let response = world.send(request).await;
    let status = response.status();
    let what = format!("{caller:?} {method} {path}: {status}");
    // Nothing is slow or fails in this world, so that no status 5xx is justified.
    assert!(status.is_success() || status.is_client_error(), "{what}");
    if status.is_client_error() {
        assert_problem(&what, &method, response).await;
    } else {
        let body = to_bytes(response.into_body(), MAX_ANSWER_BYTES).await;
        assert!(body.is_ok(), "{what}: {body:?}");
        let sees_nothing = matches!(caller, Caller::Nobody | Caller::Stranger) && !has_own_token;
        assert!(!sees_nothing || PUBLIC_PATHS.contains(&path.as_str()), "{what}");
    }
    let may_write = matches!(caller, Caller::Owner | Caller::Editor) || has_own_token;
    let changes = [Method::POST, Method::PATCH, Method::DELETE].contains(&method);
    // Readers may announce a selection.
    let announces = method == Method::PUT && path.ends_with("/presence");
    let writes = status.is_success() && ((changes && may_write) || announces);
    if !writes {
        assert!(world.stored().await == before, "{what}: something is stored");
    }
    status.is_success()
}

async fn assert_problem(what: &str, method: &Method, response: Response<Body>) {
    let status = response.status().as_u16();
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    assert_eq!(kind.as_ref().and_then(|kind| kind.to_str().ok()), Some(PROBLEM_JSON), "{what}");
    let bytes = to_bytes(response.into_body(), MAX_ANSWER_BYTES).await.expect("a bounded answer");
    // The answer to HEAD has no body.
    if method != Method::HEAD {
        let problem: Problem = serde_json::from_slice(&bytes).expect("a problem");
        assert_eq!((problem.status, problem.kind.status()), (status, status), "{what}");
        assert!(!problem.detail.is_empty(), "{what}");
    }
}
