//! The bundle: the one binary that all functions run, zipped for Lambda.
//!
//! It is built here or elsewhere, checked, and packed so that the same binary is the same file on every
//! machine, under a name that says which binary it is.

mod archive;
mod build;
mod elf;
mod error;
mod file;
mod host;
mod limits;

use std::path::Path;

use cellar_stacks::Architecture;

use crate::cli::Output;
use crate::error::SynthError;

use build::Builder;
use elf::Needs;
pub(crate) use elf::{GLIBC, Version};
pub(crate) use error::BundleError;
pub(crate) use host::Host;
use limits::MAX_ZIP_BYTES;

/// A binary that functions of an architecture can run.
#[derive(Debug)]
pub(crate) struct Fit {
    binary: Vec<u8>,
    hash: String,
    architecture: Architecture,
    needs: Needs,
}

/// A bundle, ready to be uploaded.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// Its file's name, and its key in the bucket of artifacts: two bundles of one name hold the same
    /// binary.
    pub(crate) name: String,
    /// The functions that can run it.
    pub(crate) architecture: Architecture,
    /// BLAKE3 of the binary, in hexadecimal.
    pub(crate) hash: String,
    /// Bytes of the binary.
    pub(crate) binary_bytes: usize,
    /// The least GLIBC that it needs; `None` if it is linked statically.
    pub(crate) glibc: Option<Version>,
    /// The zip.
    pub(crate) zip: Vec<u8>,
}

impl Fit {
    /// The binary in a file that was built elsewhere, or a new one.
    pub(crate) fn make(
        built_elsewhere: Option<&Path>,
        architecture: Architecture,
        output: &Output,
    ) -> Result<Self, BundleError> {
        let Some(path) = built_elsewhere else {
            return Builder::new(output).build(architecture);
        };
        Self::check(file::read_bundle(path)?, path.display().to_string(), architecture)
    }

    /// Checks a binary; `what` is it called in errors.
    fn check(
        binary: Vec<u8>,
        what: String,
        architecture: Architecture,
    ) -> Result<Self, BundleError> {
        match elf::check(&binary, architecture) {
            Ok(needs) => {
                let hash = blake3::hash(&binary).to_hex().to_string();
                Ok(Self { binary, hash, architecture, needs })
            }
            Err(fault) => Err(BundleError::unfit(what, fault, architecture)),
        }
    }

    /// The name that its bundle has, which need not be packed where one of that name is already.
    pub(crate) fn name(&self) -> String {
        archive::name(&self.hash, self.architecture)
    }

    /// Packs it, as a step that is told.
    pub(crate) fn pack_as_step(self, output: &Output) -> Result<Bundle, SynthError> {
        let step = output.step("Pack the bundle");
        let packed = self.pack().map_err(SynthError::from);
        step.ended(packed, |bundle| format!("{} bytes", bundle.zip.len()))
    }

    /// Packs it.
    fn pack(self) -> Result<Bundle, BundleError> {
        let zip = archive::pack(&self.binary).map_err(BundleError::Pack)?;
        file::check_size("zip", zip.len(), MAX_ZIP_BYTES)?;
        Ok(Bundle {
            name: self.name(),
            architecture: self.architecture,
            hash: self.hash,
            binary_bytes: self.binary.len(),
            glibc: self.needs.glibc,
            zip,
        })
    }
}

/// The bundle for functions of that architecture, packed; says what it does.
pub(crate) fn make(
    built_elsewhere: Option<&Path>,
    architecture: Architecture,
    output: &Output,
) -> Result<Bundle, SynthError> {
    Fit::make(built_elsewhere, architecture, output)?.pack_as_step(output)
}
