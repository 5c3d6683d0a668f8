//! Asks a person.

use std::io::{IsTerminal as _, Write as _};

use crate::error::SynthError;

/// Asks on the terminal; without one, or without a yes, `what` is not done.
pub(super) fn confirm(what: &'static str, question: &str) -> Result<(), SynthError> {
    let refused = SynthError::Unconfirmed { what };
    if !std::io::stdin().is_terminal() {
        return Err(refused);
    }
    let _ = write!(std::io::stderr(), "{question} Type yes: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(SynthError::Process)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(refused) }
}
