//! The content security policy of the page: which origins its scripts may call.

use cellar_catalog::oidc::OidcIssuer;

/// Returns the value of `Content-Security-Policy`. The page may call this stack, its bucket, and the
/// issuers with which a person can sign in.
pub(super) fn content_security_policy(bucket_url: Option<&str>, issuers: &[OidcIssuer]) -> String {
    let mut origins = vec!["'self'"];
    let login_issuers = issuers.iter().filter(|issuer| issuer.client_id.is_some());
    let issuer_urls = login_issuers
        .flat_map(|issuer| [Some(issuer.issuer.as_str()), issuer.token_url.as_deref()]);
    for origin in bucket_url.into_iter().chain(issuer_urls.flatten()).filter_map(origin) {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    let origins = origins.join(" ");
    format!(
        "default-src 'self'; connect-src {origins}; img-src 'self' data:; style-src 'self'; \
         script-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'; object-src 'none'"
    )
}

/// Returns scheme, host and port of a URL. Returns `None` for other URLs than those of web servers,
/// and for hosts with characters that could end a part of the policy.
fn origin(url: &str) -> Option<&str> {
    let scheme_length = ["https://", "http://"].iter().find(|it| url.starts_with(**it))?.len();
    let (scheme, rest) = url.split_at_checked(scheme_length)?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    if authority.is_empty() || !authority.bytes().all(is_allowed) {
        return None;
    }
    url.get(..scheme.len() + authority.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(json: &str) -> OidcIssuer {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_page_may_call_the_bucket_and_the_issuers_of_logins() {
        let issuers = [
            issuer(r#"{"issuer":"https://a.example/realm","audience":"x","client_id":"x"}"#),
            issuer(r#"{"issuer":"https://machines.example","audience":"x"}"#),
            issuer(
                r#"{"issuer":"https://b.example","audience":"x","client_id":"x","token_url":"https://token.b.example:8443/t?a"}"#,
            ),
        ];
        let policy = content_security_policy(
            Some("https://bucket.s3.eu-central-1.amazonaws.com/k?X"),
            &issuers,
        );
        let expected = "connect-src 'self' https://bucket.s3.eu-central-1.amazonaws.com \
            https://a.example https://b.example https://token.b.example:8443;";
        assert!(policy.contains(expected), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        let alone = content_security_policy(None, &[]);
        assert!(alone.starts_with("default-src 'self'; connect-src 'self'; img-src"), "{alone}");
    }

    #[test]
    fn only_origins_of_web_servers_are_named() {
        for (url, expected) in [
            ("https://a.example", Some("https://a.example")),
            ("http://127.0.0.1:4566/bucket/key?X-Amz=1", Some("http://127.0.0.1:4566")),
            ("http://[::1]:80#x", Some("http://[::1]:80")),
            ("memory://bucket/key", None),
            ("https://", None),
            ("https://a; script-src *", None),
            ("https://*.example", None),
            ("https://a@b.example", None),
            ("", None),
        ] {
            assert_eq!(origin(url), expected, "{url}");
        }
    }
}
