//! A binary that Lambda can run, and the bundle made from it.

use cellar_stacks::Architecture;

use super::archive;
use super::elf::{self, SystemNeeds, Version};
use super::error::BundleError;
use super::file::check_size;
use super::limits::MAX_ZIP_BYTES;

/// A binary that functions of an architecture can run.
#[derive(Debug)]
pub(crate) struct CheckedBinary {
    binary: Vec<u8>,
    /// BLAKE3 hash of the binary, hexadecimal.
    hash: String,
    architecture: Architecture,
    needs: SystemNeeds,
}

/// A bundle that can be uploaded.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// Name of the file, and of the object in the artifact bucket. Bundles with the same name contain the same
    /// binary.
    pub(crate) name: String,
    /// Architecture of the functions.
    pub(crate) architecture: Architecture,
    /// BLAKE3 hash of the binary, hexadecimal.
    pub(crate) hash: String,
    /// Size of the binary in bytes.
    pub(crate) binary_bytes: usize,
    /// Lowest GLIBC version that can run the binary; `None` if it is linked statically.
    pub(crate) glibc: Option<Version>,
    /// Content of the zip file.
    pub(crate) zip: Vec<u8>,
}

impl CheckedBinary {
    /// Checks that functions of an architecture can run a binary. `name` names the binary in errors.
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

    /// Returns the name of the bundle. If an object with this name exists, the bundle need not be packed.
    pub(crate) fn bundle_name(&self) -> String {
        archive::name(&self.hash, self.architecture)
    }

    /// Packs the binary.
    pub(super) fn pack(self) -> Result<Bundle, BundleError> {
        let zip = archive::pack(&self.binary).map_err(BundleError::Pack)?;
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
