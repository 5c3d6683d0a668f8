//! Checks that Lambda can run a binary: its processor, its libraries and its GLIBC version. Without
//! this check, a function that cannot load the binary would report only "exit status 1".

mod fault;
#[cfg(test)]
pub(super) mod fixture;
mod platform;
mod read;
mod rules;
#[cfg(test)]
mod tests;
mod unwind;
mod version;

use cellar_stacks::Architecture;

pub(crate) use fault::ElfFault;
pub(crate) use platform::GLIBC;
pub(super) use rules::SystemNeeds;
pub(super) use unwind::blank_unwind_tables;
pub(crate) use version::Version;

/// Checks a binary and returns its system requirements.
///
/// # Errors
/// Returns [`ElfFault`] if Lambda cannot run the binary with the given architecture.
pub(super) fn check(binary: &[u8], architecture: Architecture) -> Result<SystemNeeds, ElfFault> {
    rules::check_headers(&read::read_headers(binary)?, architecture)
}
