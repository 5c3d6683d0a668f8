//! Validates the API URL and builds request URLs.

use std::net::IpAddr;

use reqwest::Url;

use crate::ClientError;

/// Returns an error if the scheme is not `http` or `https`, or if the URL has credentials, a query
/// or a fragment.
pub(super) fn parse_api_url(url: &str) -> Result<Url, ClientError> {
    let fault =
        |why: &str| ClientError::InvalidUrl { url: without_credentials(url), why: why.to_owned() };
    let parsed = Url::parse(url.trim()).map_err(|error| fault(&error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(fault("the URL must start with http:// or https://"));
    }
    if parsed.host_str().is_none_or(str::is_empty) {
        return Err(fault("the URL has no host"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(fault("a user name or password is not supported; use a token"));
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(fault("a query or fragment is not supported"));
    }
    Ok(parsed)
}

/// Removes a possible password from a URL, so that the URL can be printed. Everything before `@` is
/// removed.
fn without_credentials(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => crate::text::escape(url),
    }
}

pub(super) fn without_trailing_slash(base: &Url) -> String {
    base.as_str().trim_end_matches('/').to_owned()
}

/// Encodes a space in the query as `%20` and not as `+`, because Lambda function URLs do not
/// understand form encoding.
pub(super) fn request_url(base: &Url, path: &[String], query: &[(&'static str, String)]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
        // Form encoding writes each space as `+`, and each `+` as `%2B`.
        let with_plus_signs = url.query().unwrap_or_default();
        let escaped = with_plus_signs.replace('+', "%20");
        url.set_query(Some(&escaped));
    }
    url
}

/// Requests to this machine are never sent through a proxy.
pub(super) fn is_loopback(base: &Url) -> bool {
    let host = base.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_urls_that_are_not_of_an_api() {
        for url in [
            "",
            "example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "http://",
            "https://alice:secret@example.com",
            "https://example.com?x=1",
            "https://example.com#x",
        ] {
            let error = parse_api_url(url).unwrap_err();
            assert!(matches!(error, ClientError::InvalidUrl { .. }), "{url}");
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn joins_path_and_query() {
        let path = ["v1".to_owned(), "a b".to_owned()];
        let query = [("range", "'It''s & mine'!A1+".to_owned())];
        for (base, url) in [
            ("https://example.com", "https://example.com/v1/a%20b"),
            ("https://example.com/", "https://example.com/v1/a%20b"),
            ("https://example.com/prod/", "https://example.com/prod/v1/a%20b"),
        ] {
            let base = parse_api_url(base).unwrap();
            assert_eq!(request_url(&base, &path, &[]).as_str(), url);
            let with_query = request_url(&base, &path, &query);
            let value = with_query.query_pairs().next().unwrap().1.into_owned();
            assert_eq!(value, "'It''s & mine'!A1+");
            assert_eq!(
                with_query.query(),
                Some("range=%27It%27%27s%20%26%20mine%27%21A1%2B"),
                "function URLs decode `+`"
            );
        }
        assert_eq!(
            without_trailing_slash(&parse_api_url("http://h/prod/").unwrap()),
            "http://h/prod"
        );
    }

    #[test]
    fn loopback_hosts() {
        for (url, loopback) in [
            ("http://localhost:1", true),
            ("http://127.0.0.1", true),
            ("http://[::1]:80", true),
            ("http://example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&parse_api_url(url).unwrap()), loopback, "{url}");
        }
    }
}
