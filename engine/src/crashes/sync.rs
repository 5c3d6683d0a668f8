//! Fault injection scenario in which two clients of a client group push and pull.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::{Cookie, ParsedArguments, Pushed, group_into_runs};
use cellar_base::identity::ClientName;
use cellar_base::position::Position;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, Undo};

use super::run::Crashes;
use super::scenario::{Retry, Scenario, retry};
use super::{FaultyPorts, at, log, ports_with_edits, set_text, subject};
use crate::logs::{Logs, PullDelta, PullOutcome, PushClient, Pushing};

const GROUP: &str = "group";

/// A client group that pushes mutations, pulls from the start of the log, and then pulls from a
/// cookie that it received after the first push.
struct Group {
    pushes: Vec<Vec<Pushed>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Learned {
    /// Ids of the pushed mutations. Clients learn the results of their mutations by pulling.
    Pushed(Vec<u64>),
    /// Last position of the pull, the positions of the pulled entries, and the last mutation id of
    /// each client.
    Pulled(Position, Vec<Position>, BTreeMap<String, u64>),
}

fn client(number: usize) -> PushClient {
    let name = ClientName::new(GROUP, &format!("client {number}")).unwrap();
    PushClient { key: name.key(&subject()), name }
}

impl Group {
    /// Consecutive mutations of the same client are sent together, as in the API function.
    async fn push(&self, logs: &Logs, pushed: Vec<Pushed>) -> Result<Learned, Retry> {
        let pushing = Pushing { log: log(), author: Some("alice".to_owned()) };
        let mut pushed_ids = Vec::new();
        for run in group_into_runs(pushed) {
            let client = client(run.client());
            let outcome = logs.push(&pushing, &client, run).await.map_err(retry)?;
            assert!(!outcome.unknown_client && outcome.gap.is_none(), "{outcome:?}");
            pushed_ids.extend(outcome.results.into_iter().map(|result| result.id));
        }
        Ok(Learned::Pushed(pushed_ids))
    }

    async fn pull(&self, logs: &Logs, cookie: Option<Cookie>) -> Result<Learned, Retry> {
        let pulled = logs.pull(log(), subject(), GROUP, cookie).await.map_err(retry)?;
        let (PullOutcome::Since(news) | PullOutcome::Reset { news, .. }) = pulled else {
            panic!("there is news: {pulled:?}");
        };
        let PullDelta { cookie, entries, last_ids, .. } = news;
        let positions = entries.iter().map(|entry| entry.position).collect();
        Ok(Learned::Pulled(cookie.position, positions, last_ids))
    }
}

impl Scenario for Group {
    type Process = Logs;
    type Caller = ();
    type Answer = Learned;

    fn step_count(&self) -> usize {
        self.pushes.len() + 2
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), step: usize) -> Result<Learned, Retry> {
        let since = Cookie {
            log: log(),
            incarnation: FIRST_INCARNATION,
            position: at(0, 4),
            snapshot: None,
        };
        match self.pushes.get(step) {
            Some(pushed) => self.push(logs, pushed.clone()).await,
            None if step == self.pushes.len() => self.pull(logs, None).await,
            None => self.pull(logs, Some(since)).await,
        }
    }
}

fn pushed(client: usize, id: u64, base: Position, operation: Operation) -> Pushed {
    Pushed {
        client,
        id,
        arguments: ParsedArguments::Edit { base, incarnation: FIRST_INCARNATION, operation },
    }
}

async fn prepare_group() -> Crashes<Group> {
    let malformed = Rejection::new(RejectionReason::Invalid, "it is no mutation");
    let undo = Operation::Undo(Undo { position: at(0, 2) });
    let first_push = vec![
        pushed(0, 1, at(0, 1), set_text(0, "one")),
        pushed(0, 2, at(0, 1), set_text(1, "two")),
        pushed(1, 1, at(0, 0), set_text(2, "another's")),
        Pushed { client: 0, id: 3, arguments: ParsedArguments::Invalid(malformed) },
    ];
    let second_push = vec![
        pushed(0, 4, at(0, 3), undo),
        pushed(1, 2, at(0, 99), set_text(3, "on nothing")),
        pushed(1, 3, at(0, 3), set_text(4, "three")),
    ];
    let pushes = vec![first_push, second_push];
    Crashes::new(Group { pushes }, ports_with_edits(3).await).await
}

#[tokio::test]
async fn pushes_and_pulls_survive() {
    let crashes = prepare_group().await;
    let Learned::Pulled(_, _, last_ids) = &crashes.answers()[3] else { panic!("a pull") };
    assert_eq!(last_ids.values().collect::<Vec<_>>(), [&4, &3]);
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_pushes_and_pulls_survive_whatever_two_requests_fail() {
    prepare_group().await.inject_each_pair_of_faults().await;
}
