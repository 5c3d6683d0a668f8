//! Deserializes JSON or YAML into a value of limited size.
//!
//! A YAML alias repeats the value of its anchor, so a few lines of YAML could expand to terabytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deserializes a value and fails if the value is larger than a budget. The size of a value is the
/// number of its nested values plus the number of bytes in its keys and strings.
pub(super) struct BoundedValue<'a> {
    /// The remaining budget, which all nested values share.
    budget: &'a Cell<usize>,
}

impl<'a> BoundedValue<'a> {
    pub(super) fn new(budget: &'a Cell<usize>) -> Self {
        Self { budget }
    }

    fn spend_budget<E: Error>(&self, size: usize) -> Result<(), E> {
        let remaining = self.budget.get().checked_sub(size).ok_or_else(|| {
            E::custom("aliases expand the text beyond the maximum size of a template")
        })?;
        self.budget.set(remaining);
        Ok(())
    }

    fn for_nested_value(&self) -> Self {
        Self { budget: self.budget }
    }
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("plain JSON or YAML, without tags such as !Ref")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.spend_budget(1).map(|()| Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.spend_budget(1).map(|()| value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.spend_budget(1).map(|()| value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.spend_budget(1).map(|()| value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.spend_budget(1)?;
        Ok(Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.spend_budget(value.len().saturating_add(1)).map(|()| value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.spend_budget(1)?;
        let mut values = Vec::new();
        while let Some(item) = items.next_element_seed(self.for_nested_value())? {
            values.push(item);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend_budget(1)?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.spend_budget(key.len())?;
            let value = entries.next_value_seed(self.for_nested_value())?;
            if map.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key `{key}` occurs twice")));
            }
        }
        Ok(Value::Object(map))
    }
}
