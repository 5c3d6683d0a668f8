//! Postcard encoding of client names. A client name consists of a group and a client.

use super::BodyError;
use cellar_base::identity::ClientName;

/// Encodes a client name.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for strings.
pub fn encode_name(name: &ClientName) -> Result<Vec<u8>, BodyError> {
    Ok(postcard::to_allocvec(&(name.group(), name.client()))?)
}

/// Decodes a client name. Never panics on malformed bytes.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid client name.
pub fn decode_name(bytes: &[u8]) -> Result<ClientName, BodyError> {
    let ((group, client), trailing_bytes) = postcard::take_from_bytes::<(&str, &str)>(bytes)?;
    if !trailing_bytes.is_empty() {
        return Err(BodyError::InvalidContent("there are bytes after the client name"));
    }
    ClientName::new(group, client)
        .map_err(|_| BodyError::InvalidContent("the client name is too long or empty"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_base::limits::MAX_CLIENT_ID_BYTES;

    #[test]
    fn names_round_trip_up_to_their_limit() {
        let longest = "x".repeat(MAX_CLIENT_ID_BYTES);
        for (group, client) in [("g", "c"), (longest.as_str(), "ü"), ("a\n", &longest)] {
            let name = ClientName::new(group, client).unwrap();
            assert_eq!(decode_name(&encode_name(&name).unwrap()).unwrap(), name);
        }
        let longer = format!("{longest}x");
        let stored = |group: &str, client: &str| postcard::to_allocvec(&(group, client)).unwrap();
        for (group, client) in [("", "c"), ("g", ""), (&longer, "c"), ("g", &longer)] {
            assert!(ClientName::new(group, client).is_err());
            assert!(decode_name(&stored(group, client)).is_err());
        }
        assert!(decode_name(&[stored("g", "c"), vec![0]].concat()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_name_or_an_error(bytes: Vec<u8>) {
            let _ = decode_name(&bytes);
        }
    }
}
