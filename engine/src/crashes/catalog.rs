//! Scenarios that change a spreadsheet's listing, with and without a cached listing. The caller
//! retries a command that got no response.

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
use super::{FaultyPorts, empty};
use crate::catalog::tests::{log, somebody};
use crate::catalog::{CatalogError, CatalogStore};
use crate::streams::StreamError;

/// Changes that alice makes to her spreadsheet, in order.
struct Changing {
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

impl Scenario for Changing {
    type Process = CatalogStore;
    type Caller = ();
    type Answer = bool;

    // The archival time is part of the listing and differs between runs.
    const PROMISE: Promise = Promise::Sound;

    fn steps(&self) -> usize {
        self.actions.len()
    }

    fn process(&self, ports: &Arc<FaultyPorts>) -> CatalogStore {
        let (streams, random) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
        CatalogStore::new(streams, Arc::clone(&ports.clock) as _, random)
    }

    async fn step(&self, catalog: &CatalogStore, (): &(), step: usize) -> Result<bool, Retry> {
        let by = somebody("alice").by(log()).unwrap();
        let seen = u64::try_from(step).unwrap();
        let changed = catalog.change(log(), by, self.actions[step].clone(), Some(seen)).await;
        let changed = changed.map_err(|error| match error {
            CatalogError::Stream(
                StreamError::Store(_)
                | StreamError::Append(
                    AppendFault::Store | AppendFault::OutcomeUnknown | AppendFault::Contention,
                ),
            ) => Retry(error.to_string()),
            // A frozen process resumes after a retry has made its change and further changes have
            // followed.
            CatalogError::Rejected(Rejection::Changed | Rejection::Archived) => {
                Retry(error.to_string())
            }
            error => panic!("no client retries after this error: {error:?}"),
        })?;
        Ok(changed.listing.is_some())
    }

    fn assert_between(&self, stored: &Stored, what: &str) {
        let (all, distinct) = events(stored);
        assert_eq!(all, distinct, "{what}: a change was made twice");
    }

    fn assert_ended(&self, stored: &Stored, answers: &[bool], what: &str) {
        assert_eq!(events(stored), (self.actions.len(), self.actions.len()), "{what}");
        assert!(answers.iter().all(|listed| *listed), "{what}");
    }
}

/// Returns the total number of events and the number of distinct events.
fn events(stored: &Stored) -> (usize, usize) {
    let all: Vec<_> = stored.streams.iter().flat_map(|(_, events)| events).collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    (all.len(), distinct.len())
}

#[tokio::test]
async fn changes_of_the_catalog_survive() {
    let crashes = Crashes::new(Changing { actions: actions() }, empty()).await;
    assert_eq!(crashes.requests(), actions().len(), "one write each");
    crashes.at_each_request().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_changes_of_the_catalog_survive_whatever_two_requests_fail() {
    let crashes = Crashes::new(Changing { actions: actions() }, empty()).await;
    crashes.at_any_two_requests().await;
}
