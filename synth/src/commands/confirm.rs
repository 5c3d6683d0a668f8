//! Asks a person.

use std::io::{IsTerminal as _, Write as _};

use crate::error::SynthError;

/// Asks on the terminal; without one, or without a yes, `what` is not done.
pub(super) async fn confirm(what: &'static str, question: &str) -> Result<(), SynthError> {
    let refused = SynthError::Unconfirmed { what };
    if !std::io::stdin().is_terminal() {
        return Err(refused);
    }
    let _ = write!(std::io::stderr(), "{question} Type yes: ");
    // Beside everything else, so that Ctrl-C is heard.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.map_err(|error| SynthError::Process(std::io::Error::other(error)))?;
    if answer.map_err(SynthError::Process)?.trim() == "yes" { Ok(()) } else { Err(refused) }
}
