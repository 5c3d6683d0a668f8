//! Data of events and cached states, which is compressed if that makes it smaller.

use std::borrow::Cow;

use cellar_base::limits::MAX_STREAM_PAYLOAD_BYTES;
use cellar_base::zstd_frames::{compress, decompress};

/// Stored number of the encoding for uncompressed data.
const PLAIN: u64 = 0;
/// Stored number of the encoding for a single zstd frame.
const ZSTD: u64 = 1;

/// Encoded data of an event or a cached state. If the encoding is unknown, the data is preserved
/// but cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// Number of the encoding: 0 for uncompressed data, 1 for a single zstd frame.
    pub encoding: u64,
    /// Bytes in this encoding.
    pub stored: Vec<u8>,
}

/// The reason why data cannot be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// The uncompressed data is too large.
    #[error("the data of an event or unfold must have at most {MAX_STREAM_PAYLOAD_BYTES} bytes")]
    TooLong,
    /// The encoding is unknown because a later version of Cellar wrote the data.
    #[error("encoding {number} is unknown to this build; upgrade Cellar")]
    UnknownEncoding {
        /// Number of the encoding.
        number: u64,
    },
    /// The data cannot be decompressed or exceeds the size limit.
    #[error("the data cannot be decompressed")]
    Malformed,
}

impl Payload {
    /// Encodes data, compressed if that makes it smaller.
    ///
    /// # Errors
    /// Returns [`PayloadError::TooLong`] if the uncompressed data is too large.
    pub fn pack(bytes: Vec<u8>) -> Result<Self, PayloadError> {
        if bytes.len() > MAX_STREAM_PAYLOAD_BYTES {
            return Err(PayloadError::TooLong);
        }
        match compress(&[&bytes]) {
            Ok(frame) if frame.len() < bytes.len() => Ok(Self { encoding: ZSTD, stored: frame }),
            _ => Ok(Self { encoding: PLAIN, stored: bytes }),
        }
    }

    /// Decodes the data. If it would be too large, no memory is allocated.
    ///
    /// # Errors
    /// Returns a [`PayloadError`] if the data is too large, is malformed or has an unknown encoding.
    pub fn unpack(&self) -> Result<Cow<'_, [u8]>, PayloadError> {
        match self.encoding {
            PLAIN if self.stored.len() > MAX_STREAM_PAYLOAD_BYTES => Err(PayloadError::TooLong),
            PLAIN => Ok(Cow::Borrowed(&self.stored)),
            ZSTD => decompress(&self.stored, MAX_STREAM_PAYLOAD_BYTES)
                .map(Cow::Owned)
                .ok_or(PayloadError::Malformed),
            number => Err(PayloadError::UnknownEncoding { number }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_round_trip_and_are_compressed_if_that_is_smaller() {
        for (bytes, encoding) in [(vec![], PLAIN), (vec![1, 2, 3], PLAIN), (vec![7; 500], ZSTD)] {
            let payload = Payload::pack(bytes.clone()).unwrap();
            assert_eq!((payload.encoding, payload.unpack().unwrap().as_ref()), (encoding, &*bytes));
            assert!(payload.stored.len() <= bytes.len());
        }
    }

    #[test]
    fn limits_the_size_of_payloads() {
        let most = vec![7; MAX_STREAM_PAYLOAD_BYTES];
        assert_eq!(Payload::pack(most.clone()).unwrap().unpack().unwrap().len(), most.len());
        let bomb = vec![7; MAX_STREAM_PAYLOAD_BYTES + 1];
        assert_eq!(Payload::pack(bomb.clone()), Err(PayloadError::TooLong));
        let frame = Payload { encoding: ZSTD, stored: compress(&[&bomb]).unwrap() };
        assert_eq!(frame.unpack(), Err(PayloadError::Malformed));
        let plain = Payload { encoding: PLAIN, stored: bomb };
        assert_eq!(plain.unpack(), Err(PayloadError::TooLong));
    }

    #[test]
    fn rejects_invalid_payloads() {
        for stored in [vec![], vec![1, 2, 3], vec![0x28, 0xb5, 0x2f, 0xfd, 0]] {
            let payload = Payload { encoding: ZSTD, stored };
            assert_eq!(payload.unpack(), Err(PayloadError::Malformed));
        }
        let later = Payload { encoding: 2, stored: vec![] };
        assert_eq!(later.unpack(), Err(PayloadError::UnknownEncoding { number: 2 }));
    }
}
