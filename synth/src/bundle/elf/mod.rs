//! Checks that Lambda can run a binary: processor, libraries and GLIBC version. Otherwise, a
//! function whose binary fails to load would report nothing but "exit status 1".

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
/// Returns [`ElfFault`] if Lambda cannot run the binary on the given architecture.
pub(super) fn check(binary: &[u8], architecture: Architecture) -> Result<SystemNeeds, ElfFault> {
    rules::check_headers(&read::read_headers(binary)?, architecture)
}
