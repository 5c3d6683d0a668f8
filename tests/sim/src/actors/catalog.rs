//! Simulated users who change the catalog entries of a few spreadsheets concurrently. Meanwhile, an
//! operator rebuilds the feed, or an outage stops all functions.

use std::ops::RangeInclusive;
use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CatalogAction, spreadsheet::Name, spreadsheet::Person,
    spreadsheet::Rejection, spreadsheet::Right,
};
use cellar_engine::catalog::{CatalogError, Changed};
use cellar_engine::streams::StreamError;
use tokio::task::JoinSet;

use crate::fleet::Server;
use crate::pipeline::FeedPipeline;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::simulation::Simulation;

/// Number of spreadsheets. The number is small, and users prefer the first spreadsheets, so that
/// their changes conflict.
const LOG_COUNT: u32 = 6;
/// Number of users who change the catalog.
const PERSON_COUNT: u32 = 4;
/// Number of changes per user.
const CHANGES_PER_PERSON: u32 = 24;
/// Maximum number of attempts per change.
const MAX_ATTEMPTS: u32 = 30;
/// Maximum wait between two attempts, in milliseconds.
const MAX_RETRY_MS: u64 = 4_000;
/// Duration of an outage of all functions, in milliseconds. The range extends from below to above
/// both the maximum age of a record and the stream's retention.
const OUTAGE_MS: RangeInclusive<u64> = 6 * 60 * 60 * 1_000..=30 * 60 * 60 * 1_000;

/// Returns the ids of the spreadsheets.
pub(crate) fn logs() -> Vec<LogId> {
    let subject = SubjectKey::new("sim", "catalog");
    (0..LOG_COUNT)
        .filter_map(|number| LogId::derive(&subject, &format!("sheet {number}")).ok())
        .collect()
}

/// Returns the users who change the catalog.
pub(crate) fn people() -> Vec<Person> {
    (0..PERSON_COUNT)
        .filter_map(|number| Person::new("sim", &format!("person {number}")).ok())
        .collect()
}

/// Runs all users concurrently; each changes the catalog.
pub(super) async fn run_users(simulation: &Arc<Simulation>) {
    let mut tasks = JoinSet::new();
    for (number, person) in people().into_iter().enumerate() {
        let user = CatalogUser {
            simulation: Arc::clone(simulation),
            process: Process::new(&simulation.world, format!("person-{number}"), Mortality::Spared),
            person,
        };
        tasks.spawn(user.run());
    }
    while tasks.join_next().await.is_some() {}
}

/// Rebuilds the feed in a third of the runs, and stops all functions for a while in another third.
pub(super) async fn run_operator(simulation: &Simulation) {
    let (world, Some(feed)) = (&simulation.world, &simulation.feed) else { return };
    let max_think_ms = simulation.shape.habits.think_ms;
    world.sleep_ms(world.random.draw_in(0..=max_think_ms * 3)).await;
    match world.random.draw_below(3) {
        0 => feed.rebuild().await,
        1 => run_feed_outage(simulation, feed).await,
        _ => {}
    }
}

async fn run_feed_outage(simulation: &Simulation, feed: &FeedPipeline) {
    let world = &simulation.world;
    feed.set_outage(true);
    world.sleep_ms(world.random.draw_in(OUTAGE_MS)).await;
    feed.set_outage(false);
}

struct CatalogUser {
    simulation: Arc<Simulation>,
    process: Process,
    person: Person,
}

impl CatalogUser {
    async fn run(self) {
        for log in logs() {
            let create = CatalogAction::Create { name: Name::default(), source: None };
            self.request_until_done(log, create, None).await;
        }
        for change_number in 0..CHANGES_PER_PERSON {
            let Some(log) = self.draw_log() else { continue };
            let Some(action) = self.draw_action(change_number) else { continue };
            let is_conditional = self.process.random().draw_below(2) == 0;
            let expected_version = if is_conditional { self.read_version(log).await } else { None };
            let max_think_ms = self.simulation.shape.habits.think_ms;
            let think_ms = self.process.random().draw_mostly_small(max_think_ms);
            self.simulation.world.sleep_ms(think_ms).await;
            self.request_until_done(log, action, expected_version).await;
        }
    }

    fn draw_log(&self) -> Option<LogId> {
        let random = self.process.random();
        let log_index = random.draw_below(LOG_COUNT).min(random.draw_below(LOG_COUNT));
        logs().get(usize::try_from(log_index).ok()?).copied()
    }

    /// Draws the next change. Each name is unique, so that the checks can find it.
    fn draw_action(&self, change_number: u32) -> Option<CatalogAction> {
        let random = self.process.random();
        let draw_person =
            || people().get(usize::try_from(random.draw_below(PERSON_COUNT)).ok()?).cloned();
        let action = match random.draw_below(10) {
            0..3 => {
                let name = Name::new(&format!("{} {change_number}", self.person.subject)).ok()?;
                CatalogAction::Rename(name)
            }
            3 => CatalogAction::Share { with: draw_person()?, role: Role::Viewer },
            4 => CatalogAction::Share { with: draw_person()?, role: Role::Owner },
            5 => CatalogAction::Unshare(draw_person()?),
            6 => CatalogAction::Archive,
            7 => CatalogAction::Delete,
            _ => CatalogAction::Activate,
        };
        Some(action)
    }

    /// Reads the spreadsheet's catalog entry and returns the number of its changes.
    async fn read_version(&self, log: LogId) -> Option<u64> {
        let read_listing = move |server: Server| async move {
            server.catalog.read_listing(log, Right::Token(Role::Owner)).await
        };
        let answer =
            self.simulation.fleet.ask(&self.process, format!("looks at {log}"), read_listing).await;
        let listing = answer?.ok()??;
        Some(listing.changes)
    }

    /// Requests a change and retries until its outcome is known.
    async fn request_until_done(
        &self,
        log: LogId,
        action: CatalogAction,
        expected_version: Option<u64>,
    ) {
        let world = &self.simulation.world;
        let actor =
            By { person: self.person.clone(), right: Right::Token(Role::Owner), cap: Role::Owner };
        for _attempt in 1..=MAX_ATTEMPTS {
            let (request_actor, request_action) = (actor.clone(), action.clone());
            let change = move |server: Server| async move {
                server.catalog.change(log, request_actor, request_action, expected_version).await
            };
            let description = format!("{action:?} of {log} after {expected_version:?}");
            match self.simulation.fleet.ask(&self.process, description, change).await {
                Some(Ok(changed)) => return self.record_change(log, expected_version, changed),
                Some(Err(CatalogError::Rejected(rejection))) => {
                    return self.check_rejection(rejection, expected_version);
                }
                Some(Err(CatalogError::Stream(error))) if !is_temporary(&error) => {
                    return world.report_violation(format_args!("{action:?} of {log}: {error}"));
                }
                Some(Err(CatalogError::Stream(_))) | None => {
                    world.sleep_ms(self.process.random().draw_in(0..=MAX_RETRY_MS)).await;
                }
            }
        }
        self.process.event(format_args!("gives up"));
    }

    fn record_change(&self, log: LogId, expected_version: Option<u64>, changed: Changed) {
        self.simulation.world.count(RareEvent::CatalogChanged);
        self.simulation.witness.record_change(log, expected_version, changed.events);
    }

    fn check_rejection(&self, rejection: Rejection, expected_version: Option<u64>) {
        self.process.event(format_args!("{rejection}"));
        match rejection {
            Rejection::Changed if expected_version.is_some() => {
                self.simulation.world.count(RareEvent::ChangeOvertaken);
            }
            Rejection::Changed | Rejection::Hidden | Rejection::Role { .. } => {
                let why = format_args!("an owner is refused: {rejection}");
                self.simulation.world.report_violation(why);
            }
            _ => {}
        }
    }
}

/// Returns whether a retry may succeed.
fn is_temporary(error: &StreamError) -> bool {
    match error {
        StreamError::Store(error) => error.temporary,
        _ => true,
    }
}
