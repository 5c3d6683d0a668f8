//! Parses a file on a thread of its own, while another thread packs the cells.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use cellar_exchange::ImportStep;
use cellar_snapshot::merge::SheetWriter;

use super::progress::ProgressMonitor;
use crate::import::ImportError;
use crate::import::file::{Findings, SheetReader};

/// Number of blocks that are requested before the first of them has been packed.
const BLOCKS_AHEAD: usize = 2;

pub(super) enum ParserMessage {
    Step(ImportStep),
    /// Not sent if reading fails.
    EndOfFile,
}

/// The parser's end of a connection to the packing thread.
pub(super) struct Parser {
    /// Each request is the number of cells of a block.
    requests: Receiver<usize>,
    messages: SyncSender<ParserMessage>,
}

/// The packing thread's end of the connection. When it is dropped, the parser stops.
pub(super) struct ParsedFile {
    requests: Sender<usize>,
    messages: Receiver<ParserMessage>,
}

/// Connects the threads, and requests the first blocks.
pub(super) fn connect() -> (Parser, ParsedFile) {
    let (request_sender, request_receiver) = channel();
    let (message_sender, message_receiver) = sync_channel(BLOCKS_AHEAD);
    let parsed_file = ParsedFile { requests: request_sender, messages: message_receiver };
    for _ in 0..BLOCKS_AHEAD {
        parsed_file.request_block(SheetWriter::default().next_block_cells());
    }
    (Parser { requests: request_receiver, messages: message_sender }, parsed_file)
}

impl ParsedFile {
    /// Returns `None` if the file cannot be read.
    pub(super) fn next_message(&self) -> Option<ParserMessage> {
        self.messages.recv().ok()
    }

    /// Must be called once for each block that has been packed. The sizes of blocks then depend only
    /// on the file, so that a file is packed into the same chunks each time.
    pub(super) fn request_block(&self, cells: usize) {
        // Ignore the error that occurs if the file has no more blocks.
        let _ = self.requests.send(cells);
    }
}

impl Parser {
    /// Stops early if the other end of the connection is dropped.
    pub(super) fn parse(
        &self,
        mut file: SheetReader,
        progress: &ProgressMonitor,
    ) -> Result<Findings, ImportError> {
        for block_cells in &self.requests {
            file.set_block_cells(block_cells);
            if !self.send_block(&mut file, progress)? {
                break;
            }
        }
        Ok(file.findings())
    }

    /// Sends all steps up to the next block. Returns `false` if no block is left, or if the other
    /// end of the connection has been dropped.
    fn send_block(
        &self,
        file: &mut SheetReader,
        progress: &ProgressMonitor,
    ) -> Result<bool, ImportError> {
        loop {
            let step = file.next_step()?;
            progress.set_read(file.progress());
            let is_end = step.is_none();
            let is_block = matches!(step, Some(ImportStep::Block(_)));
            let message = step.map_or(ParserMessage::EndOfFile, ParserMessage::Step);
            let is_receiver_dropped = self.messages.send(message).is_err();
            if is_receiver_dropped || is_end {
                return Ok(false);
            }
            if is_block {
                return Ok(true);
            }
        }
    }
}
