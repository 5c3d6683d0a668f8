//! Converts records to and from the attribute values of the AWS SDK.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use cellar_base::{record::Attribute, record::Item};
use cellar_engine::ports::PortError;

/// An item as represented by the AWS SDK.
pub(super) type Attributes = HashMap<String, AttributeValue>;

/// Converts a record to an SDK item.
pub(super) fn to_attributes(item: Item) -> Attributes {
    item.into_iter().map(|(name, value)| (name, to_value(value))).collect()
}

/// Converts a value to an SDK attribute value.
pub(super) fn to_value(attribute: Attribute) -> AttributeValue {
    match attribute {
        Attribute::Text(text) => AttributeValue::S(text),
        Attribute::Number(number) => AttributeValue::N(number.to_string()),
        Attribute::Bytes(bytes) => AttributeValue::B(Blob::new(bytes)),
        Attribute::List(list) => AttributeValue::L(list.into_iter().map(to_value).collect()),
        Attribute::Map(map) => AttributeValue::M(to_attributes(map)),
    }
}

/// Converts an SDK item to a record.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if an attribute has a type that Cellar never writes.
pub(super) fn from_attributes(attributes: &Attributes) -> Result<Item, PortError> {
    attributes.iter().map(|(name, value)| Ok((name.clone(), from_value(name, value)?))).collect()
}

fn from_value(name: &str, value: &AttributeValue) -> Result<Attribute, PortError> {
    let fault =
        || PortError::permanent(format!("attribute `{name}` has an unexpected type or value"));
    match value {
        AttributeValue::S(text) => Ok(Attribute::Text(text.clone())),
        AttributeValue::N(number) => number.parse().map(Attribute::Number).map_err(|_| fault()),
        AttributeValue::B(bytes) => Ok(Attribute::Bytes(bytes.as_ref().to_vec())),
        AttributeValue::L(list) => {
            let list =
                list.iter().map(|value| from_value(name, value)).collect::<Result<_, _>>()?;
            Ok(Attribute::List(list))
        }
        AttributeValue::M(map) => from_attributes(map).map(Attribute::Map),
        _ => Err(fault()),
    }
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
        let attributes = to_attributes(item.clone());
        assert_eq!(from_attributes(&attributes).unwrap(), item);
        for value in [AttributeValue::Bool(true), AttributeValue::N("1.5".to_owned())] {
            let attributes = Attributes::from([("N".to_owned(), value)]);
            assert!(!from_attributes(&attributes).unwrap_err().temporary);
        }
    }
}
