//! Single calls: retries, limits, errors, and costs.

use std::time::{Duration, Instant};

use cellar::{CellsQuery, Client, ClientError, MAX_REPLY_BODY_BYTES, RequestCosts};
use cellar_api::cost::Cost;
use cellar_api::{wire::CreateRequest, wire::ProblemKind};

use super::block_on;
use super::fake::{Fake, Fault};

fn create() -> CreateRequest {
    CreateRequest::new("n".into())
}

#[test]
fn temporary_failures_are_retried_unchanged() {
    let fake = Fake::start();
    fake.fail([
        Fault::RetryAfter(0),
        Fault::Answer(502, "<html>bad gateway</html>".into()),
        Fault::Lost,
    ]);
    let created = block_on(fake.client().create(&create())).unwrap();
    let inner = fake.lock();
    assert!(inner.logs.contains_key(&created.id));
    assert_eq!(inner.received.len(), 4);
    assert!(inner.received.iter().all(|received| received.body == inner.received[0].body));
    let headers = &inner.received[0].headers;
    assert_eq!(headers["authorization"], "Bearer the-token");
    assert!(headers["user-agent"].to_str().unwrap().starts_with("cellar/"));
}

#[test]
fn retries_wait_for_retry_after() {
    let fake = Fake::start();
    fake.fail([Fault::RetryAfter(1)]);
    let begun = Instant::now();
    block_on(fake.client().create(&create())).unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn exhausted_retries_report_an_unknown_outcome() {
    let fake = Fake::start();
    fake.fail(std::iter::repeat_n(Fault::Lost, 100));
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(error, ClientError::UnexpectedStatus { status: 504, .. }), "{error}");
    assert!(!error.certainly_not_done());
    assert!(fake.lock().received.len() < 10);
}

#[test]
fn problems_are_final_and_certain_unless_an_earlier_attempt_was_lost() {
    let fake = Fake::start();
    fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert_eq!(error.problem_kind(), Some(ProblemKind::Forbidden));
    assert!(error.certainly_not_done());
    assert_eq!(fake.lock().received.len(), 1);
    fake.fail([Fault::Lost, Fault::Refused(ProblemKind::Forbidden)]);
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert!(!error.certainly_not_done());
}

#[test]
fn an_unreachable_server_error_contains_advice() {
    use cellar::cli::CommandAdvice as _;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = Client::new(&format!("http://127.0.0.1:{port}"), None).unwrap();
    let error = block_on(client.health()).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { uncertain: false, .. }), "{error}");
    assert!(error.certainly_not_done());
    assert!(error.help().unwrap().to_string().contains("deploy --local"));
}

#[test]
fn replies_are_limited() {
    let fake = Fake::start();
    fake.fail([
        Fault::Answer(200, " ".repeat(MAX_REPLY_BODY_BYTES)),
        Fault::Answer(200, " ".repeat(MAX_REPLY_BODY_BYTES + 1)),
    ]);
    let at_the_bound = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(at_the_bound, ClientError::NotUnderstood { .. }), "{at_the_bound}");
    let beyond = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(beyond, ClientError::ReplyTooLarge { .. }), "{beyond}");
}

#[test]
fn replies_of_other_servers_are_errors_and_redirects_are_not_followed() {
    let fake = Fake::start();
    fake.fail([Fault::Answer(200, "<html>hello</html>".into()), Fault::Answer(302, "x".into())]);
    let page = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(page, ClientError::NotUnderstood { .. }), "{page}");
    let redirect = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(redirect, ClientError::UnexpectedStatus { status: 302, .. }), "{redirect}");
    assert_eq!(fake.lock().received.len(), 2);
}

#[test]
fn health_sends_no_token() {
    let fake = Fake::start();
    assert!(block_on(fake.client().health()).unwrap().ok);
    assert!(!fake.lock().received[0].headers.contains_key("authorization"));
}

#[test]
fn queries_are_encoded() {
    let fake = Fake::start();
    let id = fake.spreadsheet();
    let received = cellar_base::position::Position::FIRST;
    let query = CellsQuery::of_range("'It''s'!A1:B2").at_or_after(received);
    block_on(fake.client().spreadsheet(id).cells_page(&query)).unwrap();
    let uri = fake.lock().received[0].uri.clone();
    assert!(
        uri.contains("range=%27It%27%27s%27%21A1%3AB2") && uri.contains("min_position=0"),
        "{uri}"
    );
    assert!(!uri.contains("cursor=") && !uri.contains("at="), "{uri}");
}

/// Returns the costs of replies of 0.5 read units and 4 write units each.
fn costs_of(replies: u64, unknown_requests: u64) -> RequestCosts {
    let cost = Cost { read_half_units: replies, write_units: 4 * replies, ..Cost::default() };
    RequestCosts { cost, unknown_requests }
}

#[test]
fn the_costs_of_all_replies_add_up() {
    let fake = Fake::start();
    fake.lock().cost = Some("rr=0.5, wr=4");
    let client = fake.client();
    assert_eq!(client.cost(), costs_of(0, 0));
    // Every attempt with a reply counts, not only the last.
    fake.fail([Fault::RetryAfter(0), Fault::RetryAfter(0)]);
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), costs_of(3, 0));
    fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let clone = client.clone();
    block_on(clone.create(&create())).unwrap_err();
    assert_eq!(clone.cost(), client.cost());
    assert_eq!(client.cost(), costs_of(4, 0));
    // The cost of a lost reply is unknown.
    fake.fail([Fault::Lost]);
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), costs_of(5, 1));
    fake.lock().cost = Some("free of charge");
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), costs_of(5, 2));
}

#[test]
fn a_request_that_was_not_sent_costs_nothing() {
    // Nothing listens on port 1. A port that was free a moment ago may belong to another test.
    let client = Client::new("http://127.0.0.1:1", None).unwrap();
    block_on(client.health()).unwrap_err();
    assert_eq!(client.cost(), costs_of(0, 0));
}

#[test]
fn a_request_without_a_reply_has_an_unknown_cost() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::new(&format!("http://{}", silent.local_addr().unwrap()), None).unwrap();
    let waits = async {
        tokio::time::timeout(Duration::from_millis(100), client.health()).await.unwrap_err();
    };
    block_on(waits);
    assert_eq!(client.cost(), costs_of(0, 1));
}
