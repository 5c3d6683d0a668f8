//! Forks of a spreadsheet whose tables were restored: new and old forks have the new incarnation.

use cellar::Client;
use cellar::replay::ForkReplay;
use cellar_api::{wire::AppendRequest, wire::CreateReply, wire::MutationStatus, wire::ProblemKind};
use cellar_sheet::operation::Operation;
use cellar_tests::edits::{append_one, at};

use super::replay::{column, edit_all, shown, text};
use super::*;
use crate::incarnations::restore;
use crate::snapshot_reads::Author;

/// Incarnation of tables that were restored twice.
const INCARNATION: u32 = 2;

/// A spreadsheet restored to its second of three edits, and a fork from before the restore, with an
/// edit.
struct World {
    cloud: TestCloud,
    source: LogId,
    before: ForkReply,
    /// Client of a process with the new incarnation.
    after: Client,
}

impl World {
    async fn start() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let mut author = Author::new(&cloud, "restored").await;
        let source = author.created.id;
        for row in 0..3 {
            author.edit(&cloud, text(row, &format!("row {row}"))).await;
        }
        let before = fork(&cloud, source, "before", Some(at(1))).await;
        assert_eq!(before.incarnation, 0);
        edit_all(&cloud, &before, vec![text(7, "of the fork")]).await;
        restore(&cloud, source, at(2)).await;
        let token = cloud.token("alice", Role::Owner);
        let after =
            Client::new(&cloud.api_at_incarnation(INCARNATION).await, Some(&token)).unwrap();
        Self { cloud, source, before, after }
    }

    async fn fork(&self, nonce: &str, position: Option<Position>) -> ForkReply {
        let request = ForkRequest::new(nonce.to_owned(), position);
        self.after.spreadsheet(self.source).fork(&request).await.unwrap()
    }
}

/// Returns a request with the first edit of a fork, based on an incarnation.
fn first_edit(fork: &ForkReply, incarnation: u32, operation: Operation) -> AppendRequest {
    let created = CreateReply { id: fork.id, head: fork.head, incarnation };
    append_one(created, "after", 1, fork.head, operation)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_what_was_restored_has_its_incarnation_and_its_end() {
    let world = World::start().await;
    let (cloud, after) = (&world.cloud, &world.after);
    let gone = ForkRequest::new("gone".to_owned(), Some(at(3)));
    let refused = after.spreadsheet(world.source).fork(&gone).await.unwrap_err();
    assert_eq!(refused.problem_kind(), Some(ProblemKind::UnknownPosition), "{refused}");
    let made = world.fork("after", None).await;
    assert_eq!((made.source, made.position, made.incarnation), (world.source, at(2), INCARNATION));
    assert_eq!(world.fork("after", None).await, made, "a repetition finds the fork");
    let rows = [(0, "row 0"), (1, "row 1")];
    assert_eq!(column(cloud, made.id, made.head).await, shown(&rows));

    // A client that knows only an old state is asked to load the spreadsheet.
    for incarnation in 0..INCARNATION {
        let edit = first_edit(&made, incarnation, text(2, "of before"));
        let refused = after.spreadsheet(made.id).append(&edit).await.unwrap_err();
        assert_eq!(
            refused.problem_kind(),
            Some(ProblemKind::ReloadRequired),
            "{incarnation}: {refused}"
        );
    }
    let edit = first_edit(&made, INCARNATION, text(2, "of now"));
    let reply = after.spreadsheet(made.id).append(&edit).await.unwrap();
    assert_eq!(reply.results[0].status, MutationStatus::Appended);
    let load = after.spreadsheet(made.id).load(None).await.unwrap();
    assert_eq!((load.head, load.incarnation), (reply.head, INCARNATION));
    let there = column(cloud, made.id, load.head).await;
    assert_eq!(there, shown(&[(0, "row 0"), (1, "row 1"), (2, "of now")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_before_is_found_in_the_new_incarnation_and_can_be_rebased() {
    let world = World::start().await;
    let (cloud, after) = (&world.cloud, &world.after);
    let found = world.fork("before", Some(at(1))).await;
    assert_eq!(found, ForkReply { incarnation: INCARNATION, ..world.before });
    let edit = first_edit(&found, INCARNATION, text(8, "in the new incarnation"));
    after.spreadsheet(found.id).append(&edit).await.unwrap();

    let replay = ForkReplay::plan(&after.spreadsheet(found.id), None).await.unwrap();
    assert_eq!((replay.from, replay.onto, replay.count()), (at(1), at(2), 2));
    let done = replay.create_replayed_fork().await.unwrap();
    assert_eq!(replay.create_replayed_fork().await.unwrap(), done, "once");
    let expected = [(0, "row 0"), (1, "row 1"), (7, "of the fork"), (8, "in the new incarnation")];
    assert_eq!(column(cloud, done.id, done.head).await, shown(&expected));
    assert_eq!(after.spreadsheet(done.id).head().await.unwrap().incarnation, INCARNATION);
}
