//! What Amazon Linux 2023 has, the system that Lambda's `provided.al2023` is.

use cellar_stacks::Architecture;
use object::elf::{EM_AARCH64, EM_X86_64};

use super::fault::{ElfFault, Needs};
use super::read::{Linked, VersionNeed};
use super::version::Version;

/// The GLIBC that it has.
pub(crate) const GLIBC: Version = Version::new(2, 34);
/// The GCC whose libgcc it has.
const GCC: Version = Version::new(11, 0);
/// Libraries that it has, those of GLIBC and GCC; the loader is one more.
const LIBRARIES: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"];

const GLIBC_PREFIX: &str = "GLIBC_";
const GCC_PREFIX: &str = "GCC_";

/// The path of the loader that starts programs.
pub(super) fn loader(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "/lib64/ld-linux-x86-64.so.2",
        Architecture::Arm64 => "/lib/ld-linux-aarch64.so.1",
    }
}

fn machine(architecture: Architecture) -> u16 {
    match architecture {
        Architecture::X86_64 => EM_X86_64,
        Architecture::Arm64 => EM_AARCH64,
    }
}

/// The newest version that there is of what `version` is a version of.
pub(super) fn newest(version: &str) -> String {
    match version.starts_with(GCC_PREFIX) {
        true => format!("{GCC_PREFIX}{GCC}"),
        false => format!("{GLIBC_PREFIX}{GLIBC}"),
    }
}

/// What a binary needs, if Lambda has it.
pub(super) fn check(linked: &Linked, architecture: Architecture) -> Result<Needs, ElfFault> {
    if linked.machine != machine(architecture) {
        let found = machine_name(linked.machine);
        return Err(ElfFault::Machine { found, wanted: architecture });
    }
    if !linked.is_program {
        return Err(ElfFault::NotProgram);
    }
    let loader = loader(architecture);
    if let Some(found) = linked.loader.as_ref().filter(|found| *found != loader) {
        return Err(ElfFault::Loader { found: found.clone() });
    }
    for name in &linked.libraries {
        let is_loader = loader.rsplit('/').next() == Some(name);
        if !is_loader && !LIBRARIES.contains(&name.as_str()) {
            return Err(ElfFault::Library { name: name.clone() });
        }
    }
    check_versions(&linked.versions)
}

/// The least GLIBC; of what is too new, the newest.
fn check_versions(needs: &[VersionNeed]) -> Result<Needs, ElfFault> {
    let too_new = needs.iter().filter(|need| !is_there(&need.version));
    if let Some(need) = too_new.max_by_key(|need| glibc(&need.version)) {
        return Err(ElfFault::TooNew {
            version: need.version.clone(),
            library: need.library.clone(),
            symbol: need.symbol.clone(),
        });
    }
    Ok(Needs { glibc: needs.iter().filter_map(|need| glibc(&need.version)).max() })
}

fn glibc(version: &str) -> Option<Version> {
    version.strip_prefix(GLIBC_PREFIX).and_then(Version::parse)
}

/// Whether there is such a version. Those without a number are private, or newer than any rule here.
fn is_there(version: &str) -> bool {
    let gcc = || version.strip_prefix(GCC_PREFIX).and_then(Version::parse);
    glibc(version).is_some_and(|version| version <= GLIBC)
        || gcc().is_some_and(|version| version <= GCC)
}

fn machine_name(machine: u16) -> String {
    match machine {
        EM_X86_64 => Architecture::X86_64.to_string(),
        EM_AARCH64 => Architecture::Arm64.to_string(),
        other => format!("a processor of number {other}"),
    }
}
