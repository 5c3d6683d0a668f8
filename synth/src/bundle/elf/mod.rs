//! Whether Lambda can run a binary: for which processor it is, what it is linked with, and which GLIBC
//! it needs. A function whose binary the system cannot load says no more than "exit status 1".

mod fault;
#[cfg(test)]
pub(super) mod fixture;
mod read;
mod rules;
#[cfg(test)]
mod tests;
mod unwind;
mod version;

use cellar_stacks::Architecture;

pub(crate) use fault::{ElfFault, Needs};
pub(crate) use rules::GLIBC;
pub(super) use unwind::without_tables;
pub(crate) use version::Version;

/// What a binary needs of the system, if functions of that architecture can run it.
pub(super) fn check(binary: &[u8], architecture: Architecture) -> Result<Needs, ElfFault> {
    rules::check(&read::read(binary)?, architecture)
}
