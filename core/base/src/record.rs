//! Table items as typed attributes, independent of the database API.
//!
//! Each record type is defined in the `records/` directory of its crate, with the functions `key`,
//! `encode` and `decode`.

use std::collections::BTreeMap;

/// Value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    Text(String),
    Number(u64),
    Bytes(Vec<u8>),
    List(Vec<Attribute>),
    Map(Item),
}

/// A table item: attributes by name.
pub type Item = BTreeMap<String, Attribute>;

/// The reason why a table item cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// An attribute is missing or has the wrong type.
    #[error("{record}: attribute `{name}` is missing or not {expected}")]
    Attribute {
        /// Kind of record.
        record: &'static str,
        /// Name of the attribute.
        name: &'static str,
        /// Expected type.
        expected: &'static str,
    },
    /// The type of the entry is unknown because a later version of Cellar wrote the entry.
    #[error("entry type `{letter}` is not supported by this version of Cellar; upgrade it")]
    UnknownType {
        /// Letter that encodes the type of the entry.
        letter: String,
    },
    #[error("{what}")]
    Body {
        /// Reason.
        what: String,
    },
}

/// Returns the item size for which DynamoDB bills, in bytes: the total size of all attribute names
/// and values.
#[must_use]
pub fn item_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

/// Returns the size of an attribute value for which DynamoDB bills, in bytes.
fn value_bytes(value: &Attribute) -> usize {
    match value {
        Attribute::Text(text) => text.len(),
        Attribute::Bytes(bytes) => bytes.len(),
        // A number takes one byte per two significant digits, plus one byte.
        Attribute::Number(number) => {
            let digits = number.to_string();
            digits.trim_end_matches('0').len().div_ceil(2) + 1
        }
        // A list or map takes 3 bytes, plus 1 byte per element.
        Attribute::List(list) => 3 + list.len() + list.iter().map(value_bytes).sum::<usize>(),
        Attribute::Map(map) => 3 + map.len() + item_bytes(map),
    }
}

/// Reader of an item's typed attributes.
pub struct Reader<'a> {
    /// Name of the record type in error messages.
    pub record: &'static str,
    pub item: &'a Item,
}

impl<'a> Reader<'a> {
    pub fn attribute_error(&self, name: &'static str, expected: &'static str) -> RecordError {
        RecordError::Attribute { record: self.record, name, expected }
    }

    pub fn bytes(&self, name: &'static str) -> Result<&'a [u8], RecordError> {
        match self.item.get(name) {
            Some(Attribute::Bytes(bytes)) => Ok(bytes),
            _ => Err(self.attribute_error(name, "bytes")),
        }
    }

    pub fn array<const N: usize>(&self, name: &'static str) -> Result<[u8; N], RecordError> {
        self.bytes(name)?
            .try_into()
            .map_err(|_| self.attribute_error(name, "bytes of the right length"))
    }

    pub fn number(&self, name: &'static str) -> Result<u64, RecordError> {
        match self.item.get(name) {
            Some(Attribute::Number(number)) => Ok(*number),
            _ => Err(self.attribute_error(name, "a number")),
        }
    }

    pub fn number_u32(&self, name: &'static str) -> Result<u32, RecordError> {
        self.number(name)?.try_into().map_err(|_| self.attribute_error(name, "a number below 2³²"))
    }

    pub fn list(&self, name: &'static str) -> Result<&'a [Attribute], RecordError> {
        match self.item.get(name) {
            Some(Attribute::List(list)) => Ok(list),
            _ => Err(self.attribute_error(name, "a list")),
        }
    }

    pub fn optional_number(&self, name: &'static str) -> Result<Option<u64>, RecordError> {
        self.item.contains_key(name).then(|| self.number(name)).transpose()
    }

    pub fn optional_bytes(&self, name: &'static str) -> Result<Option<&'a [u8]>, RecordError> {
        self.item.contains_key(name).then(|| self.bytes(name)).transpose()
    }

    pub fn optional_text(&self, name: &'static str) -> Result<Option<String>, RecordError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(Attribute::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.attribute_error(name, "text")),
        }
    }

    pub fn text(&self, name: &'static str) -> Result<String, RecordError> {
        self.optional_text(name)?.ok_or_else(|| self.attribute_error(name, "text"))
    }
}

pub fn put_text(item: &mut Item, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        item.insert(name.to_owned(), Attribute::Text(text.to_owned()));
    }
}

pub fn put_number(item: &mut Item, name: &str, number: u64) {
    item.insert(name.to_owned(), Attribute::Number(number));
}

pub fn put_bytes(item: &mut Item, name: &str, bytes: Vec<u8>) {
    item.insert(name.to_owned(), Attribute::Bytes(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_bytes_equals_what_dynamodb_bills() {
        let item = Item::from([
            ("S".to_owned(), Attribute::Bytes(vec![0; 20])),
            ("N".to_owned(), Attribute::Number(1_000)),
            ("C".to_owned(), Attribute::Number(1_795_246_133)),
            ("U".to_owned(), Attribute::Text("alice".to_owned())),
        ]);
        assert_eq!(item_bytes(&item), 21 + (1 + 2) + (1 + 6) + 6);
    }

    #[test]
    fn lists_and_maps_take_three_bytes_plus_one_per_element() {
        let text = |text: &str| Attribute::Text(text.to_owned());
        let sized = |value| item_bytes(&Item::from([("e".to_owned(), value)]));
        assert_eq!(sized(Attribute::List(vec![])), 1 + 3);
        assert_eq!(sized(Attribute::Map(Item::new())), 1 + 3);
        assert_eq!(sized(Attribute::List(vec![text("ab"), text("c")])), 1 + 3 + (1 + 2) + (1 + 1));
        let map = Item::from([("key".to_owned(), text("value"))]);
        assert_eq!(sized(Attribute::Map(map.clone())), 1 + 3 + 1 + 3 + 5);
        assert_eq!(sized(Attribute::List(vec![Attribute::Map(map)])), 1 + 3 + 1 + (3 + 1 + 3 + 5));
    }
}
