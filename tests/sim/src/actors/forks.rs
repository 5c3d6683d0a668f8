//! An actor that forks a log during writes, and clients that write to the forks.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{Forked, LogError, NewFork};
use tokio::task::JoinSet;

use crate::editor::{Editor, is_temporary};
use crate::fleet::Server;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::simulation::Simulation;

/// Number of forks in a run.
const FORKS: u8 = 3;
/// Number of clients of each fork.
const EDITORS: u8 = 2;
/// Number of the first client of a fork.
const FIRST_NUMBER: u8 = 100;

/// Forks the log, and forks of the log, at positions that clients have seen.
pub(super) async fn run_forker(simulation: &Arc<Simulation>) {
    let forker = Process::new(&simulation.world, "forker", Mortality::Spared);
    let mut clients = JoinSet::new();
    for number in 0..FORKS {
        let think_ms = simulation.shape.habits.think_ms * 4;
        simulation.world.sleep_ms(forker.random().draw_in(0..=think_ms)).await;
        let Some((source, at)) = draw_fork_point(simulation, &forker) else { continue };
        let Some(forked) = fork_until_done(simulation, &forker, source, at, number).await else {
            return;
        };
        let (log, seen) = (forked.0, (&simulation.fleet, &simulation.witness));
        for client in 0..EDITORS {
            let number = FIRST_NUMBER + number * EDITORS + client;
            let habits = simulation.shape.habits;
            let editor = Editor::new(&simulation.world, seen, log, number, habits);
            clients.spawn(editor.from(forked.1.head).edit());
        }
    }
    while clients.join_next().await.is_some() {}
}

/// Draws a log and a position from a client's replies; `None` means the newest.
fn draw_fork_point(simulation: &Simulation, forker: &Process) -> Option<(LogId, Option<Position>)> {
    let seen = simulation.witness.seen();
    let (log, _, at) = *forker.random().pick(&seen.acknowledged)?;
    Some((log, (forker.random().draw_below(3) > 0).then_some(at)))
}

/// Retries until the fork exists.
async fn fork_until_done(
    simulation: &Simulation,
    forker: &Process,
    source: LogId,
    at: Option<Position>,
    number: u8,
) -> Option<(LogId, Forked)> {
    let subject = SubjectKey::new("sim", "forker");
    let log = LogId::derive_fork(&subject, source, &format!("fork {number}")).ok()?;
    let new = NewFork { log, source, at, author: None };
    loop {
        let asked = new.clone();
        let work = move |server: Server| async move { server.logs.fork(asked).await };
        match simulation.fleet.ask(forker, format!("fork {source} at {at:?}"), work).await {
            Some(Ok(forked)) => {
                if forked.existed {
                    simulation.world.count(RareEvent::ForkRepeated);
                }
                check_fork_position(simulation, at, &forked);
                simulation.add_log(log);
                return Some((log, forked));
            }
            Some(Err(error)) if !is_temporary(&error) => {
                simulation.world.report_violation(format_args!("not forked at {at:?}: {error}"));
                return None;
            }
            Some(Err(LogError::Store(_) | _)) | None => simulation.world.sleep_ms(700).await,
        }
    }
}

fn check_fork_position(simulation: &Simulation, at: Option<Position>, forked: &Forked) {
    if at.is_some_and(|at| at != forked.position) {
        let why = format_args!("a fork was requested at {at:?} but created at {}", forked.position);
        simulation.world.report_violation(why);
    }
}
