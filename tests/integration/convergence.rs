//! Ten clients edit one sheet concurrently, with inserted and deleted rows and columns, over HTTP
//! and two API processes. No client sees a conflict, all end with the same cells, and every cell is
//! where its author put it. Labels in the first column identify rows, headers in the first row
//! identify columns.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use cellar::Client;
use cellar_api::{
    wire::AppendRequest, wire::CreateReply, wire::CreateRequest, wire::EntryView,
    wire::MutationStatus, wire::SentMutation,
};
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_sheet::workbook::Workbook;
use cellar_tests::cloud::TestCloud;

const CLIENTS: usize = 10;
const ROUNDS: u64 = 40;
const ROWS: u32 = 60;
const SHEET: SheetId = SheetId::FIRST;

fn cell(row: u32, column: u32, text: String) -> CellEdit {
    let value = Some(Value::Text(text));
    CellEdit { row, column, value, formula: None, format: None }
}

fn set(cells: Vec<CellEdit>) -> Operation {
    Operation::SetCells(SetCells { sheet: SHEET, cells })
}

/// Random numbers with a fixed seed.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, end: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(end)).unwrap()
    }
}

/// The sheet as one client sees it.
struct View {
    /// State of the log at `head`.
    workbook: Workbook,
    head: Position,
    /// State at `head` with the client's own later edits.
    local: Workbook,
}

impl View {
    async fn load(client: &Client, created: CreateReply) -> Self {
        let mut view =
            Self { workbook: Workbook::default(), head: created.head, local: Workbook::default() };
        view.catch_up(client, created).await;
        view
    }

    async fn catch_up(&mut self, client: &Client, created: CreateReply) {
        loop {
            let update = client.spreadsheet(created.id).entries_page(self.head).await.unwrap();
            update.entries.iter().for_each(|entry| self.apply(entry));
            if update.next.is_none() {
                self.local = self.workbook.clone();
                return;
            }
        }
    }

    fn apply(&mut self, entry: &EntryView) {
        assert!(entry.position > self.head);
        self.head = entry.position;
        for mutation in &entry.mutations {
            self.workbook.apply_operations(mutation.committed_operations()).unwrap();
        }
    }

    fn text(&self, row: u32, column: u32) -> String {
        self.local.sheet(SHEET).unwrap().cell(row, column).text()
    }

    /// Returns the rows with their labels, without the header row.
    fn labels(&self) -> Vec<(u32, String)> {
        let rows = self.local.sheet(SHEET).unwrap().extent().rows;
        let labelled = (1..rows).map(|row| (row, self.text(row, 0)));
        labelled.filter(|(_, label)| !label.is_empty()).collect()
    }

    fn column_of(&self, header: &str) -> u32 {
        (0..200).find(|column| self.text(0, *column) == header).unwrap()
    }
}

/// The edits of a client and their expected results.
#[derive(Default)]
struct Done {
    /// Texts that were set, with the labels of their rows.
    set: BTreeMap<String, String>,
    deleted: BTreeSet<String>,
    appends: u64,
    second_tries: u64,
}

struct Editor {
    number: usize,
    created: CreateReply,
    client: Client,
    view: View,
    random: SeededRandom,
    next_id: u64,
    done: Done,
}

impl Editor {
    /// Returns the operations of one request: an edit, an insert with an edit of the new row, or a
    /// delete.
    fn operations(&mut self) -> Vec<Operation> {
        let labels = self.view.labels();
        let (row, label) =
            labels[self.random.below(u32::try_from(labels.len()).unwrap()) as usize].clone();
        let column = self.view.column_of(&format!("col-{}", self.number));
        let name = format!("{}-{}", self.number, self.next_id);
        match self.random.below(10) {
            0 => {
                self.done.deleted.insert(label);
                let spans = Spans::one(row, 1);
                vec![Operation::DeleteRows(DeleteSpans { sheet: SHEET, spans })]
            }
            1..=2 => {
                let label = format!("new-{name}");
                let edit = format!("{label} is mine");
                self.done.set.insert(edit.clone(), label.clone());
                let count = 1 + self.random.below(3);
                let insert = InsertBefore { sheet: SHEET, before: row, count };
                let cells = vec![cell(row, 0, label), cell(row, column, edit)];
                vec![Operation::InsertRows(insert), set(cells)]
            }
            3 => {
                let before = 1 + self.random.below(12);
                let insert = InsertBefore { sheet: SHEET, before, count: 1 };
                let mine = if before <= column { column + 1 } else { column };
                let edit = format!("{label} by {name}");
                self.done.set.insert(edit.clone(), label);
                vec![Operation::InsertColumns(insert), set(vec![cell(row, mine, edit)])]
            }
            _ => {
                let edit = format!("{label} by {name}");
                self.done.set.insert(edit.clone(), label);
                vec![set(vec![cell(row, column, edit)])]
            }
        }
    }

    async fn run(mut self) -> (View, Done) {
        for _ in 0..ROUNDS {
            // Some clients read the newest entries, others continue with their old state.
            if self.random.below(3) > 0 {
                self.view.catch_up(&self.client, self.created).await;
            }
            let operations = self.operations();
            let first = self.next_id;
            let mutations = (first..).zip(operations).map(|(id, op)| SentMutation {
                id,
                base: self.view.head,
                op,
            });
            let request = AppendRequest {
                client_id: format!("client-{}", self.number),
                incarnation: self.created.incarnation,
                acked_id: first - 1,
                refuse_unchanged: false,
                mutations: mutations.collect(),
            };
            self.next_id += u64::try_from(request.mutations.len()).unwrap();
            let before = self.client.cost().cost.write_units;
            let reply = self.client.spreadsheet(self.created.id).append(&request).await.unwrap();
            let appended = |status| status == MutationStatus::Appended;
            assert!(reply.results.iter().all(|result| appended(result.status)), "{reply:?}");
            self.done.appends += 1;
            let units = self.client.cost().cost.write_units - before;
            self.done.second_tries += u64::from(units > 1);
            // The client's own edits apply to the state that it has read, until it reads them from
            // the log.
            for mutation in &request.mutations {
                self.view.local.apply_operation(&mutation.op);
            }
        }
        (self.view, self.done)
    }
}

async fn prepare(cloud: &TestCloud) -> CreateReply {
    let client = cloud.client("alice");
    let created = client.create(&CreateRequest::new("convergence".to_owned())).await.unwrap();
    let headers = (0..CLIENTS).map(|n| cell(0, u32::try_from(n).unwrap() + 1, format!("col-{n}")));
    let labels = (1..ROWS).map(|row| cell(row, 0, format!("row-{row}")));
    let op = set(headers.chain(labels).collect());
    let mutations = vec![SentMutation { id: 1, base: created.head, op }];
    let client_name = "preparer".to_owned();
    let request = AppendRequest {
        client_id: client_name,
        incarnation: created.incarnation,
        acked_id: 0,
        refuse_unchanged: false,
        mutations,
    };
    client.spreadsheet(created.id).append(&request).await.unwrap();
    created
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_clients_converge_and_every_cell_is_where_its_author_put_it() {
    let cloud = TestCloud::start().await;
    let created = prepare(&cloud).await;
    let urls = [cloud.url.clone(), cloud.another_api(&cloud.database_url).await];
    let token = cloud.token("alice", cellar_catalog::access::Role::Editor);
    let began = Instant::now();
    let mut editors = Vec::new();
    for number in 0..CLIENTS {
        let client = Client::new(&urls[number % urls.len()], Some(&token)).unwrap();
        let view = View::load(&client, created).await;
        let random = SeededRandom(u64::try_from(number).unwrap() * 977 + 5);
        let done = Done::default();
        let editor = Editor { number, created, client, view, random, next_id: 1, done };
        editors.push(tokio::spawn(editor.run()));
    }
    let mut all = Vec::new();
    for editor in editors {
        all.push(editor.await.unwrap());
    }
    let seconds = began.elapsed().as_secs_f64();
    let client = cloud.client("alice");
    for (view, _) in &mut all {
        view.catch_up(&client, created).await;
    }
    let (last, _) = &all[0];
    assert!(
        all.iter().all(|(view, _)| view.workbook == last.workbook),
        "the clients do not converge"
    );
    let deleted: BTreeSet<&String> = all.iter().flat_map(|(_, done)| &done.deleted).collect();
    check_places(last, &all, &deleted);
    let appends: u64 = all.iter().map(|(_, done)| done.appends).sum();
    let second_tries: u64 = all.iter().map(|(_, done)| done.second_tries).sum();
    eprintln!(
        "{CLIENTS} clients, {appends} appends to one log in {seconds:.1} s: {:.0} a second, \
         {second_tries} of them ({:.0} %) needed a second try",
        appends as f64 / seconds,
        100.0 * second_tries as f64 / appends as f64,
    );
}

/// Checks that every text is in its author's column and in the row with its label, unless the row
/// was deleted or the cell was set again.
fn check_places(view: &View, all: &[(View, Done)], deleted: &BTreeSet<&String>) {
    let labels: BTreeMap<String, u32> =
        view.labels().into_iter().map(|(row, label)| (label, row)).collect();
    assert!(deleted.iter().all(|label| !labels.contains_key(*label)), "a deleted row is back");
    let mut found = 0;
    for (number, (_, done)) in all.iter().enumerate() {
        let column = view.column_of(&format!("col-{number}"));
        for label in done.set.values() {
            let Some(row) = labels.get(label) else {
                assert!(deleted.contains(label), "the row {label} is lost");
                continue;
            };
            let text = view.text(*row, column);
            // The last edit of a cell wins; the text may be from any edit of this row by this
            // author.
            assert_eq!(done.set.get(&text), Some(label), "in {label}, of client {number}");
            found += 1;
        }
    }
    assert!(found > 50, "only {found} cells are left");
}
