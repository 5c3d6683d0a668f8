//! The `Accept-Encoding` header (RFC 9110, section 12.5.3): which encodings of a file a client reads.

/// Returns whether a client reads an encoding other than the plain bytes. A client that does not send
/// the header gets plain bytes, because most such clients cannot decode anything else.
pub(super) fn accepts(accept_encoding: &str, encoding: &str) -> bool {
    let mut accepts_any = false;
    for member in accept_encoding.split(',') {
        let (name, parameters) = member.split_once(';').unwrap_or((member, ""));
        let is_accepted = !has_zero_weight(parameters);
        match name.trim() {
            name if name.eq_ignore_ascii_case(encoding) => return is_accepted,
            "*" => accepts_any = is_accepted,
            _ => {}
        }
    }
    accepts_any
}

/// Returns whether the parameters are a weight of zero, such as `q=0.000`.
fn has_zero_weight(parameters: &str) -> bool {
    let Some((name, weight)) = parameters.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("q")
        && weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_weights_and_wildcards() {
        for (header, accepts_br, accepts_gzip) in [
            ("", false, false),
            ("gzip, deflate, br, zstd", true, true),
            ("gzip", false, true),
            ("GZIP ; q=0.5 ,\tBr", true, true),
            ("br;q=0, *", false, true),
            ("br;Q=0.000,gzip;q=1", false, true),
            ("*;q=0", false, false),
            ("*;q=0, br", true, false),
            ("brr, xgzip", false, false),
            ("br;q=x, gzip;level=0", true, true),
            (",;=,,identity", false, false),
        ] {
            let accepted = (accepts(header, "br"), accepts(header, "gzip"));
            assert_eq!(accepted, (accepts_br, accepts_gzip), "{header:?}");
        }
    }
}
