//! Headers as stored: postcard without the zeros at its end, of which most headers have three.
//!
//! Every entry carries one, so that each byte counts: a load of a thousand edits reads them all.

use super::{BodyError, Header};

/// Zeros that may have been left out: a header has four numbers.
const LEFT_OUT: [u8; 4] = [0; 4];

/// The bytes of a header.
///
/// # Errors
/// Only if the encoder fails, which it does not for these types.
pub fn encode_header(header: &Header) -> Result<Vec<u8>, BodyError> {
    let mut bytes = postcard::to_allocvec(header)?;
    // The last byte of a longer number is never zero, so that only whole numbers are left out.
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
}

/// Reads a header; total.
///
/// # Errors
/// [`BodyError`] with what is wrong.
pub fn decode_header(bytes: &[u8]) -> Result<Header, BodyError> {
    let padded = [bytes, &LEFT_OUT].concat();
    let (header, rest) = postcard::take_from_bytes(&padded)?;
    if rest.iter().any(|byte| *byte != 0) {
        return Err(BodyError::Shape("there are bytes behind the header"));
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(128), Just(1 << 14), any::<u32>()]
    }

    proptest! {
        #[test]
        fn every_header_reads_back(a in number(), b in number(), c in number(), d in number()) {
            let header = Header {
                segment_bytes: u64::from(a) << 20,
                epoch: b,
                snapshot_num: c,
                snapshot_bytes: u64::from(d),
            };
            prop_assert_eq!(decode_header(&encode_header(&header).unwrap()).unwrap(), header);
        }

        #[test]
        fn any_bytes_give_a_header_or_an_error(bytes: Vec<u8>) {
            let _ = decode_header(&bytes);
        }
    }

    #[test]
    fn the_first_header_takes_no_bytes() {
        let first = Header::first(super::super::FIRST_EPOCH);
        assert_eq!(encode_header(&first).unwrap(), [0; 0]);
        assert_eq!(encode_header(&first.followed_by(20_000)).unwrap().len(), 3);
        assert!(decode_header(&[1, 1, 1, 1, 1]).is_err());
    }
}
