//! Confirmation prompts.

use std::io::{IsTerminal as _, Write as _};

use crate::error::SynthError;

/// Only the answer `yes` confirms.
///
/// # Errors
///
/// Returns [`SynthError::Unconfirmed`] if stdin is not a terminal or if the answer is not `yes`.
pub(super) async fn confirm(action: &'static str, question: &str) -> Result<(), SynthError> {
    if !std::io::stdin().is_terminal() {
        return Err(SynthError::Unconfirmed { action });
    }
    let _ = write!(std::io::stderr(), "{question} Type yes: ");
    // Read the answer on another thread, so that Ctrl-C is handled while the user decides.
    let answer_reader = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(answer)
    });
    let answer = answer_reader
        .await
        .map_err(|error| SynthError::Process(std::io::Error::other(error)))?
        .map_err(SynthError::Process)?;
    if answer.trim() != "yes" {
        return Err(SynthError::Unconfirmed { action });
    }
    Ok(())
}
