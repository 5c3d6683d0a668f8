//! Rules that decide whether Lambda can run a binary.

use cellar_stacks::Architecture;

use super::fault::ElfFault;
use super::platform::{
    AVAILABLE_LIBRARIES, glibc_version, has_version, loader_path, machine_name, machine_number,
};
use super::read::{BinaryHeaders, VersionNeed};
use super::version::Version;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemNeeds {
    /// `None` if the binary is statically linked.
    pub(crate) glibc: Option<Version>,
}

pub(super) fn check_headers(
    headers: &BinaryHeaders,
    architecture: Architecture,
) -> Result<SystemNeeds, ElfFault> {
    if headers.machine != machine_number(architecture) {
        let actual = machine_name(headers.machine);
        return Err(ElfFault::Machine { actual, expected: architecture });
    }
    if !headers.is_program {
        return Err(ElfFault::NotProgram);
    }
    let expected_loader = loader_path(architecture);
    if let Some(loader) = &headers.loader
        && loader != expected_loader
    {
        return Err(ElfFault::Loader { actual: loader.clone() });
    }
    for library in &headers.libraries {
        let is_loader = expected_loader.rsplit('/').next() == Some(library);
        if !is_loader && !AVAILABLE_LIBRARIES.contains(&library.as_str()) {
            return Err(ElfFault::Library { name: library.clone() });
        }
    }
    check_versions(&headers.versions)
}

/// If several GLIBC versions are too new, the error contains the newest of them.
fn check_versions(version_needs: &[VersionNeed]) -> Result<SystemNeeds, ElfFault> {
    let newest_unavailable = version_needs
        .iter()
        .filter(|need| !has_version(&need.version))
        .max_by_key(|need| glibc_version(&need.version));
    if let Some(need) = newest_unavailable {
        return Err(ElfFault::TooNew {
            version: need.version.clone(),
            library: need.library.clone(),
            symbol: need.symbol.clone(),
        });
    }
    let minimum_glibc = version_needs.iter().filter_map(|need| glibc_version(&need.version)).max();
    Ok(SystemNeeds { glibc: minimum_glibc })
}
