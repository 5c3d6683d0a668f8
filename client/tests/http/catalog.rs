//! Names, sharing, links and statuses: which requests are made.

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
use super::fake::{Fake, Fault, Seen};

/// How many changes of the details were seen.
const SEEN: Option<u64> = Some(3);
/// The id of a link.
const LINK: &str = "0123456789abcdef";

fn id() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))
}

fn details() -> DetailsReply {
    let details = DetailsReply::of(id(), None, Some(Role::Owner));
    DetailsReply { name: "Budget".to_owned(), ..details }
}

/// An answer with the details of a spreadsheet.
fn told(details: &DetailsReply) -> Fault {
    Fault::Answer(200, json!(details).to_string())
}

/// Makes a call that fails once for a moment; gives both requests.
fn twice<T>(
    answer: Fault,
    call: impl AsyncFnOnce(cellar::Client) -> Result<T, ClientError>,
) -> (Vec<Seen>, T) {
    let fake = Fake::start();
    fake.fail([Fault::Answer(502, "gone on its way".into()), answer]);
    let reply = block_on(call(fake.client())).unwrap();
    let seen = fake.lock().seen.clone();
    (seen, reply)
}

#[track_caller]
fn assert_sent(
    (seen, reply): (Vec<Seen>, DetailsReply),
    (method, end): (&str, &str),
    body: &Value,
) {
    assert_eq!(reply, details());
    assert_eq!(seen.len(), 2, "it is repeated once");
    for seen in seen {
        assert_eq!(seen.method.as_str(), method);
        let expected = seen.headers.get("if-match").map(|etag| etag.to_str().unwrap());
        assert_eq!(expected, (method != "GET").then_some("\"3\""));
        assert_eq!(seen.uri, format!("/v1/spreadsheets/{}/{end}", id()));
        let sent = serde_json::from_slice(&seen.body).unwrap_or(Value::Null);
        assert_eq!(sent, *body, "{method} {end}");
    }
}

#[test]
fn each_call_goes_to_its_place_and_is_repeated_unchanged() {
    let told = || told(&details());
    let seen = twice(told(), async |client| client.details(id()).await);
    assert_sent(seen, ("GET", "details"), &Value::Null);
    let rename =
        UpdateDetailsRequest { name: Some("Budget".into()), ..UpdateDetailsRequest::default() };
    let seen = twice(told(), async |client| client.update_details(id(), &rename, SEEN).await);
    assert_sent(seen, ("PATCH", "details"), &json!({"name": "Budget"}));
    let share = ShareRequest { subject: "bob".into(), issuer: None, role: Role::Editor };
    let seen = twice(told(), async |client| client.share(id(), &share, SEEN).await);
    assert_sent(seen, ("POST", "members"), &json!({"subject": "bob", "role": "editor"}));
    let person = PersonRequest { subject: "b&b".into(), issuer: Some("https://i".into()) };
    let seen = twice(told(), async |client| client.unshare(id(), &person, SEEN).await);
    let end = "members?subject=b%26b&issuer=https%3A%2F%2Fi";
    assert_sent(seen, ("DELETE", end), &Value::Null);
    let link = LINK.parse().unwrap();
    let seen = twice(told(), async |client| client.revoke_link(id(), link, SEEN).await);
    assert_sent(seen, ("DELETE", &format!("links/{LINK}")), &Value::Null);
    let request = LinkRequest {
        secret: LinkSecret([1; 16]).to_string(),
        role: LinkRole::Viewer,
        label: String::new(),
        expires_s: None,
    };
    let made = Fault::Answer(200, json!({"id": LINK, "token": "t"}).to_string());
    let (seen, reply) = twice(made, async |client| client.create_link(id(), &request, SEEN).await);
    assert_eq!((reply.id.as_str(), reply.token.as_str()), (LINK, "t"));
    assert_eq!(seen[1].uri, format!("/v1/spreadsheets/{}/links", id()));
    assert_eq!((seen.len(), &seen[0].body), (2, &seen[1].body), "the same secret");
}
