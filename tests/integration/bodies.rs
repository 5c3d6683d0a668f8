//! Request bodies over HTTP: without a valid token, the process buffers none.

use std::time::Duration;

use cellar_api::{wire::CreateRequest, wire::Problem, wire::ProblemKind};
use cellar_base::limits::{
    MAX_DRAINED_BYTES, MAX_KEPT_BODY_BYTES, MAX_KEPT_LINK_BODY_BYTES, MAX_PUSH_BYTES,
};
use cellar_catalog::access::Role;
use cellar_catalog::{spreadsheet::LinkSecret, spreadsheet::LinkToken};
use cellar_tests::cloud::TestCloud;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

/// Opens a connection and sends the headers of a push and the first bytes of its body.
async fn pushing(cloud: &TestCloud, token: &str, sent: usize) -> TcpStream {
    let address = cloud.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/spreadsheets/{}/push HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {MAX_PUSH_BYTES}\r\n\r\n",
        uuid::Uuid::nil()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; sent]).await.unwrap();
    stream
}

/// Reads the response of the only request of a connection.
async fn answer(mut stream: TcpStream) -> (String, Problem) {
    let mut bytes = vec![];
    let whole = async {
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && let Ok(problem) = serde_json::from_str(body)
            {
                return (head.to_owned(), problem);
            }
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "closed after {text}");
        }
    };
    timeout(PATIENCE, whole).await.unwrap()
}

/// Waits until the number of buffered bytes matches.
async fn kept(cloud: &TestCloud, bytes: impl Fn(usize) -> bool) {
    let reached = async {
        while !bytes(cloud.bodies.used_bytes()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap();
}

fn made_up_link() -> String {
    let secret = LinkSecret([7; 16]);
    LinkToken { log: "00000000-0000-0000-0000-000000000000".parse().unwrap(), secret }.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_nothing_is_kept_and_the_answer_is_read() {
    let cloud = TestCloud::start_without_snapshots().await;
    let rest = 1_000;
    let mut open = vec![];
    for _ in 0..20 {
        open.push(pushing(&cloud, "made-up", MAX_PUSH_BYTES - rest).await);
    }
    // The body of a request with a token is buffered, which shows that the others were processed.
    let token = cloud.token("alice", Role::Owner);
    let mut known = pushing(&cloud, &token, MAX_PUSH_BYTES - rest).await;
    kept(&cloud, |bytes| bytes >= MAX_PUSH_BYTES - rest).await;
    assert!(cloud.bodies.used_bytes() <= MAX_PUSH_BYTES, "only the body with a token is buffered");
    for mut stream in open {
        stream.write_all(&vec![b' '; rest]).await.unwrap();
        let (head, problem) = answer(stream).await;
        assert_eq!(problem.kind, ProblemKind::Unauthorized, "{head}");
        assert!(!head.to_lowercase().contains("connection: close"), "{head}");
    }
    known.write_all(&vec![b' '; rest]).await.unwrap();
    assert_eq!(
        answer(known).await.1.kind,
        ProblemKind::BadRequest,
        "the body was buffered and read"
    );
    kept(&cloud, |bytes| bytes == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_without_end_and_without_a_token_is_answered() {
    let cloud = TestCloud::start_without_snapshots().await;
    let endless = vec![b' '; MAX_DRAINED_BYTES + 1];
    let url = format!("{}/v1/spreadsheets/{}/entries", cloud.url, uuid::Uuid::nil());
    let post = reqwest::Client::new().post(url).body(endless).send().await.unwrap();
    assert_eq!(post.status(), 401);
    assert_eq!(cloud.bodies.used_bytes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_in_sum_are_bounded_and_made_up_links_take_no_room_of_tokens() {
    let cloud = TestCloud::start_without_snapshots().await;
    for (credential, most) in [
        (made_up_link(), MAX_KEPT_LINK_BODY_BYTES),
        (cloud.token("alice", Role::Owner), MAX_KEPT_BODY_BYTES),
    ] {
        let mut open = vec![];
        for _ in 0..most / MAX_PUSH_BYTES {
            open.push(pushing(&cloud, &credential, MAX_PUSH_BYTES - 1).await);
        }
        let full = open.len() * MAX_PUSH_BYTES;
        kept(&cloud, |bytes| bytes >= full).await;
        let over = pushing(&cloud, &credential, MAX_PUSH_BYTES).await;
        let (head, problem) = answer(over).await;
        assert_eq!(problem.kind, ProblemKind::Unavailable);
        assert!(head.to_lowercase().contains("retry-after: 1"), "{head}");
        assert_eq!(cloud.bodies.used_bytes(), full);
        if most == MAX_KEPT_LINK_BODY_BYTES {
            let request = CreateRequest::new("beside links".to_owned());
            assert!(cloud.client("alice").create(&request).await.is_ok());
        }
        drop(open);
        kept(&cloud, |bytes| bytes == 0).await;
    }
}
