//! What an entry of `cors_origins` may look like: exactly what a browser sends as `Origin`.

use thiserror::Error;

use super::limits::CORS_ORIGIN_CHARS_MAX;

/// Why an origin was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OriginFault {
    /// `*`, alone or in a host.
    #[error(
        "a wildcard would let any page use the API with a visitor's token; list each origin, such \
         as https://sheets.example.com"
    )]
    Wildcard,
    /// Neither `https://` nor plain HTTP on this computer.
    #[error(
        "use https://HOST, or http://localhost or http://127.0.0.1 (each with an optional :PORT) \
         while developing"
    )]
    Scheme,
    /// Something after the port, or characters that no host has.
    #[error(
        "an origin is a scheme, a lowercase host and an optional port: no path, no slash at the \
         end, no user name"
    )]
    Host,
    /// A port that is no number from 1 to 65535, or the scheme's own.
    #[error("use a port from 1 to 65535 and leave out 443 and 80, as browsers do")]
    Port,
    /// Longer than Lambda accepts.
    #[error("at most {CORS_ORIGIN_CHARS_MAX} characters are allowed")]
    TooLong,
    /// Listed twice.
    #[error("it is listed already; remove one of them")]
    Duplicate,
}

/// Checks one origin.
pub(super) fn check(origin: &str) -> Result<(), OriginFault> {
    if origin.contains('*') {
        return Err(OriginFault::Wildcard);
    }
    if origin.len() > CORS_ORIGIN_CHARS_MAX {
        return Err(OriginFault::TooLong);
    }
    let (scheme, authority) = origin.split_once("://").ok_or(OriginFault::Scheme)?;
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    match scheme {
        "https" => {}
        "http" if matches!(host, "localhost" | "127.0.0.1") => {}
        _ => return Err(OriginFault::Scheme),
    }
    check_host(host)?;
    let own_port = if scheme == "https" { 443 } else { 80 };
    port.map_or(Ok(()), |port| check_port(port, own_port))
}

fn check_host(host: &str) -> Result<(), OriginFault> {
    let label_is_fine = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    if host.split('.').all(label_is_fine) { Ok(()) } else { Err(OriginFault::Host) }
}

fn check_port(port: &str, own_port: u16) -> Result<(), OriginFault> {
    // `parse` alone would take `+8080` and `08080`, which no browser sends.
    let plain = port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0');
    match port.parse::<u16>() {
        Ok(number) if plain && number != own_port => Ok(()),
        _ => Err(OriginFault::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_send_is_accepted() {
        for origin in [
            "https://a.example",
            "https://sheets.a-b.example.com:8443",
            "https://10.0.0.1",
            "http://localhost",
            "http://localhost:5173",
            "http://127.0.0.1:65535",
        ] {
            assert_eq!(check(origin), Ok(()), "{origin}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
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
            assert_eq!(check(origin), Err(fault), "{origin}");
        }
    }

    #[test]
    fn the_longest_origin_is_accepted_and_one_more_is_not() {
        let origin = |chars: usize| format!("https://{}", "a".repeat(chars - "https://".len()));
        assert_eq!(check(&origin(CORS_ORIGIN_CHARS_MAX)), Ok(()));
        assert_eq!(check(&origin(CORS_ORIGIN_CHARS_MAX + 1)), Err(OriginFault::TooLong));
    }
}
