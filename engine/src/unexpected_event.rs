//! Logs bugs of Cellar that state machines report.

use cellar_base::unexpected_event::UnexpectedEvent;

/// Drivers log the fault themselves, because not every caller of a driver logs its error.
pub(crate) fn log_unexpected(fault: &UnexpectedEvent) {
    let UnexpectedEvent { machine, phase, event } = fault;
    tracing::error!(machine, phase, event, "a state machine received an event that does not fit");
}
