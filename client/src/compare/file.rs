//! Reads a workbook file in a thread of its own.

use std::path::PathBuf;

use cellar_exchange::ImportStep;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::CompareError;
use crate::import::{FileFormat, ImportError, ReadOptions, SheetReader, detect_format};

/// Number of steps that wait for the comparison.
const STEP_QUEUE_LENGTH: usize = 1;

/// Steps of the import of a file.
pub(super) struct FileSteps(Receiver<Result<ImportStep, ImportError>>);

impl FileSteps {
    /// Must be called in a runtime.
    pub(super) fn start(path: PathBuf, options: ReadOptions) -> Result<Self, CompareError> {
        if detect_format(&path)? != FileFormat::Workbook {
            return Err(CompareError::NotAWorkbook { path });
        }
        let (sender, receiver) = channel(STEP_QUEUE_LENGTH);
        tokio::task::spawn_blocking(move || {
            let result = SheetReader::open(&path, &options, None)
                .and_then(|reader| send_steps(reader, &sender));
            if let Err(error) = result {
                // A closed channel has no reader who could use the error.
                let _ = sender.blocking_send(Err(error));
            }
        });
        Ok(Self(receiver))
    }

    /// Returns `None` at the end of the file.
    pub(super) async fn next(&mut self) -> Result<Option<ImportStep>, CompareError> {
        Ok(self.0.recv().await.transpose()?)
    }
}

/// Ends early if the receiver is dropped.
fn send_steps(
    mut reader: SheetReader,
    sender: &Sender<Result<ImportStep, ImportError>>,
) -> Result<(), ImportError> {
    while let Some(step) = reader.next_step()? {
        if sender.blocking_send(Ok(step)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
