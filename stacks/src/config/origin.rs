//! Validates `cors_origins`. Each element must be identical to the `Origin` header that a browser
//! sends, so it has no path and no default port.

use thiserror::Error;

use super::limits::CORS_ORIGIN_CHARS_MAX;

const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

/// Reason why an origin was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OriginFault {
    #[error(
        "a wildcard would let any page call the API with a visitor's token; list each origin, such \
         as https://sheets.example.com"
    )]
    Wildcard,
    #[error(
        "use https://HOST, or for development http://localhost or http://127.0.0.1, each with an \
         optional :PORT"
    )]
    Scheme,
    #[error(
        "an origin is a scheme, a lowercase host and an optional port, without a path, a trailing \
         slash or a user name"
    )]
    Host,
    /// The port is not a number from 1 to 65535, or it is the default port of the scheme.
    #[error("use a port from 1 to 65535; omit 443 for https and 80 for http, as browsers do")]
    Port,
    /// The origin is longer than Lambda's limit.
    #[error("at most {CORS_ORIGIN_CHARS_MAX} characters are allowed")]
    TooLong,
    #[error("the origin is listed twice; remove one")]
    Duplicate,
}

pub(super) fn check_origin(origin: &str) -> Result<(), OriginFault> {
    if origin.contains('*') {
        return Err(OriginFault::Wildcard);
    }
    if origin.len() > CORS_ORIGIN_CHARS_MAX {
        return Err(OriginFault::TooLong);
    }
    let (scheme, host_and_port) = origin.split_once("://").ok_or(OriginFault::Scheme)?;
    let (host, port) = match host_and_port.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (host_and_port, None),
    };
    let default_port = match scheme {
        "https" => HTTPS_PORT,
        "http" if matches!(host, "localhost" | "127.0.0.1") => HTTP_PORT,
        _ => return Err(OriginFault::Scheme),
    };
    check_host(host)?;
    match port {
        Some(port) => check_port(port, default_port),
        None => Ok(()),
    }
}

fn check_host(host: &str) -> Result<(), OriginFault> {
    let is_valid_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    if host.split('.').all(is_valid_label) { Ok(()) } else { Err(OriginFault::Host) }
}

fn check_port(port: &str, default_port: u16) -> Result<(), OriginFault> {
    // `parse` also accepts ports such as `+8080` and `08080`, which no browser sends.
    let is_canonical = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    match port.parse::<u16>() {
        Ok(number) if is_canonical && number != default_port => Ok(()),
        _ => Err(OriginFault::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_that_browsers_send_are_accepted() {
        for origin in [
            "https://a.example",
            "https://sheets.a-b.example.com:8443",
            "https://10.0.0.1",
            "http://localhost",
            "http://localhost:5173",
            "http://127.0.0.1:65535",
        ] {
            assert_eq!(check_origin(origin), Ok(()), "{origin}");
        }
    }

    #[test]
    fn other_origins_are_rejected_with_the_reason() {
        for (origin, fault) in [
            ("*", OriginFault::Wildcard),
            ("https://*.example.com", OriginFault::Wildcard),
            ("", OriginFault::Scheme),
            ("a.example", OriginFault::Scheme),
            ("http://a.example", OriginFault::Scheme),
            ("http://localhost.example", OriginFault::Scheme),
            ("file://", OriginFault::Scheme),
            ("HTTPS://a.example", OriginFault::Scheme),
            ("https://", OriginFault::Host),
            ("https://a.example/", OriginFault::Host),
            ("https://A.example", OriginFault::Host),
            ("https://me@a.example", OriginFault::Host),
            ("https://a..example", OriginFault::Host),
            ("https://-a.example", OriginFault::Host),
            ("https://a.example:", OriginFault::Port),
            ("https://a.example:443", OriginFault::Port),
            ("https://a.example:0", OriginFault::Port),
            ("https://a.example:65536", OriginFault::Port),
            ("https://a.example:+1", OriginFault::Port),
            ("https://a.example:1/x", OriginFault::Port),
            ("http://localhost:80", OriginFault::Port),
        ] {
            assert_eq!(check_origin(origin), Err(fault), "{origin}");
        }
    }

    #[test]
    fn the_length_is_bounded() {
        let origin = |chars: usize| format!("https://{}", "a".repeat(chars - "https://".len()));
        assert_eq!(check_origin(&origin(CORS_ORIGIN_CHARS_MAX)), Ok(()));
        assert_eq!(check_origin(&origin(CORS_ORIGIN_CHARS_MAX + 1)), Err(OriginFault::TooLong));
    }
}
