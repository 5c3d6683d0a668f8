//! Single calls: repetitions, bounds, and what each failure is called.

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
fn temporary_failures_are_repeated_unchanged() {
    let fake = Fake::start();
    fake.fail([
        Fault::RetryAfter(0),
        Fault::Answer(502, "<html>bad gateway</html>".into()),
        Fault::Lost,
    ]);
    let created = block_on(fake.client().create(&create())).unwrap();
    let inner = fake.lock();
    assert!(inner.logs.contains_key(&created.id));
    assert_eq!(inner.seen.len(), 4);
    assert!(inner.seen.iter().all(|seen| seen.body == inner.seen[0].body));
    let headers = &inner.seen[0].headers;
    assert_eq!(headers["authorization"], "Bearer the-token");
    assert!(headers["user-agent"].to_str().unwrap().starts_with("cellar/"));
}

#[test]
fn retry_after_is_waited_for() {
    let fake = Fake::start();
    fake.fail([Fault::RetryAfter(1)]);
    let begun = Instant::now();
    block_on(fake.client().create(&create())).unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn repetitions_end_and_say_that_the_outcome_is_open() {
    let fake = Fake::start();
    fake.fail(std::iter::repeat_n(Fault::Lost, 100));
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(error, ClientError::UnexpectedStatus { status: 504, .. }), "{error}");
    assert!(!error.certainly_not_done());
    assert!(fake.lock().seen.len() < 10);
}

#[test]
fn refusals_are_final_and_certain_unless_an_attempt_was_lost_before() {
    let fake = Fake::start();
    fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert_eq!(error.problem_kind(), Some(ProblemKind::Forbidden));
    assert!(error.certainly_not_done());
    assert_eq!(fake.lock().seen.len(), 1);
    fake.fail([Fault::Lost, Fault::Refused(ProblemKind::Forbidden)]);
    let error = block_on(fake.client().create(&create())).unwrap_err();
    assert!(!error.certainly_not_done());
}

#[test]
fn without_a_server_the_error_says_how_to_start_one() {
    use miette::Diagnostic as _;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = Client::new(&format!("http://127.0.0.1:{port}"), None).unwrap();
    let error = block_on(client.health()).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { uncertain: false, .. }), "{error}");
    assert!(error.certainly_not_done());
    assert!(error.help().unwrap().to_string().contains("deploy --local"));
}

#[test]
fn answers_are_bounded() {
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
fn what_is_not_a_cellar_is_named_and_not_followed() {
    let fake = Fake::start();
    fake.fail([Fault::Answer(200, "<html>hello</html>".into()), Fault::Answer(302, "x".into())]);
    let page = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(page, ClientError::NotUnderstood { .. }), "{page}");
    let redirect = block_on(fake.client().create(&create())).unwrap_err();
    assert!(matches!(redirect, ClientError::UnexpectedStatus { status: 302, .. }), "{redirect}");
    assert_eq!(fake.lock().seen.len(), 2);
}

#[test]
fn health_sends_no_token() {
    let fake = Fake::start();
    assert!(block_on(fake.client().health()).unwrap().ok);
    assert!(!fake.lock().seen[0].headers.contains_key("authorization"));
}

#[test]
fn queries_arrive_as_they_are_meant() {
    let fake = Fake::start();
    let id = fake.spreadsheet();
    let seen = cellar_base::position::Position::FIRST;
    let query = CellsQuery {
        range: Some("'It''s'!A1:B2".into()),
        min_position: Some(seen),
        ..CellsQuery::default()
    };
    block_on(fake.client().cells(id, &query)).unwrap();
    let uri = fake.lock().seen[0].uri.clone();
    assert!(
        uri.contains("range=%27It%27%27s%27%21A1%3AB2") && uri.contains("min_position=0"),
        "{uri}"
    );
    assert!(!uri.contains("cursor=") && !uri.contains("at="), "{uri}");
}

/// So many replies that told half a read unit and four write units each.
fn spent(replies: u64, unknown_requests: u64) -> RequestCosts {
    let cost = Cost { read_half_units: replies, write_units: 4 * replies, ..Cost::default() };
    RequestCosts { cost, unknown_requests }
}

#[test]
fn the_costs_of_all_replies_add_up() {
    let fake = Fake::start();
    fake.lock().cost = Some("rr=0.5, wr=4");
    let client = fake.client();
    assert_eq!(client.cost(), spent(0, 0));
    // Every attempt that was answered counts, not only the last.
    fake.fail([Fault::RetryAfter(0), Fault::RetryAfter(0)]);
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), spent(3, 0));
    fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let clone = client.clone();
    block_on(clone.create(&create())).unwrap_err();
    assert_eq!(clone.cost(), client.cost());
    assert_eq!(client.cost(), spent(4, 0));
    // A lost reply has cost something, and nobody told what.
    fake.fail([Fault::Lost]);
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), spent(5, 1));
    fake.lock().cost = Some("free of charge");
    block_on(client.create(&create())).unwrap();
    assert_eq!(client.cost(), spent(5, 2));
}

#[test]
fn a_request_that_never_left_costs_nothing() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = Client::new(&format!("http://127.0.0.1:{port}"), None).unwrap();
    block_on(client.health()).unwrap_err();
    assert_eq!(client.cost(), spent(0, 0));
}

#[test]
fn a_request_that_is_not_answered_has_an_unknown_cost() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::new(&format!("http://{}", silent.local_addr().unwrap()), None).unwrap();
    let waits = async {
        tokio::time::timeout(Duration::from_millis(100), client.health()).await.unwrap_err();
    };
    block_on(waits);
    assert_eq!(client.cost(), spent(0, 1));
}
