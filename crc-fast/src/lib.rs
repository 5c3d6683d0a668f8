//! The CRC checksums that S3 supports. This crate replaces the crate `crc-fast` and provides the
//! part of its API that the AWS SDK and `s3s` use.
//!
//! The original crate supports about 50 checksums, whose lookup tables take up 700 KB, a sixth of
//! the Lambda bundle. S3 uses only three of them, and Cellar's own objects use SHA-256 instead.
//! This crate computes the three checksums with the slower crate `crc`.
//!
//! If an update of the SDK requires a newer `crc-fast`, Cargo warns that this patch is unused, and
//! the test of the bundle size fails.

use crc::{CRC_32_ISCSI, CRC_32_ISO_HDLC, CRC_64_NVME, Crc};

static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
static CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
static CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);

/// A CRC algorithm that S3 supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-32.
    Crc32IsoHdlc,
    /// CRC-32C.
    Crc32Iscsi,
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// An incremental checksum computation.
#[derive(Clone)]
pub struct Digest(State);

#[derive(Clone)]
enum State {
    Crc32(crc::Digest<'static, u32>),
    Crc64(crc::Digest<'static, u64>),
}

impl Digest {
    /// Starts the computation of a checksum.
    #[must_use]
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        Self(match algorithm {
            CrcAlgorithm::Crc32IsoHdlc => State::Crc32(CRC32.digest()),
            CrcAlgorithm::Crc32Iscsi => State::Crc32(CRC32C.digest()),
            CrcAlgorithm::Crc64Nvme => State::Crc64(CRC64.digest()),
        })
    }

    /// Appends `bytes` to the input.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Crc32(digest) => digest.update(bytes),
            State::Crc64(digest) => digest.update(bytes),
        }
    }

    /// Returns the checksum of the bytes so far. A 32-bit checksum is in the low bits.
    #[must_use]
    pub fn finalize(&self) -> u64 {
        match &self.0 {
            State::Crc32(digest) => digest.clone().finalize().into(),
            State::Crc64(digest) => digest.clone().finalize(),
        }
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Digest").field(&self.finalize()).finish()
    }
}

/// Returns the checksum of `bytes`. A 32-bit checksum is in the low bits.
#[must_use]
pub fn checksum(algorithm: CrcAlgorithm, bytes: &[u8]) -> u64 {
    let mut digest = Digest::new(algorithm);
    digest.update(bytes);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksums of `123456789` that the CRC catalogue lists.
    #[test]
    fn checksums_match_the_catalogue() {
        for (algorithm, expected) in [
            (CrcAlgorithm::Crc32IsoHdlc, 0xcbf4_3926),
            (CrcAlgorithm::Crc32Iscsi, 0xe306_9283),
            (CrcAlgorithm::Crc64Nvme, 0xae8b_1486_0a79_9888),
        ] {
            assert_eq!(checksum(algorithm, b"123456789"), expected, "{algorithm:?}");
            let mut digest = Digest::new(algorithm);
            digest.update(b"1234");
            assert_ne!(digest.finalize(), expected);
            digest.update(b"");
            digest.update(b"56789");
            assert_eq!(digest.finalize(), expected, "{algorithm:?}");
        }
    }
}
