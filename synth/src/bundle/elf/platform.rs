//! Loaders, libraries and library versions of Amazon Linux 2023. Lambda's runtime `provided.al2023`
//! is based on this system.

use cellar_stacks::Architecture;
use object::elf::{EM_AARCH64, EM_X86_64};

use super::version::Version;

/// Version of GLIBC.
pub(crate) const GLIBC: Version = Version::new(2, 34);
/// GCC version, which determines the libgcc version.
pub(super) const GCC: Version = Version::new(11, 0);
/// Prefix of GLIBC version names.
pub(super) const GLIBC_PREFIX: &str = "GLIBC_";
/// Prefix of libgcc version names.
pub(super) const GCC_PREFIX: &str = "GCC_";

/// File names of the available shared libraries of GLIBC and GCC, except the loader.
pub(super) const AVAILABLE_LIBRARIES: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"];

/// Returns the path of the ELF loader for an architecture.
pub(super) fn loader_path(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "/lib64/ld-linux-x86-64.so.2",
        Architecture::Arm64 => "/lib/ld-linux-aarch64.so.1",
    }
}

/// Returns the ELF machine number of an architecture.
pub(super) fn machine_number(architecture: Architecture) -> u16 {
    match architecture {
        Architecture::X86_64 => EM_X86_64,
        Architecture::Arm64 => EM_AARCH64,
    }
}

/// Returns the processor name for an ELF machine number.
pub(super) fn machine_name(machine: u16) -> String {
    match machine {
        EM_X86_64 => Architecture::X86_64.to_string(),
        EM_AARCH64 => Architecture::Arm64.to_string(),
        other => format!("a processor with the ELF number {other}"),
    }
}

/// Returns the newest available version of the library to which `version` belongs.
pub(super) fn newest_version(version: &str) -> String {
    if version.starts_with(GCC_PREFIX) {
        format!("{GCC_PREFIX}{GCC}")
    } else {
        format!("{GLIBC_PREFIX}{GLIBC}")
    }
}

/// Returns whether Amazon Linux 2023 provides a library version. Versions without a number, such as
/// `GLIBC_PRIVATE`, count as unavailable.
pub(super) fn has_version(version: &str) -> bool {
    if let Some(glibc) = glibc_version(version) {
        return glibc <= GLIBC;
    }
    let gcc = version.strip_prefix(GCC_PREFIX).and_then(Version::parse);
    gcc.is_some_and(|gcc| gcc <= GCC)
}

/// Parses a GLIBC version name such as `GLIBC_2.34`. Returns `None` if the version belongs to
/// another library.
pub(super) fn glibc_version(version: &str) -> Option<Version> {
    version.strip_prefix(GLIBC_PREFIX).and_then(Version::parse)
}
