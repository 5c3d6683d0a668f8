//! JSON encoding of an optional client key as 16 hexadecimal digits.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use super::hexadecimal;
use cellar_base::hexadecimal::parse_hexadecimal;
use cellar_base::identity::ClientKey;

const DIGITS: usize = 16;

pub(super) fn serialize<S: Serializer>(
    client: &Option<ClientKey>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match client {
        Some(client) => serializer.serialize_str(&hexadecimal(&client.0)),
        None => serializer.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ClientKey>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    match parse_hexadecimal(&text) {
        Some(bytes) => Ok(Some(ClientKey(bytes))),
        None => Err(D::Error::custom(format_args!(
            "client key `{text}` must consist of {DIGITS} hexadecimal digits"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::{wire::EntryKind, wire::EntryView};
    use cellar_base::identity::ClientKey;
    use cellar_base::position::Position;

    fn view(client: Option<ClientKey>) -> EntryView {
        EntryView {
            position: Position::FIRST,
            kind: EntryKind::Edits,
            created_s: 1,
            author: None,
            client_key: client,
            mutations: Vec::new(),
            external_body: None,
            merged: None,
        }
    }

    #[test]
    fn round_trips_sixteen_digits() {
        let view = view(Some(ClientKey([0, 1, 2, 0xab, 0xcd, 0xef, 0x80, 0xff])));
        let json = serde_json::to_string(&view).unwrap();
        assert!(json.contains(r#""client_key":"000102abcdef80ff""#), "{json}");
        assert_eq!(serde_json::from_str::<EntryView>(&json).unwrap(), view);
        for wrong in
            ["", "000102abcdef80f", "000102abcdef80ff0", "+00102abcdef80ff", "000102abcdef80fg"]
        {
            let json = json.replace("000102abcdef80ff", wrong);
            assert!(serde_json::from_str::<EntryView>(&json).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_entry_without_a_key_has_none() {
        let json = serde_json::to_string(&view(None)).unwrap();
        assert!(!json.contains("client_key"), "{json}");
        assert_eq!(serde_json::from_str::<EntryView>(&json).unwrap(), view(None));
    }
}
