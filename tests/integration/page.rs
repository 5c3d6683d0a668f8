//! The page that the API serves: its files in each encoding, its headers, and what is not served.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use cellar_api::wire::{Problem, ProblemKind, StackConfig};
use cellar_engine::ports::{BlobKey, Blobs as _, NewBlob};
use cellar_local::Ports;
use cellar_tests::cloud::TestCloud;
use cellar_web::{Contents, FILES, File};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCESS_CONTROL_REQUEST_METHOD, IF_NONE_MATCH, ORIGIN,
};
use reqwest::{Method, Response, StatusCode};
use serde_json::json;
use sha2::{Digest as _, Sha256};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

struct Browser {
    cloud: TestCloud,
    http: reqwest::Client,
}

impl Browser {
    async fn start() -> Self {
        Self { cloud: TestCloud::start_without_snapshots().await, http: reqwest::Client::new() }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}{path}", self.cloud.url);
        self.http.request(method, url).header(ACCEPT, BROWSER)
    }

    async fn get(&self, path: &str, encodings: &str) -> Response {
        let request = self.request(Method::GET, path).header(ACCEPT_ENCODING, encodings);
        request.send().await.unwrap()
    }
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

/// Returns the encoding, the bytes and the tag for clients that read brotli or not.
fn expected(file: &File, reads_brotli: bool) -> (&'static str, Vec<u8>, &'static str) {
    match file.contents {
        Contents::Brotli(bytes) if reads_brotli => ("br", bytes.to_vec(), file.brotli_etag),
        _ => ("", file.plain().unwrap().into_owned(), file.etag),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_has_its_bytes_in_each_encoding() {
    let browser = Browser::start().await;
    for file in FILES {
        for (encodings, reads_brotli) in [
            ("gzip, deflate, br, zstd", true),
            ("gzip", false),
            ("identity", false),
            ("br;q=0", false),
        ] {
            let (encoding, bytes, etag) = expected(file, reads_brotli);
            let response = browser.get(file.path, encodings).await;
            assert_eq!(response.status(), 200, "{}", file.path);
            assert_eq!(header(&response, "content-encoding"), encoding, "{}", file.path);
            assert_eq!(header(&response, "content-type"), file.content_type);
            assert_eq!(header(&response, "etag"), etag);
            assert!(header(&response, "vary").contains("accept-encoding"), "{response:?}");
            let caching = match file.path.starts_with("/assets/") {
                true => "public, max-age=31536000, immutable",
                false => "no-cache",
            };
            assert_eq!(header(&response, "cache-control"), caching, "{}", file.path);
            let length = bytes.len().to_string();
            assert_eq!(header(&response, "content-length"), length);
            assert_eq!(response.bytes().await.unwrap(), bytes);

            let head = browser.request(Method::HEAD, file.path).header(ACCEPT_ENCODING, encodings);
            let head = head.send().await.unwrap();
            assert_eq!(
                (head.status(), header(&head, "content-length")),
                (StatusCode::OK, &*length)
            );
            assert_eq!(head.bytes().await.unwrap().len(), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_file_is_not_sent_again() {
    let browser = Browser::start().await;
    for file in FILES {
        let (_, _, etag) = expected(file, true);
        let request = || browser.request(Method::GET, file.path).header(ACCEPT_ENCODING, "br");
        let known = request().header(IF_NONE_MATCH, etag).send().await.unwrap();
        assert_eq!(known.status(), 304, "{}", file.path);
        assert_eq!(header(&known, "etag"), etag);
        assert_eq!(header(&known, "content-encoding"), "");
        assert!(known.headers().contains_key("content-security-policy"), "{known:?}");
        assert_eq!(known.bytes().await.unwrap().len(), 0);
        if etag != file.etag {
            // A browser that has other bytes gets these.
            let other = request().header(IF_NONE_MATCH, file.etag).send().await.unwrap();
            assert_eq!(other.status(), 200, "{}", file.path);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_has_the_headers_that_protect_the_page() {
    let browser = Browser::start().await;
    for file in FILES {
        let response = browser.get(file.path, "br").await;
        let policy = header(&response, "content-security-policy");
        let directives: BTreeMap<&str, &str> =
            policy.split("; ").filter_map(|directive| directive.split_once(' ')).collect();
        let bucket = browser.cloud.buckets_url.trim_end_matches('/');
        let expected = json!({
            "default-src": "'self'", "connect-src": format!("'self' {bucket}"),
            "img-src": "'self' data:", "style-src": "'self'", "script-src": "'self'",
            "worker-src": "'self'", "base-uri": "'none'", "form-action": "'self'",
            "frame-ancestors": "'none'", "object-src": "'none'",
        });
        assert_eq!(json!(directives), expected, "{}", file.path);
        assert_ne!(bucket, browser.cloud.url);
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(header(&response, name), value, "{}", file.path);
        }
        assert!(header(&response, "permissions-policy").contains("camera=()"), "{response:?}");
        assert!(!response.headers().contains_key("access-control-allow-origin"), "{response:?}");
        assert_eq!(header(&response, "cellar-cost"), "rr=0, wr=0", "the page costs nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_browsers_get_the_page_and_only_its_files_exist() {
    let browser = Browser::start().await;
    let url = format!("{}/", browser.cloud.url);
    let text = browser.http.get(&url).header(ACCEPT, "*/*").send().await.unwrap();
    assert_eq!(header(&text, "content-type"), "text/plain; charset=utf-8");
    assert!(header(&text, "vary").contains("accept"), "{text:?}");
    assert!(text.text().await.unwrap().contains("cellar login ADDRESS"));

    let _ = browser.cloud.meter.take();
    for path in [
        "/index.html",
        "/assets",
        "/assets/",
        "/assets/none-00000000.js",
        "/assets/..%2fCargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "/assets/%2e%2e%2f%2e%2e%2fCargo.toml",
        "//assets/x",
        "/sw.js/x",
        "/sw.js%00",
        "/Cargo.toml",
    ] {
        let response = browser.get(path, "br").await;
        assert_eq!(response.status(), 404, "{path}");
        assert!(!response.headers().contains_key("cellar-cost"), "{path}");
        let problem: Problem = response.json().await.unwrap();
        assert_eq!(problem.kind, ProblemKind::UnknownRoute, "{path}");
    }
    assert_eq!(browser.cloud.meter.take(), cellar_api::cost::Cost::default());
    for file in FILES {
        let posted = browser.request(Method::POST, file.path).send().await.unwrap();
        assert_eq!(posted.status(), 405, "{}", file.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_uses_the_bucket_and_other_pages_do_not() {
    let browser = Browser::start().await;
    let (blobs, _) = browser.cloud.blobs();
    let bytes: &[u8] = b"chunk";
    let new = NewBlob {
        key: BlobKey::new("sheets/page").unwrap(),
        bytes: bytes.into(),
        sha256: Sha256::digest(bytes).into(),
        content_type: None,
        content_encoding: None,
        pending: false,
    };
    blobs.put(new.clone()).await.unwrap();
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let url = blobs.presign_get(&new.key, 60, now_s).await.unwrap().url;
    let own = browser.cloud.url.as_str();
    for (origin, allowed) in
        [(own, own), ("https://abc.lambda-url.local.on.aws", ""), ("http://127.0.0.1:1", "")]
    {
        let response = browser.http.get(&url).header(ORIGIN, origin).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(header(&response, "access-control-allow-origin"), allowed, "{origin}");
        assert_eq!(response.bytes().await.unwrap(), bytes);
        let asked = browser.http.request(Method::OPTIONS, &url).header(ORIGIN, origin);
        let asked = asked.header(ACCESS_CONTROL_REQUEST_METHOD, "PUT").send().await.unwrap();
        assert_eq!(header(&asked, "access-control-allow-methods"), "GET,HEAD,PUT");
        assert_eq!(header(&asked, "access-control-allow-origin"), allowed, "{origin}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_names_the_issuers_of_logins() {
    let issuers = json!([
        {
            "issuer": "https://login.example.com/", "audience": "cellar", "client_id": "page",
            "name": "Example", "token_url": "https://token.example.com/token",
        },
        {"issuer": "https://machines.example.com", "audience": "cellar"},
    ]);
    let issuers = serde_json::from_value(issuers).unwrap();
    let ports = Ports { snapshot_builder: None, ..Ports::default() };
    let cloud = TestCloud::start_configured(ports, |config| config.tokens.oidc = issuers).await;
    let response = reqwest::get(format!("{}/v1/config", cloud.url)).await.unwrap();
    assert_eq!(header(&response, "cache-control"), "no-store");
    let config: StackConfig = response.json().await.unwrap();
    let expected = json!({
        "stack": cloud.settings.stack, "build": env!("CARGO_PKG_VERSION"), "pokes": true,
        "issuers": [{
            "issuer": "https://login.example.com/", "client_id": "page", "audience": "cellar",
            "name": "Example",
        }],
    });
    assert_eq!(json!(config), expected);
    let page = reqwest::Client::new().get(&cloud.url).header(ACCEPT, BROWSER).send().await.unwrap();
    let policy = header(&page, "content-security-policy");
    assert!(policy.contains(" https://login.example.com https://token.example.com;"), "{policy}");
    assert!(!policy.contains("machines"), "{policy}");
}
