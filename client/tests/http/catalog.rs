//! The requests of the catalog calls: names, sharing, links and statuses.

use cellar::ClientError;
use cellar_api::{
    wire::DetailsReply, wire::LinkRequest, wire::PersonRequest, wire::ShareRequest,
    wire::UpdateDetailsRequest,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::{spreadsheet::LinkRole, spreadsheet::LinkSecret};
use serde_json::{Value, json};

use super::block_on;
use super::fake::{Fake, Fault, ReceivedRequest};

/// The number of changes that the client expects.
const EXPECTED_CHANGES: Option<u64> = Some(3);
const LINK: &str = "0123456789abcdef";

fn id() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))
}

fn details() -> DetailsReply {
    let details = DetailsReply::of(id(), None, Some(Role::Owner));
    DetailsReply { name: "Budget".to_owned(), ..details }
}

/// Returns a reply with the details of a spreadsheet.
fn details_reply(details: &DetailsReply) -> Fault {
    Fault::Answer(200, json!(details).to_string())
}

/// Makes a call that fails once temporarily, and returns both requests.
fn call_twice<T>(
    answer: Fault,
    call: impl AsyncFnOnce(cellar::Client) -> Result<T, ClientError>,
) -> (Vec<ReceivedRequest>, T) {
    let fake = Fake::start();
    fake.fail([Fault::Answer(502, "gone on its way".into()), answer]);
    let reply = block_on(call(fake.client())).unwrap();
    let received = fake.lock().received.clone();
    (received, reply)
}

#[track_caller]
fn assert_sent(
    (received, reply): (Vec<ReceivedRequest>, DetailsReply),
    (method, end): (&str, &str),
    body: &Value,
) {
    assert_eq!(reply, details());
    assert_eq!(received.len(), 2, "it is repeated once");
    for received in received {
        assert_eq!(received.method.as_str(), method);
        let expected = received.headers.get("if-match").map(|etag| etag.to_str().unwrap());
        assert_eq!(expected, (method != "GET").then_some("\"3\""));
        assert_eq!(received.uri, format!("/v1/spreadsheets/{}/{end}", id()));
        let sent = serde_json::from_slice(&received.body).unwrap_or(Value::Null);
        assert_eq!(sent, *body, "{method} {end}");
    }
}

#[test]
fn calls_have_their_paths_and_are_retried_unchanged() {
    let details_reply = || details_reply(&details());
    let received =
        call_twice(details_reply(), async |client| client.spreadsheet(id()).details().await);
    assert_sent(received, ("GET", "details"), &Value::Null);
    let rename =
        UpdateDetailsRequest { name: Some("Budget".into()), ..UpdateDetailsRequest::default() };
    let received = call_twice(details_reply(), async |client| {
        client.spreadsheet(id()).update_details(&rename, EXPECTED_CHANGES).await
    });
    assert_sent(received, ("PATCH", "details"), &json!({"name": "Budget"}));
    let share = ShareRequest { subject: "bob".into(), issuer: None, role: Role::Editor };
    let received = call_twice(details_reply(), async |client| {
        client.spreadsheet(id()).share(&share, EXPECTED_CHANGES).await
    });
    assert_sent(received, ("POST", "members"), &json!({"subject": "bob", "role": "editor"}));
    let person = PersonRequest { subject: "b&b".into(), issuer: Some("https://i".into()) };
    let received = call_twice(details_reply(), async |client| {
        client.spreadsheet(id()).unshare(&person, EXPECTED_CHANGES).await
    });
    let end = "members?subject=b%26b&issuer=https%3A%2F%2Fi";
    assert_sent(received, ("DELETE", end), &Value::Null);
    let link = LINK.parse().unwrap();
    let received = call_twice(details_reply(), async |client| {
        client.spreadsheet(id()).revoke_link(link, EXPECTED_CHANGES).await
    });
    assert_sent(received, ("DELETE", &format!("links/{LINK}")), &Value::Null);
    let request = LinkRequest {
        secret: LinkSecret([1; 16]).to_string(),
        role: LinkRole::Viewer,
        label: String::new(),
        expires_s: None,
    };
    let made = Fault::Answer(200, json!({"id": LINK, "token": "t"}).to_string());
    let (received, reply) = call_twice(made, async |client| {
        client.spreadsheet(id()).create_link(&request, EXPECTED_CHANGES).await
    });
    assert_eq!((reply.id.as_str(), reply.token.as_str()), (LINK, "t"));
    assert_eq!(received[1].uri, format!("/v1/spreadsheets/{}/links", id()));
    assert_eq!((received.len(), &received[0].body), (2, &received[1].body), "the same secret");
}
