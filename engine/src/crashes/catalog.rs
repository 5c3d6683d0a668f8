//! Fault injection scenarios that change a spreadsheet's listing, with and without a cached
//! listing. The caller retries a change that got no response.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_catalog::access::Role;
use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::{
    spreadsheet::CatalogAction, spreadsheet::Link, spreadsheet::LinkRole, spreadsheet::LinkSecret,
    spreadsheet::Name, spreadsheet::Person, spreadsheet::Rejection,
};

use super::run::Crashes;
use super::scenario::{Promise, Retry, Scenario};
use super::stored::Stored;
use super::{FaultyPorts, empty_ports};
use crate::catalog::tests::{log, somebody};
use crate::catalog::{CatalogError, CatalogStore};
use crate::streams::StreamError;

struct CatalogClient {
    actions: Vec<CatalogAction>,
}

fn actions() -> Vec<CatalogAction> {
    let person = |name| Person::new("cellar", name).unwrap();
    let name = |text| Name::new(text).unwrap();
    let link = Link {
        hash: LinkSecret([1; 16]).hash(),
        role: LinkRole::Viewer,
        label: String::new(),
        expires_s: None,
    };
    vec![
        CatalogAction::Create { name: name("Budget"), source: None },
        CatalogAction::Share { with: person("bob"), role: Role::Editor },
        CatalogAction::AddLink(link),
        CatalogAction::Rename(name("Plan")),
        CatalogAction::Unshare(person("bob")),
        CatalogAction::Archive,
    ]
}

impl Scenario for CatalogClient {
    type Process = CatalogStore;
    type Caller = ();
    type Answer = bool;

    // The listing contains the archiving time, which differs between runs.
    const PROMISE: Promise = Promise::ConsistentData;

    fn step_count(&self) -> usize {
        self.actions.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> CatalogStore {
        let (streams, random) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
        CatalogStore::new(streams, Arc::clone(&ports.clock) as _, random)
    }

    async fn step(&self, catalog: &CatalogStore, (): &(), step: usize) -> Result<bool, Retry> {
        let by = somebody("alice").by(log()).unwrap();
        let seen = Some(u64::try_from(step).unwrap());
        let changed = catalog.change(log(), by, self.actions[step].clone(), seen).await;
        match changed {
            Ok(changed) => Ok(changed.listing.is_some()),
            Err(error) => Err(retry_or_panic(error)),
        }
    }

    fn assert_after_failure(&self, stored: &Stored, context: &str) {
        let (event_count, distinct_count) = count_events(stored);
        assert_eq!(event_count, distinct_count, "{context}: a change was made twice");
    }

    fn assert_final(&self, stored: &Stored, answers: &[bool], context: &str) {
        assert_eq!(count_events(stored), (self.actions.len(), self.actions.len()), "{context}");
        assert!(answers.iter().all(|listed| *listed), "{context}");
    }
}

fn retry_or_panic(error: CatalogError) -> Retry {
    match error {
        CatalogError::Stream(
            StreamError::Store(_)
            | StreamError::Append(
                AppendFault::Store | AppendFault::OutcomeUnknown | AppendFault::Contention,
            ),
        ) => Retry(error.to_string()),
        // A frozen process may resume after a retry has made its change and others have changed the
        // listing again.
        CatalogError::Rejected(Rejection::Changed | Rejection::Archived) => {
            Retry(error.to_string())
        }
        error => panic!("no client retries after this error: {error:?}"),
    }
}

/// Returns the total number of events and the number of distinct events.
fn count_events(stored: &Stored) -> (usize, usize) {
    let events: Vec<_> = stored.streams.iter().flat_map(|(_, events)| events).collect();
    let distinct_events: BTreeSet<_> = events.iter().collect();
    (events.len(), distinct_events.len())
}

#[tokio::test]
async fn changes_of_the_catalog_survive() {
    let crashes = Crashes::new(CatalogClient { actions: actions() }, empty_ports()).await;
    assert_eq!(crashes.requests(), actions().len(), "one write each");
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_changes_of_the_catalog_survive_whatever_two_requests_fail() {
    let crashes = Crashes::new(CatalogClient { actions: actions() }, empty_ports()).await;
    crashes.inject_each_pair_of_faults().await;
}
