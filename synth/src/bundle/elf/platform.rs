//! Dynamic loaders, libraries and library versions of Amazon Linux 2023, on which Lambda's runtime
//! `provided.al2023` is based.

use cellar_stacks::Architecture;
use object::elf::{EM_AARCH64, EM_X86_64};

use super::version::Version;

pub(crate) const GLIBC: Version = Version::new(2, 34);
/// Version of GCC, and thus the newest available libgcc version.
pub(super) const GCC: Version = Version::new(11, 0);
pub(super) const GLIBC_PREFIX: &str = "GLIBC_";
pub(super) const GCC_PREFIX: &str = "GCC_";

/// File names of the available shared libraries of GLIBC and GCC, without the dynamic loader.
pub(super) const AVAILABLE_LIBRARIES: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"];

pub(super) fn loader_path(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "/lib64/ld-linux-x86-64.so.2",
        Architecture::Arm64 => "/lib/ld-linux-aarch64.so.1",
    }
}

pub(super) fn machine_number(architecture: Architecture) -> u16 {
    match architecture {
        Architecture::X86_64 => EM_X86_64,
        Architecture::Arm64 => EM_AARCH64,
    }
}

pub(super) fn machine_name(machine: u16) -> String {
    match machine {
        EM_X86_64 => Architecture::X86_64.to_string(),
        EM_AARCH64 => Architecture::Arm64.to_string(),
        other => format!("a processor with the ELF number {other}"),
    }
}

/// `version` is any version name of this library.
pub(super) fn newest_version(version: &str) -> String {
    if version.starts_with(GCC_PREFIX) {
        format!("{GCC_PREFIX}{GCC}")
    } else {
        format!("{GLIBC_PREFIX}{GLIBC}")
    }
}

/// Versions without a number, such as `GLIBC_PRIVATE`, count as unavailable.
pub(super) fn has_version(version: &str) -> bool {
    if let Some(glibc) = glibc_version(version) {
        return glibc <= GLIBC;
    }
    let gcc = version.strip_prefix(GCC_PREFIX).and_then(Version::parse);
    gcc.is_some_and(|gcc| gcc <= GCC)
}

/// Returns `None` if the version belongs to another library.
pub(super) fn glibc_version(version: &str) -> Option<Version> {
    version.strip_prefix(GLIBC_PREFIX).and_then(Version::parse)
}
