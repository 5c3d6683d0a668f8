//! Reads cells from snapshots itself: a spreadsheet of any size opens with its
//! root and the entries behind it, and only the chunks of the cells that are asked for are loaded.
//!
//! What was loaded stays on disk, by its hash, so that nothing is loaded twice ([`ChunkCache`]). The
//! server decides who may read: every [`Reader::open`] asks it first.
//!
//! The rules are core's, and the same as the server's own: `snapshot::fold` for the entries,
//! `snapshot::view` for the window, `snapshot::cells` for what a person sees. Here is what needs a
//! network and a disk: `opened` opens, `window` reads band by band, `objects` loads what is missing,
//! `cache` keeps it.

mod cache;
mod error;
mod objects;
mod opened;
mod window;

pub use cache::ChunkCache;
pub use error::ReaderError;

use std::sync::Arc;

use cellar_api::{wire::CellsReply, wire::ProblemKind, wire::ReplyFormats};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_BEGINNINGS;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;

use crate::Client;
pub(crate) use objects::Source;
pub(crate) use opened::{Loaded, Opened, Tail};

/// A spreadsheet at its newest position when it was opened.
///
/// It stays at that position as long as the snapshot that it reads is there. If an object of it is gone
/// because a newer snapshot replaced it, the reader goes on at the newest position.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    opened: Opened,
}

impl Reader {
    /// Opens a spreadsheet, never older than `seen`. Without a cache, everything that is needed is
    /// loaded each time.
    ///
    /// # Errors
    /// [`ReaderError`].
    pub async fn open(
        client: Client,
        spreadsheet: LogId,
        seen: Option<Position>,
        cache: Option<Arc<ChunkCache>>,
    ) -> Result<Self, ReaderError> {
        let source = Source::new(client, spreadsheet, cache);
        let opened = Opened::open(&source, seen).await?;
        Ok(Self { source, opened })
    }

    /// The position at which it reads.
    #[must_use]
    pub fn position(&self) -> Position {
        self.opened.position
    }

    /// The incarnation there.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.opened.incarnation
    }

    /// The cells of a rectangle, exactly as `GET …/cells` gives them, in one piece: of a sheet by its
    /// name, whatever the case of its letters, or of the first.
    ///
    /// # Errors
    /// [`ReaderError`]; a problem of the kind `SheetNotFound` if the sheet does not exist.
    pub async fn cells(
        &mut self,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, ReaderError> {
        for _ in 1..MAX_READ_BEGINNINGS {
            match self.opened.reply(&self.source, sheet, rectangle).await {
                Err(error) if error.object().is_some() => {
                    if !self.go_on_at_newest().await? {
                        return Err(error);
                    }
                }
                read => return read,
            }
        }
        self.opened.reply(&self.source, sheet, rectangle).await
    }

    /// Opens the newest snapshot, if it is another one.
    async fn go_on_at_newest(&mut self) -> Result<bool, ReaderError> {
        let newest = Opened::open(&self.source, Some(self.opened.position)).await?;
        if newest.root == self.opened.root {
            return Ok(false);
        }
        self.opened = newest;
        Ok(true)
    }
}

impl Opened {
    /// The cells of a rectangle of a sheet by its name, or of the first.
    pub(crate) async fn reply(
        &mut self,
        source: &Source,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, ReaderError> {
        let tabs = &self.metadata.tabs;
        let id: Option<SheetId> = match sheet {
            None => tabs.order().first().copied(),
            Some(name) => tabs.named(name),
        };
        let found = id.and_then(|id| Some((id, tabs.name(id)?, self.metadata.sheets.get(&id)?)));
        let (id, name, own) = found.ok_or_else(|| {
            let why = format!("sheet `{}` does not exist", sheet.unwrap_or_default());
            ReaderError::refused(ProblemKind::SheetNotFound, why)
        })?;
        let (name, extent) = (name.to_owned(), own.extent);
        let formats = ReplyFormats::newest_of(own.formats.in_rectangle(rectangle));
        let cells = self.cells(source, id, rectangle).await?;
        Ok(CellsReply {
            sheet: id,
            name,
            position: self.position,
            incarnation: self.incarnation,
            extent,
            formats: formats.newest,
            formats_truncated: formats.truncated,
            cells,
            next: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_send(_: impl Send) {}

    #[test]
    fn a_task_of_its_own_may_read() {
        let client = Client::new("http://127.0.0.1:1", None).unwrap();
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([1; 16]));
        is_send(async move {
            let mut reader = Reader::open(client, log, None, None).await?;
            reader.cells(None, Rectangle::EVERYTHING).await
        });
    }
}
