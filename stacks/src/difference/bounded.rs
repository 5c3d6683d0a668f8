//! Reads JSON or YAML into a value that takes no more memory than its text suggests.
//!
//! In YAML an alias repeats what an anchor holds: a few lines can stand for terabytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a value, and refuses one with more than so many letters, keys and values together.
pub(super) struct Bounded<'a> {
    left: &'a Cell<usize>,
}

impl<'a> Bounded<'a> {
    /// As many as are left.
    pub(super) fn new(left: &'a Cell<usize>) -> Self {
        Self { left }
    }

    fn spend<E: Error>(&self, size: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(size).ok_or_else(|| {
            E::custom("it repeats parts of itself until it is larger than any template")
        })?;
        self.left.set(left);
        Ok(())
    }

    fn again(&self) -> Self {
        Self { left: self.left }
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("plain JSON or YAML, without tags such as !Ref")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.spend(1).map(|()| Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.spend(1).map(|()| value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.spend(1).map(|()| value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.spend(1).map(|()| value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.spend(1)?;
        Ok(Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.spend(value.len().saturating_add(1)).map(|()| value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.again())? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend(1)?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.spend(key.len())?;
            let value = entries.next_value_seed(self.again())?;
            if map.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key `{key}` stands there twice")));
            }
        }
        Ok(Value::Object(map))
    }
}
