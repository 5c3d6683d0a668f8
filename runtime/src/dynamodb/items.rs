//! Converts records to and from the attribute values of the AWS SDK.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use cellar_base::record::{Attribute, Item, RecordError};
use cellar_engine::ports::PortError;

pub(super) type SdkItem = HashMap<String, AttributeValue>;

pub(super) fn to_sdk_item(item: Item) -> SdkItem {
    item.into_iter().map(|(name, value)| (name, to_sdk_value(value))).collect()
}

pub(super) fn to_sdk_value(attribute: Attribute) -> AttributeValue {
    match attribute {
        Attribute::Text(text) => AttributeValue::S(text),
        Attribute::Number(number) => AttributeValue::N(number.to_string()),
        Attribute::Bytes(bytes) => AttributeValue::B(Blob::new(bytes)),
        Attribute::List(list) => AttributeValue::L(list.into_iter().map(to_sdk_value).collect()),
        Attribute::Map(map) => AttributeValue::M(to_sdk_item(map)),
    }
}

/// Returns a permanent [`PortError`] if an attribute has a type that Cellar never writes.
pub(super) fn from_sdk_item(attributes: &SdkItem) -> Result<Item, PortError> {
    attributes
        .iter()
        .map(|(name, value)| Ok((name.clone(), from_sdk_value(name, value)?)))
        .collect()
}

pub(super) fn decode_item<T>(
    item: &SdkItem,
    decode: impl Fn(&Item) -> Result<T, RecordError>,
) -> Result<T, PortError> {
    let record = from_sdk_item(item)?;
    Ok(decode(&record)?)
}

pub(super) fn to_sdk_limit(limit: u32) -> i32 {
    i32::try_from(limit).unwrap_or(i32::MAX)
}

fn from_sdk_value(name: &str, value: &AttributeValue) -> Result<Attribute, PortError> {
    match value {
        AttributeValue::S(text) => Ok(Attribute::Text(text.clone())),
        AttributeValue::N(digits) => match digits.parse() {
            Ok(number) => Ok(Attribute::Number(number)),
            Err(_) => Err(unexpected_attribute(name)),
        },
        AttributeValue::B(bytes) => Ok(Attribute::Bytes(bytes.as_ref().to_vec())),
        AttributeValue::L(elements) => {
            let elements: Result<_, _> =
                elements.iter().map(|element| from_sdk_value(name, element)).collect();
            Ok(Attribute::List(elements?))
        }
        AttributeValue::M(map) => from_sdk_item(map).map(Attribute::Map),
        _ => Err(unexpected_attribute(name)),
    }
}

fn unexpected_attribute(name: &str) -> PortError {
    PortError::permanent(format!("attribute `{name}` has an unexpected type or value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip_and_other_types_are_rejected() {
        let item = Item::from([
            ("S".to_owned(), Attribute::Bytes(vec![1, 2])),
            ("N".to_owned(), Attribute::Number(u64::MAX)),
            ("T".to_owned(), Attribute::Text("E".to_owned())),
        ]);
        let list = Attribute::List(vec![Attribute::Number(1), Attribute::Map(item.clone())]);
        let item =
            [item, Item::from([("e".to_owned(), list)])].into_iter().flatten().collect::<Item>();
        let attributes = to_sdk_item(item.clone());
        assert_eq!(from_sdk_item(&attributes).unwrap(), item);
        for value in [AttributeValue::Bool(true), AttributeValue::N("1.5".to_owned())] {
            let attributes = SdkItem::from([("N".to_owned(), value)]);
            assert!(!from_sdk_item(&attributes).unwrap_err().temporary);
        }
    }
}
