//! A hostile member with minimal rights: a viewer in a fork, or an editor. The member sends the
//! worst requests that these rights permit, and some that they do not permit.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_engine::logs::LogError;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::NamedText;

use super::content::{Content, TEXTS, long_text, text_reference};
use super::honest::CHOICES;
use super::member::Member;
use crate::rare::RareEvent;
use crate::simulation::Simulation;

/// Number of attacks per run.
const ATTACKS: u32 = 12;

/// An attack, which consists of several steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attack {
    /// Uploads different bytes under the names of objects that honest members upload.
    OccupyNames,
    /// Requests checks of objects of the wrong kind as tiles and as tile indexes.
    WrongKind,
    /// Imports objects that were never uploaded.
    NothingUploaded,
    /// Imports a tile whose text was never uploaded.
    TextMissing,
    /// Imports a tile that contains a wrong length for a text.
    TextLength,
    /// Imports a tile that contains a wrong preview of a text.
    TextBeginning,
    /// Imports a tile index that was never checked.
    IndexUnchecked,
    /// After the right bytes were checked, uploads different bytes.
    ExchangedLater,
    /// Imports an honest member's sheet with its steps in another order, and twice.
    ValidTwice,
    /// Sets cells in a sheet that never existed.
    NoSuchSheet,
}

const ALL: [Attack; 10] = [
    Attack::OccupyNames,
    Attack::WrongKind,
    Attack::NothingUploaded,
    Attack::TextMissing,
    Attack::TextLength,
    Attack::TextBeginning,
    Attack::IndexUnchecked,
    Attack::ExchangedLater,
    Attack::ValidTwice,
    Attack::NoSuchSheet,
];

/// Repeatedly attacks a log with randomly drawn attacks.
pub(super) async fn run_attacker(simulation: Arc<Simulation>, name: &'static str, log: LogId) {
    let member = Member::new(&simulation, name, log);
    for _ in 0..ATTACKS {
        member.think(simulation.shape.habits.think_ms).await;
        let Some(attack) = member.random().pick(&ALL) else { return };
        let (choice, is_deep) =
            (member.random().draw_below(CHOICES), member.random().draw_below(2) == 0);
        let Some(content) = Content::with_text(choice, is_deep) else { return };
        let accepted = run_attack(&member, *attack, choice, &content).await;
        match accepted {
            Some(true) => simulation.world.count(RareEvent::HostileAccepted),
            Some(false) => simulation.world.count(RareEvent::HostileRefused),
            None => {}
        }
        // Read after each attack, so that a process may cache wrong bytes.
        if let Ok((at, _)) = member.read_position_and_new_sheet().await {
            drop(member.cells(at, SheetId(member.random().draw_below(6))).await);
        }
    }
}

/// Runs an attack. Returns whether the attack was accepted, or `None` if it could not be completed.
async fn run_attack(
    member: &Member,
    attack: Attack,
    choice: u32,
    content: &Content,
) -> Option<bool> {
    let client = member.another_client();
    match attack {
        Attack::OccupyNames => {
            upload_garbage(member, client, content).await?;
            // Meanwhile, honest members may have published exactly these objects.
            append_import(member, client, content, true).await
        }
        Attack::WrongKind => use_wrong_kinds(member, client, content).await,
        Attack::NothingUploaded => import_what_was_never_uploaded(member, client, choice).await,
        Attack::TextMissing => {
            let none = text_reference(&format!("never there {choice} ").repeat(400));
            let content = Content::with_references(choice, &[none], !content.index.is_empty())?;
            upload_all(member, client, &content).await;
            append_import(member, client, &content, false).await
        }
        Attack::TextLength | Attack::TextBeginning => {
            import_wrong_reference(member, client, attack, choice, content).await
        }
        Attack::IndexUnchecked => {
            let content = Content::with_text(choice, true)?;
            upload_all(member, client, &content).await;
            append_import(member, client, &content, true).await
        }
        Attack::ExchangedLater => {
            upload_all(member, client, content).await;
            drop(member.check(client, vec![content.tile.chunk], None).await);
            upload_garbage(member, client, content).await?;
            append_import(member, client, content, true).await
        }
        Attack::ValidTwice => {
            let index = content.index.last().map(|index| index.chunk);
            drop(member.check(client, vec![content.tile.chunk], index).await);
            upload_all(member, client, content).await;
            drop(member.check(client, vec![content.tile.chunk], index).await);
            upload_all(member, client, content).await;
            append_import(member, client, content, true).await
        }
        Attack::NoSuchSheet => edit_a_sheet_that_never_existed(member, client).await,
    }
}

async fn import_what_was_never_uploaded(
    member: &Member,
    client: ClientKey,
    choice: u32,
) -> Option<bool> {
    let none = text_reference(&format!("never uploaded {choice} ").repeat(400));
    // No other member imports this content.
    let content = Content::with_references(1_000 + choice, &[none], false)?;
    append_import(member, client, &content, false).await
}

/// Imports a tile that contains a wrong length or a wrong preview of a text.
async fn import_wrong_reference(
    member: &Member,
    client: ClientKey,
    attack: Attack,
    choice: u32,
    content: &Content,
) -> Option<bool> {
    let reference = text_reference(&long_text(choice % TEXTS));
    let reference = match attack {
        Attack::TextLength => NamedText { bytes: reference.bytes + 1, ..reference },
        _ => NamedText { preview: "other".to_owned(), ..reference },
    };
    let mut wrong = Content::with_references(choice, &[reference], !content.index.is_empty())?;
    wrong.texts.clone_from(&content.texts);
    upload_all(member, client, &wrong).await;
    append_import(member, client, &wrong, false).await
}

async fn edit_a_sheet_that_never_existed(member: &Member, client: ClientKey) -> Option<bool> {
    let format = Some("0".into());
    let cell = CellEdit { row: 0, column: 0, value: None, formula: None, format };
    let set = SetCells { sheet: SheetId(900), cells: vec![cell] };
    let (base, _) = member.read_position_and_new_sheet().await.ok()?;
    append_twice(member, client, base, Operation::SetCells(set), false).await
}

/// Uploads all objects in random order, ignoring errors.
async fn upload_all(member: &Member, client: ClientKey, content: &Content) {
    let mut objects: Vec<&PackedObject> = content.objects().collect();
    if member.random().draw_below(2) == 0 {
        objects.reverse();
    }
    for object in objects {
        drop(member.upload(client, object).await);
    }
}

/// Uploads garbage under the name of each object, and requests a check.
async fn upload_garbage(member: &Member, client: ClientKey, content: &Content) -> Option<()> {
    let byte = |_| u8::try_from(member.random().draw_below(256)).unwrap_or(0);
    for object in content.objects() {
        let stored: Vec<u8> = match member.random().draw_below(3) {
            0 => (0..1 + member.random().draw_below(300)).map(byte).collect(),
            // Correctly packed bytes with different content.
            1 => pack(b"something else", Bounds::CHUNK).ok()?.stored,
            _ => object.stored.iter().copied().take(object.stored.len() / 2).chain([0]).collect(),
        };
        let garbage = PackedObject { chunk: object.chunk, stored };
        let length = u32::try_from(garbage.stored.len()).ok()?;
        let chunk = cellar_snapshot::level::ChunkRef { bytes: length, ..garbage.chunk };
        drop(member.upload(client, &PackedObject { chunk, ..garbage }).await);
    }
    let index = content.index.first().map(|index| index.chunk);
    drop(member.check(client, vec![content.tile.chunk], index).await);
    Some(())
}

/// Requests a check with a text in place of a tile, and a tile in place of a tile index.
async fn use_wrong_kinds(member: &Member, client: ClientKey, content: &Content) -> Option<bool> {
    upload_all(member, client, content).await;
    let text = content.texts.first()?.chunk;
    let tiles = member.check(client, vec![text], None).await;
    let index = member.check(client, Vec::new(), Some(content.tile.chunk)).await;
    for read in [tiles, index].into_iter().flatten() {
        member.report_violation("passed a check with an object of the wrong kind", &read);
    }
    let garbage = ChunkHash([7; 32]);
    let tile = PackedObject {
        chunk: cellar_snapshot::level::ChunkRef { hash: garbage, ..text },
        stored: Vec::new(),
    };
    for tile in [content.texts.first()?.clone(), tile] {
        let wrong = Content::with_tile(tile, 1, content.cells.clone(), false)?;
        let client = member.another_client();
        upload_all(member, client, content).await;
        append_import(member, client, &wrong, false).await;
    }
    Some(false)
}

/// Appends the import of a sheet.
async fn append_import(
    member: &Member,
    client: ClientKey,
    content: &Content,
    may_be_accepted: bool,
) -> Option<bool> {
    let (base, sheet) = member.read_position_and_new_sheet().await.ok()?;
    append_twice(member, client, base, content.operation(sheet), may_be_accepted).await
}

/// Appends an operation twice. Reports a violation if the operation is accepted although
/// `may_be_accepted` is false.
async fn append_twice(
    member: &Member,
    client: ClientKey,
    base: Position,
    operation: Operation,
    may_be_accepted: bool,
) -> Option<bool> {
    let request = member.build_request(client, base, operation)?;
    let mut is_accepted = false;
    for _attempt in 1..=2 {
        match member.append(&request).await {
            Ok(appended) => {
                is_accepted = appended.results.iter().any(|result| result.rejection.is_none());
            }
            Err(LogError::Import(_)) => {}
            Err(error) => member.report_violation("got an unexpected error", &error),
        }
    }
    if is_accepted && !may_be_accepted {
        member.report_violation("appended an unreadable import", &base);
    }
    Some(is_accepted)
}
