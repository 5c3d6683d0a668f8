//! Fault injection scenarios in which a client creates a log and appends edits, undos and reverts.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::Request;
use cellar_log::invariants::{MutationId, check_acknowledged, readable_entries};
use cellar_log::upkeep::LogPolicy;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, InsertBefore, Operation, RenameSheet, Revert, SetCells,
    SetName, SheetId, Undo,
};

use super::run::Crashes;
use super::scenario::{MutationPlace, Promise, Retry, Scenario, mutation_places, retry};
use super::stored::Stored;
use super::{
    FaultyPorts, at, edit_request, empty_ports, log, ports_with_edits, set_text, set_with_formulas,
};
use crate::logs::Logs;
use crate::ports::Segments as _;

struct Client {
    requests: Vec<Request>,
}

impl Scenario for Client {
    type Process = Logs;
    type Caller = ();
    type Answer = Vec<MutationPlace>;

    fn step_count(&self) -> usize {
        self.requests.len() + 1
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), step: usize) -> Result<Vec<MutationPlace>, Retry> {
        let Some(request) = step.checked_sub(1).map(|number| self.requests[number].clone()) else {
            let created = logs.create(log(), Some("bob".to_owned())).await.map_err(retry)?;
            return Ok(vec![(0, Some(created.head), None)]);
        };
        Ok(mutation_places(logs.append(request).await.map_err(retry)?))
    }
}

/// If the upkeep fails, the error is ignored, since the next append performs the upkeep again.
struct WithUpkeep {
    client: Client,
    policy: LogPolicy,
}

impl Scenario for WithUpkeep {
    type Process = Logs;
    type Caller = ();
    /// Positions are not compared, since they depend on the entries that upkeep adds.
    type Answer = Vec<u64>;

    const PROMISE: Promise = Promise::SameCells;

    fn step_count(&self) -> usize {
        self.client.step_count()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), step: usize) -> Result<Vec<u64>, Retry> {
        let placed = self.client.step(logs, &(), step).await?;
        let _ = logs.upkeep(log(), &self.policy).await;
        Ok(placed.into_iter().map(|(id, ..)| id).collect())
    }
}

/// A client whose process fails before another client appends entries.
struct Contended {
    client: Client,
}

impl Scenario for Contended {
    type Process = Logs;
    type Caller = ();
    type Answer = Vec<MutationPlace>;

    const PROMISE: Promise = Promise::ConsistentData;

    fn step_count(&self) -> usize {
        self.client.step_count()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), step: usize) -> Result<Vec<MutationPlace>, Retry> {
        self.client.step(logs, &(), step).await
    }

    async fn run_other_writers(&self, ports: Arc<FaultyPorts>) {
        let logs = ports.logs();
        logs.create(log(), Some("bob".to_owned())).await.unwrap();
        for id in 1..=2 {
            let text = format!("another's {id}");
            logs.append(edit_request(log(), 7, id, at(0, 0), vec![set_text(7, &text)]))
                .await
                .unwrap();
        }
    }

    fn assert_final(&self, stored: &Stored, answers: &[Vec<MutationPlace>], context: &str) {
        let entries: Vec<_> = stored.entries_of(log()).cloned().map(Arc::new).collect();
        let ids = answers.iter().skip(1).flatten().map(|(id, ..)| *id);
        let client = self.client.requests[0].client();
        let acknowledged = ids.map(|id| MutationId { client, id });
        check_acknowledged(&readable_entries(&entries, &[]), acknowledged).unwrap();
        for (id, position, rejection) in answers.iter().skip(1).flatten() {
            let entry = &stored.entries[&(log(), position.unwrap())];
            let (entry_client, first_id, last_id) = entry.mutation_ids().unwrap();
            assert!(
                entry_client == client && (first_id..=last_id).contains(id),
                "{context}: {id} is elsewhere"
            );
            assert_eq!(*rejection, None, "{context}");
        }
    }
}

fn three_requests() -> Client {
    let base = Position::FIRST;
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 2 };
    let requests = vec![
        edit_request(
            log(),
            1,
            1,
            base,
            vec![set_with_formulas(0, "one", &["=A1&B2", "=COUNTA(A:A)"]), set_text(1, "two")],
        ),
        edit_request(log(), 1, 3, base, vec![Operation::InsertRows(insert)]),
        edit_request(log(), 1, 4, base, vec![set_with_formulas(0, "four", &["=C1+1", "=LEN(A1)"])]),
    ];
    Client { requests }
}

async fn prepare_created_and_edited() -> Crashes<Client> {
    Crashes::new(three_requests(), empty_ports()).await
}

async fn prepare_behind_others() -> Crashes<Client> {
    Crashes::new(three_requests(), ports_with_edits(4).await).await
}

async fn prepare_taking_back() -> Crashes<Client> {
    let undo = |position| Operation::Undo(Undo { position });
    let revert = Operation::Revert(Revert::whole(at(0, 2)));
    let requests = vec![
        edit_request(log(), 1, 1, at(0, 4), vec![undo(at(0, 3))]),
        edit_request(log(), 1, 2, at(0, 5), vec![undo(at(0, 5))]),
        edit_request(log(), 1, 3, at(0, 6), vec![revert]),
    ];
    Crashes::new(Client { requests }, ports_with_edits(4).await).await
}

async fn prepare_with_snapshot_entries() -> Crashes<WithUpkeep> {
    let never = LogPolicy::default();
    let policy = LogPolicy { snapshot_entries: 2, ..never };
    Crashes::new(WithUpkeep { client: three_requests(), policy }, empty_ports()).await
}

async fn prepare_with_a_roll() -> Crashes<WithUpkeep> {
    let before = ports_with_edits(14).await;
    before.tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
    let text = |id: u64| vec![set_text(0, &format!("rolled {id}"))];
    let requests = (1..=3).map(|id| edit_request(log(), 1, id, at(0, 14), text(id))).collect();
    let policy = LogPolicy { segment_entries: 16, ..LogPolicy::default() };
    Crashes::new(WithUpkeep { client: Client { requests }, policy }, before).await
}

/// Formulas of two sheets and a name refer to each other, while rows are inserted, and a sheet is
/// renamed, deleted and restored.
async fn prepare_formulas() -> Crashes<Client> {
    let costs = SheetId(1);
    let add = AddSheet { sheet: costs, name: "Costs".to_owned(), before: None };
    let sum = CellEdit {
        row: 0,
        column: 0,
        value: Some(Value::Empty),
        formula: Some("=SUM(Sheet1!B1:B3)+Rate".to_owned()),
        format: None,
    };
    let rate = SetName {
        name: "Rate".to_owned(),
        formula: Some("=S!$A$2:$A$3".to_owned()),
        sheets: BTreeMap::from([("S".to_owned(), costs)]),
    };
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 1, count: 1 };
    let rename = RenameSheet { sheet: costs, name: "My costs".to_owned() };
    let formulas = ["=Costs!A1+1", "=COUNT(Costs!A:A,B:B)"];
    let all = [
        (2, vec![Operation::AddSheet(add), set_with_formulas(5, "total", &formulas)]),
        (
            3,
            vec![
                Operation::SetCells(SetCells { sheet: costs, cells: vec![sum] }),
                Operation::SetName(rate),
            ],
        ),
        // The author has not seen the entry before.
        (3, vec![Operation::InsertRows(insert), Operation::RenameSheet(rename)]),
        (3, vec![set_with_formulas(7, "late", &["=Costs!A1"])]),
        (6, vec![Operation::DeleteSheet(DeleteSheet { sheet: costs })]),
        (7, vec![Operation::Undo(Undo { position: at(0, 7) })]),
    ];
    let mut requests = Vec::new();
    let mut next_id = 1;
    for (base, operations) in all {
        let count = u64::try_from(operations.len()).unwrap();
        requests.push(edit_request(log(), 1, next_id, at(0, base), operations));
        next_id += count;
    }
    Crashes::new(Client { requests }, ports_with_edits(2).await).await
}

async fn prepare_contended() -> Crashes<Contended> {
    Crashes::new(Contended { client: three_requests() }, empty_ports()).await
}

#[tokio::test]
async fn a_log_that_is_created_and_edited_survives() {
    let crashes = prepare_created_and_edited().await;
    assert_eq!(crashes.requests(), 4, "one transaction, three puts and no reads");
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn edits_behind_those_of_others_survive() {
    let crashes = prepare_behind_others().await;
    assert!(crashes.answers()[1] == [(1, Some(at(0, 5)), None), (2, Some(at(0, 5)), None)]);
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn undo_and_revert_survive() {
    let crashes = prepare_taking_back().await;
    assert!(crashes.answers().iter().flatten().all(|(_, _, rejection)| rejection.is_none()));
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn edits_with_upkeep_behind_them_survive() {
    let crashes = prepare_with_snapshot_entries().await;
    assert!(
        crashes.stored().entries[&(log(), at(0, 3))].mutation_ids().is_none(),
        "a Snapshot entry"
    );
    crashes.inject_each_fault().await;
    let crashes = prepare_with_a_roll().await;
    assert_eq!(crashes.stored().segments_of(log()).len(), 2);
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn formulas_that_refer_to_each_other_survive() {
    let crashes = prepare_formulas().await;
    assert!(crashes.answers().iter().flatten().all(|(_, _, rejection)| rejection.is_none()));
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn edits_survive_while_others_write() {
    prepare_contended().await.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_appends_survive_whatever_two_requests_fail() {
    prepare_created_and_edited().await.inject_each_pair_of_faults().await;
    prepare_behind_others().await.inject_each_pair_of_faults().await;
    prepare_taking_back().await.inject_each_pair_of_faults().await;
    prepare_formulas().await.inject_each_pair_of_faults().await;
    prepare_with_snapshot_entries().await.inject_each_pair_of_faults().await;
    prepare_with_a_roll().await.inject_each_pair_of_faults().await;
    prepare_contended().await.inject_each_pair_of_faults().await;
}
