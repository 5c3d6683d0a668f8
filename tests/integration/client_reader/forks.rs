//! Comparisons of a fork with its source, and with another fork, by their chunks.

use cellar::Spreadsheet;
use cellar_api::wire::ForkRequest;
use cellar_sheet::operation::AddSheet;
use fastrand::Rng;

use super::history::{EXTRA, OTHER, assert_same_differences, operation};
use super::*;

const STEPS: usize = 30;

/// A spreadsheet, and an editor of it.
struct Branch {
    spreadsheet: Spreadsheet,
    editor: Editor,
    _folder: tempfile::TempDir,
}

impl Branch {
    fn new(spreadsheet: Spreadsheet) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let editor = Editor::new(spreadsheet.clone(), folder.path());
        Self { spreadsheet, editor, _folder: folder }
    }

    async fn fork(&self, name: &str) -> Self {
        let request = ForkRequest { nonce: name.to_owned(), at: None, name: Some(name.to_owned()) };
        let fork = self.spreadsheet.fork(&request).await.unwrap().id;
        Self::new(self.spreadsheet.client().spreadsheet(fork))
    }

    /// Edits a random sheet, and sometimes adds one that formulas already name.
    async fn edit(&self, random: &mut Rng, step: usize) {
        let sheets = self.spreadsheet.sheets().await.unwrap().sheets;
        let next = sheets.iter().map(|view| view.sheet.0 + 1).max().unwrap();
        let operation = if random.u32(0..8) == 0 {
            let name = [EXTRA, OTHER][random.usize(0..2)].to_owned();
            Operation::AddSheet(AddSheet { sheet: SheetId(next), name, before: None })
        } else {
            let sheet = sheets[random.usize(..sheets.len())].sheet;
            operation(random, sheet, step)
        };
        self.editor.apply(operation.validated().unwrap()).await.unwrap();
    }

    async fn head(&self) -> Position {
        self.spreadsheet.head().await.unwrap().head
    }
}

async fn differs_as_the_server_says(from: &Branch, to: &Branch) {
    let (from_position, to_position) = (from.head().await, to.head().await);
    let other = (&to.spreadsheet, to_position);
    let listed = from
        .spreadsheet
        .diff_with_from_chunks(from_position, other, usize::MAX, |_| {})
        .await
        .unwrap()
        .expect("both spreadsheets can be read from chunks");
    let id = to.spreadsheet.id();
    let shown = from.spreadsheet.diff_with(from_position, id, to_position).await.unwrap();
    assert_same_differences(listed.diff, shown);
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_differ_from_each_other_and_from_their_source_as_the_server_says() {
    let (world, mut random) = (World::start().await, Rng::with_seed(3));
    let source = Branch::new(world.client.spreadsheet(world.log));
    for step in 0..STEPS {
        source.edit(&mut random, step).await;
    }
    let first = source.fork("first").await;
    for step in 0..STEPS / 2 {
        source.edit(&mut random, step).await;
        first.edit(&mut random, step).await;
    }
    let second = source.fork("second").await;
    let fork_of_fork = first.fork("fork of fork").await;
    let branches = [source, first, second, fork_of_fork];
    for step in 0..STEPS {
        let edited = &branches[random.usize(..branches.len())];
        edited.edit(&mut random, step).await;
        if step % 5 == 0 {
            let other = &branches[random.usize(..branches.len())];
            if other.spreadsheet.id() != edited.spreadsheet.id() {
                Box::pin(differs_as_the_server_says(edited, other)).await;
                Box::pin(differs_as_the_server_says(other, edited)).await;
            }
        }
    }
    Box::pin(differs_as_the_server_says(&branches[2], &branches[3])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spreadsheets_without_shared_history_have_no_differences_in_chunks() {
    let world = World::start().await;
    let one = world.client.spreadsheet(world.log);
    let request = CreateRequest::new("another".to_owned());
    let other = world.client.spreadsheet(world.client.create(&request).await.unwrap().id);
    let positions = (one.head().await.unwrap().head, other.head().await.unwrap().head);
    let compared = one.diff_with_from_chunks(positions.0, (&other, positions.1), 10, |_| {});
    assert!(compared.await.unwrap().is_none());
}
