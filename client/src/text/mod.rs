//! Escapes untrusted text before it is printed to a terminal.

mod escape;
#[cfg(feature = "cli")]
mod json;
#[cfg(feature = "cli")]
mod shell;

pub use escape::escape;
pub(crate) use escape::escape_shortened;
#[cfg(feature = "cli")]
pub use json::to_json;
#[cfg(feature = "cli")]
pub(crate) use shell::shell_quoted;
