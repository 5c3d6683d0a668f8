//! Cell values and their JSON encoding.

use std::fmt;

use num_traits::ToPrimitive as _;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ErrorCode;

/// Value of a cell. In JSON, it is `null`, a number, a string, `true`, `false` or `{"error":
/// "#N/A"}`. A date is a number of days since 1899-12-30 in a cell with a date format.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// No value. Setting this value clears the cell.
    #[default]
    Empty,
    /// A finite number.
    Number(f64),
    /// Text, UTF-8.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// An error value.
    Error(ErrorCode),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_unit(),
            Self::Number(number) => serialize_number(*number, serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Error(code) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("error", code)?;
                map.end()
            }
        }
    }
}

/// Serializes integers without `.0`, as JavaScript does.
fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    match exact_integer(number) {
        Some(integer) => serializer.serialize_i64(integer),
        None => serializer.serialize_f64(number),
    }
}

/// Returns the number as an integer, or `None` for fractions, −0 and absolute values of 2⁵³ or
/// more.
#[must_use]
pub(crate) fn exact_integer(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    let is_integer = number.fract() == 0.0 && number.abs() < LIMIT;
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    if !is_integer || is_negative_zero {
        return None;
    }
    number.to_i64()
}

/// Returns the number of bytes that text takes as a JSON string. A quote or backslash takes two
/// bytes, and a control character takes six.
#[must_use]
pub fn json_text_bytes(text: &str) -> usize {
    let width = |byte: u8| match byte {
        0..0x20 | 0x7f => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    text.bytes().map(width).sum::<usize>() + 2
}

impl Value {
    /// Returns an upper bound on the number of bytes that the value takes in JSON.
    #[must_use]
    pub fn json_bytes(&self) -> usize {
        const LONGEST_NUMBER_BYTES: usize = 25;
        match self {
            Self::Text(text) => json_text_bytes(text),
            _ => LONGEST_NUMBER_BYTES,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("null, a number, text, true, false or {\"error\": \"#N/A\"}")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Empty)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    // A JSON number that `f64` cannot represent is rounded to the nearest `f64`.
    #[allow(clippy::cast_precision_loss, reason = "JSON numbers are f64 here")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    #[allow(clippy::cast_precision_loss, reason = "JSON numbers are f64 here")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.is_finite() {
            Ok(Value::Number(value))
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(A::Error::missing_field("error"));
        };
        if key != "error" {
            return Err(A::Error::unknown_field(&key, &["error"]));
        }
        let code = map.next_value()?;
        match map.next_key::<String>()? {
            None => Ok(Value::Error(code)),
            Some(key) => Err(A::Error::unknown_field(&key, &["error"])),
        }
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Value {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
        let schema_of = |json_type| ObjectBuilder::new().schema_type(json_type);
        let error_schema = schema_of(Type::Object)
            .property("error", <ErrorCode as utoipa::PartialSchema>::schema())
            .required("error")
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        OneOfBuilder::new()
            .description(Some(
                "Null (empty), a number, text, a boolean, or an error value. A date is a number: the days since \
                 1899-12-30, in a cell with a date format such as `yyyy-mm-dd`.",
            ))
            .item(schema_of(Type::Null))
            .item(schema_of(Type::Number))
            .item(schema_of(Type::String))
            .item(schema_of(Type::Boolean))
            .item(error_schema)
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Value {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_survives_json(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            let json = serde_json::to_string(&Value::Number(number)).unwrap();
            let Value::Number(read) = serde_json::from_str(&json).unwrap() else { panic!("{json}") };
            prop_assert_eq!(read.to_bits(), number.to_bits());
        }
    }

    proptest! {
        #[test]
        fn json_is_never_longer_than_it_is_said_to_be(text in "[\u{0}-\u{7f}]{0,40}|\\PC{0,20}", number: f64) {
            let finite = if number.is_finite() { number } else { 0.0 };
            for value in [Value::Text(text), Value::Number(finite)] {
                prop_assert!(serde_json::to_string(&value).unwrap().len() <= value.json_bytes());
            }
        }
    }

    #[test]
    fn round_trips_json_values() {
        for (json, value) in [
            ("null", Value::Empty),
            ("12", Value::Number(12.0)),
            ("-0.5", Value::Number(-0.5)),
            ("\"a\"", Value::Text("a".into())),
            ("true", Value::Bool(true)),
            ("{\"error\":\"#N/A\"}", Value::Error(ErrorCode::NotAvailable)),
        ] {
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for json in
            ["[]", "{}", "{\"error\":\"x\"}", "{\"a\":1}", "1e999", "{\"error\":\"#N/A\",\"b\":1}"]
        {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
        }
    }
}
