//! Escapes untrusted text before it is printed to a terminal.

mod escape;
#[cfg(feature = "cli")]
mod json;

pub use escape::escape;
#[cfg(feature = "cli")]
pub use json::to_json;
