//! The checksums of S3, under the interface by which the AWS SDK and `s3s` ask the crate `crc-fast` for
//! them.
//!
//! That crate has tables of 50 checksums, for processors without an instruction for them, and any of them
//! may be asked for at run time: 700 KB that no compressor makes smaller, a sixth of the bundle. S3 has
//! three of them, and Cellar's own objects carry a SHA-256 instead. They are computed by `crc` here, more
//! slowly.
//!
//! If the SDK wants a newer `crc-fast` one day, cargo says that this one is not used, and the test of the
//! bundle's size fails.

use crc::{CRC_32_ISCSI, CRC_32_ISO_HDLC, CRC_64_NVME, Crc};

static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
static CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
static CRC64: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);

/// A checksum that S3 has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-32.
    Crc32IsoHdlc,
    /// CRC-32C.
    Crc32Iscsi,
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// A checksum of bytes that come one after the other.
#[derive(Clone)]
pub struct Digest(State);

#[derive(Clone)]
enum State {
    Crc32(crc::Digest<'static, u32>),
    Crc64(crc::Digest<'static, u64>),
}

impl Digest {
    /// Of no bytes yet.
    #[must_use]
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        Self(match algorithm {
            CrcAlgorithm::Crc32IsoHdlc => State::Crc32(CRC32.digest()),
            CrcAlgorithm::Crc32Iscsi => State::Crc32(CRC32C.digest()),
            CrcAlgorithm::Crc64Nvme => State::Crc64(CRC64.digest()),
        })
    }

    /// Goes on with these bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Crc32(digest) => digest.update(bytes),
            State::Crc64(digest) => digest.update(bytes),
        }
    }

    /// The checksum so far, in the lowest bits.
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

/// The checksum of these bytes, in the lowest bits.
#[must_use]
pub fn checksum(algorithm: CrcAlgorithm, bytes: &[u8]) -> u64 {
    let mut digest = Digest::new(algorithm);
    digest.update(bytes);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the catalogue of checksums gives for `123456789`.
    #[test]
    fn checksums_are_those_of_the_catalogue() {
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
