//! Tests of request signatures and signing keys.

use super::*;

const SERVICE: Service = Service {
    name: "dynamodb",
    read_access_requests: |_, _| Ok(vec![]),
    denied_status: StatusCode::BAD_REQUEST,
};

fn access() -> Access {
    let roles = Roles::of_operator(("key", "secret"));
    Access::new(SERVICE, ([127, 0, 0, 1], 80).into(), roles)
}

const SIGNED: [&str; 3] = ["host", "x-amz-date", "x-amz-target"];

/// Builds a request with the time 08:00 UTC. Its signature covers the given headers.
fn request(signed: &[&str]) -> Parts {
    let request = Request::post("/")
        .header("host", "localhost:80")
        .header("x-amz-date", "20261121T080000Z")
        .header("x-amz-target", "DynamoDB_20120810.GetItem")
        .body(Body::empty());
    let mut parts = request.unwrap().into_parts().0;
    let time = parse_time("20261121T080000Z").unwrap();
    let access = access();
    let (_, credentials) = access.roles.signer("key").unwrap();
    let signer = Signer { credentials, region: "region", signed_at: time };
    let signature = access.compute_signature(&parts, b"{}", signed, &signer).unwrap();
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential=key/20261121/region/dynamodb/aws4_request, \
         SignedHeaders={}, Signature={signature}",
        signed.join(";")
    );
    parts.headers.insert(AUTHORIZATION, authorization.parse().unwrap());
    parts
}

fn check(parts: &Parts, now: &str) -> Result<Caller, AuthError> {
    access().check_signature(parts, b"{}", parse_time(now).unwrap())
}

#[test]
fn a_signature_is_valid_for_fifteen_minutes() {
    let signed = request(&SIGNED);
    for now in ["20261121T074500Z", "20261121T080000Z", "20261121T081500Z"] {
        assert_eq!(check(&signed, now), Ok(Caller::Operator), "{now}");
    }
    for now in ["20261121T074459Z", "20261121T081501Z", "20271121T080000Z"] {
        assert_eq!(check(&signed, now), Err(WRONG_TIME), "{now}");
    }
}

#[test]
fn a_signature_must_cover_the_required_headers() {
    for left_out in SIGNED {
        let signed: Vec<&str> = SIGNED.into_iter().filter(|name| *name != left_out).collect();
        let checked = check(&request(&signed), "20261121T080000Z");
        assert_eq!(checked, Err(WRONG_SIGNATURE), "{left_out}");
    }
}

#[test]
fn rejects_a_signature_for_another_service() {
    let sqs = Access { service: Service { name: "sqs", ..SERVICE }, ..access() };
    let now = parse_time("20261121T080000Z").unwrap();
    assert_eq!(sqs.check_signature(&request(&SIGNED), b"{}", now), Err(WRONG_SIGNATURE));
}

#[test]
fn rejects_malformed_signatures() {
    for text in [
        "",
        "AWS4-HMAC-SHA256 ",
        "AWS4-HMAC-SHA256 Credential=key",
        "AWS4-HMAC-SHA256 Credential=key/d/r,SignedHeaders=host",
        "AWS4-HMAC-SHA256 Credential==,SignedHeaders==,Signature==",
        "Bearer key",
    ] {
        let mut parts = request(&SIGNED);
        parts.headers.insert(AUTHORIZATION, text.parse().unwrap());
        assert!(access().check_sender(&parts.headers).is_err(), "{text}");
        assert!(check(&parts, "20261121T080000Z").is_err(), "{text}");
    }
    assert_eq!(access().check_sender(&request(&SIGNED).headers), Ok(()));
}

#[test]
fn rejects_malformed_times() {
    for time in ["", "T", "20261121", "20261121T080000", "2026112éT080000Z", "99999999T999999Z"] {
        let mut parts = request(&SIGNED);
        let time = axum::http::HeaderValue::from_bytes(time.as_bytes()).unwrap();
        parts.headers.insert(DATE, time);
        assert_eq!(check(&parts, "20261121T080000Z"), Err(WRONG_TIME));
    }
}
