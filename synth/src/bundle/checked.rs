//! Lambda binaries that have passed all checks, and the bundles built from them.

use cellar_stacks::Architecture;

use super::archive;
use super::elf::{self, SystemNeeds, Version};
use super::error::BundleError;
use super::file::check_size;
use super::limits::MAX_ZIP_BYTES;

/// A binary that has passed the check that it runs on Lambda with the given architecture.
#[derive(Debug)]
pub(crate) struct CheckedBinary {
    binary: Vec<u8>,
    /// BLAKE3 hash of the binary, in hexadecimal.
    hash: String,
    architecture: Architecture,
    needs: SystemNeeds,
}

#[derive(Debug)]
pub(crate) struct Bundle {
    /// File name of the bundle, which is also its key in the artifact bucket. Bundles with the same
    /// name contain the same binary.
    pub(crate) name: String,
    pub(crate) architecture: Architecture,
    pub(crate) hash: String,
    pub(crate) binary_bytes: usize,
    /// `None` if the binary is statically linked.
    pub(crate) glibc: Option<Version>,
    pub(crate) zip: Vec<u8>,
}

impl CheckedBinary {
    pub(super) fn check(
        binary: Vec<u8>,
        name: String,
        architecture: Architecture,
    ) -> Result<Self, BundleError> {
        match elf::check(&binary, architecture) {
            Ok(needs) => {
                let hash = blake3::hash(&binary).to_hex().to_string();
                Ok(Self { binary, hash, architecture, needs })
            }
            Err(fault) => Err(BundleError::unfit(name, fault, architecture)),
        }
    }

    /// The name can be computed before packing, so that an existing bundle can be reused.
    pub(crate) fn bundle_name(&self) -> String {
        archive::bundle_file_name(&self.hash, self.architecture)
    }

    pub(super) fn pack(self) -> Result<Bundle, BundleError> {
        let zip = archive::pack_binary(&self.binary).map_err(BundleError::Pack)?;
        check_size("zip", zip.len(), MAX_ZIP_BYTES)?;
        Ok(Bundle {
            name: self.bundle_name(),
            architecture: self.architecture,
            hash: self.hash,
            binary_bytes: self.binary.len(),
            glibc: self.needs.glibc,
            zip,
        })
    }
}
