//! The bytes of events and unfolds, compressed where that makes them fewer.

use std::borrow::Cow;

use cellar_base::limits::MAX_STREAM_PAYLOAD_BYTES;
use cellar_base::zstd_frames::{compress, decompress};

const PLAIN: u64 = 0;
const ZSTD: u64 = 1;

/// Bytes as they are stored, and how (attributes `d` and `D`, `m` and `M`). The number of an encoding
/// that this build does not know is kept: an unfold with one is passed over, an event is an error where
/// it is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// 0: as they are; 1: one frame of zstd.
    pub encoding: u64,
    /// The stored bytes.
    pub stored: Vec<u8>,
}

/// Bytes that cannot be stored or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// More bytes than there may be, packed or unpacked.
    #[error("the data of an event or unfold has at most {MAX_STREAM_PAYLOAD_BYTES} bytes")]
    TooLong,
    /// An encoding of a later Cellar.
    #[error("encoding {number} is unknown to this build: upgrade it")]
    UnknownEncoding {
        /// Its number.
        number: u64,
    },
    /// Bytes that do not unpack to at most so many as there may be.
    #[error("the data does not unpack")]
    Malformed,
}

impl Payload {
    /// Bytes to be stored: compressed if that makes them fewer.
    ///
    /// # Errors
    /// [`PayloadError::TooLong`].
    pub fn pack(bytes: Vec<u8>) -> Result<Self, PayloadError> {
        if bytes.len() > MAX_STREAM_PAYLOAD_BYTES {
            return Err(PayloadError::TooLong);
        }
        match compress(&[&bytes]) {
            Ok(frame) if frame.len() < bytes.len() => Ok(Self { encoding: ZSTD, stored: frame }),
            _ => Ok(Self { encoding: PLAIN, stored: bytes }),
        }
    }

    /// The bytes that were packed. A frame that would become more than any payload is refused before it
    /// takes memory.
    ///
    /// # Errors
    /// [`PayloadError`] for any other bytes and encodings.
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
    fn bytes_come_back_and_are_compressed_where_it_helps() {
        for (bytes, encoding) in [(vec![], PLAIN), (vec![1, 2, 3], PLAIN), (vec![7; 500], ZSTD)] {
            let payload = Payload::pack(bytes.clone()).unwrap();
            assert_eq!((payload.encoding, payload.unpack().unwrap().as_ref()), (encoding, &*bytes));
            assert!(payload.stored.len() <= bytes.len());
        }
    }

    #[test]
    fn payloads_are_bounded_packed_and_unpacked() {
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
    fn what_is_no_payload_is_an_error() {
        for stored in [vec![], vec![1, 2, 3], vec![0x28, 0xb5, 0x2f, 0xfd, 0]] {
            let payload = Payload { encoding: ZSTD, stored };
            assert_eq!(payload.unpack(), Err(PayloadError::Malformed));
        }
        let later = Payload { encoding: 2, stored: vec![] };
        assert_eq!(later.unpack(), Err(PayloadError::UnknownEncoding { number: 2 }));
    }
}
