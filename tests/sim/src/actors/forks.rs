//! An actor that forks a log while clients write to it, and clients that write to the forks.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{Forked, NewFork};
use tokio::task::JoinSet;

use crate::editor::{Editor, is_temporary};
use crate::fleet::Server;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::simulation::Simulation;

/// Number of forks per run.
const FORK_COUNT: u8 = 3;
/// Number of clients per fork.
const EDITORS_PER_FORK: u8 = 2;
/// Number of the first client of a fork.
const FIRST_EDITOR_NUMBER: u8 = 100;
const RETRY_PAUSE_MS: u64 = 700;

/// Forks the log and its forks at positions that clients have seen.
pub(super) async fn run_forker(simulation: &Arc<Simulation>) {
    let forker = Process::new(&simulation.world, "forker", Mortality::Spared);
    let mut clients = JoinSet::new();
    for fork_number in 0..FORK_COUNT {
        let max_think_ms = simulation.shape.habits.think_ms * 4;
        simulation.world.sleep_ms(forker.random().draw_in(0..=max_think_ms)).await;
        let Some((source, position)) = draw_fork_point(simulation, &forker) else { continue };
        let fork_result = fork_until_done(simulation, &forker, source, position, fork_number).await;
        let Some((fork_log, forked)) = fork_result else { return };
        for editor_index in 0..EDITORS_PER_FORK {
            let editor_number = FIRST_EDITOR_NUMBER + fork_number * EDITORS_PER_FORK + editor_index;
            let editor = Editor::new(
                &simulation.world,
                (&simulation.fleet, &simulation.witness),
                fork_log,
                editor_number,
                simulation.shape.habits,
            );
            clients.spawn(editor.from(forked.head).edit());
        }
    }
    while clients.join_next().await.is_some() {}
}

/// Draws a log and a position from a client's responses. `None` stands for the newest position.
fn draw_fork_point(simulation: &Simulation, forker: &Process) -> Option<(LogId, Option<Position>)> {
    let seen = simulation.witness.seen();
    let (log, _mutation, edit_position) = *forker.random().pick(&seen.acknowledged)?;
    let is_at_head = forker.random().draw_below(3) == 0;
    let fork_position = if is_at_head { None } else { Some(edit_position) };
    Some((log, fork_position))
}

/// Creates a fork, retrying until it exists. Returns `None` after a permanent error.
async fn fork_until_done(
    simulation: &Simulation,
    forker: &Process,
    source: LogId,
    position: Option<Position>,
    fork_number: u8,
) -> Option<(LogId, Forked)> {
    let subject = SubjectKey::new("sim", "forker");
    let fork_log = LogId::derive_fork(&subject, source, &format!("fork {fork_number}")).ok()?;
    let new_fork = NewFork { log: fork_log, source, at: position, author: None };
    loop {
        let request = new_fork.clone();
        let create_fork = move |server: Server| async move { server.logs.fork(request).await };
        let description = format!("fork {source} at {position:?}");
        match simulation.fleet.ask(forker, description, create_fork).await {
            Some(Ok(forked)) => {
                if forked.existed {
                    simulation.world.count(RareEvent::ForkRepeated);
                }
                check_fork_position(simulation, position, &forked);
                simulation.add_log(fork_log);
                return Some((fork_log, forked));
            }
            Some(Err(error)) if !is_temporary(&error) => {
                simulation
                    .world
                    .report_violation(format_args!("not forked at {position:?}: {error}"));
                return None;
            }
            Some(Err(_)) | None => simulation.world.sleep_ms(RETRY_PAUSE_MS).await,
        }
    }
}

fn check_fork_position(simulation: &Simulation, requested: Option<Position>, forked: &Forked) {
    let Some(requested_position) = requested else { return };
    let fork_position = forked.position;
    if requested_position != fork_position {
        simulation.world.report_violation(format_args!(
            "a fork was requested at {requested:?} but created at {fork_position}"
        ));
    }
}
