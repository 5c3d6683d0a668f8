//! The members of one spreadsheet. Two members import sheets. Two members are hostile: an editor,
//! and a viewer who works in a fork.

mod content;
mod honest;
mod hostile;
mod member;

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::NewFork;
use cellar_sheet::operation::{AddSheet, Operation, SheetId};
use tokio::task::JoinSet;

use self::member::Member;
use crate::fleet::Server;
use crate::simulation::Simulation;

/// Number of members who import sheets.
const IMPORTER_COUNT: u32 = 2;

/// Runs all members.
pub(super) async fn run_members(simulation: &Arc<Simulation>) {
    let owner = Member::new(simulation, "owner", simulation.log);
    simulation.create(&owner.process).await;
    // Other clients also edit this sheet, so no import may get its number.
    let add_sheet = AddSheet { sheet: SheetId(1), name: "Second".to_owned(), before: None };
    let client = owner.another_client();
    if let Some(request) =
        owner.build_request(client, Position::FIRST, Operation::AddSheet(add_sheet))
        && let Err(error) = owner.append(&request).await
    {
        return owner.report_violation("cannot add a sheet", &error);
    }
    let mut members = JoinSet::new();
    for number in 0..IMPORTER_COUNT {
        members.spawn(honest::run_importer(Arc::clone(simulation), number));
    }
    members.spawn(hostile::run_attacker(Arc::clone(simulation), "editor", simulation.log));
    if let Some(fork_log) = create_viewer_fork(&owner).await {
        simulation.add_log(fork_log);
        members.spawn(hostile::run_attacker(Arc::clone(simulation), "viewer", fork_log));
    }
    while let Some(ended) = members.join_next().await {
        if let Err(error) = ended {
            simulation.world.report_violation(format_args!("a member panicked: {error}"));
        }
    }
}

/// Creates the viewer's fork. The fork belongs to the same family of logs but is owned by the
/// viewer.
async fn create_viewer_fork(viewer: &Member) -> Option<LogId> {
    let source = viewer.log;
    let subject = SubjectKey::new("sim", "viewer");
    let fork_log = LogId::derive_fork(&subject, source, "attack").ok()?;
    let new_fork = NewFork { log: fork_log, source, at: None, author: None };
    let create_fork = |server: Server| {
        let new_fork = new_fork.clone();
        async move { server.logs.fork(new_fork).await }
    };
    match viewer.retry_until_final("fork", create_fork).await {
        Ok(_) => Some(fork_log),
        Err(error) => {
            viewer.report_violation("cannot fork", &error);
            None
        }
    }
}
