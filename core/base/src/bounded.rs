//! Deserialization of lists with a maximum length.
//!
//! A byte of untrusted input may decode to a hundred bytes in memory. Decoding therefore fails as
//! soon as the declared length or the number of decoded elements exceeds the maximum. No memory is
//! allocated based on the declared length.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Deserializes a list of at most `MAX` elements. For use with `#[serde(deserialize_with)]`.
pub fn at_most<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(AtMost::<T, MAX>(PhantomData))
}

struct AtMost<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for AtMost<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        // A list that declares too many elements is rejected before the first element is decoded.
        if let Some(declared_length) = items.size_hint()
            && declared_length > MAX
        {
            return Err(A::Error::custom(format_args!(
                "a list has {declared_length} elements; at most {MAX} are allowed"
            )));
        }
        let mut decoded_items = Vec::new();
        while let Some(item) = items.next_element()? {
            if decoded_items.len() >= MAX {
                return Err(A::Error::custom(format_args!("a list has more than {MAX} elements")));
            }
            decoded_items.push(item);
        }
        Ok(decoded_items)
    }
}

/// Deserializes an optional list of at most `MAX` elements. For use with
/// `#[serde(deserialize_with)]`.
pub fn at_most_optional<'de, D, T, const MAX: usize>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_option(OptionalAtMost::<T, MAX>(PhantomData))
}

struct OptionalAtMost<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for OptionalAtMost<T, MAX> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an optional list of at most {MAX} elements")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        at_most::<D, T, MAX>(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde::Deserialize;

    use super::*;

    thread_local! {
        static DECODED: Cell<usize> = const { Cell::new(0) };
    }

    /// A one-byte element that counts how often it is decoded.
    #[derive(Debug, PartialEq)]
    struct Counted;

    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            DECODED.set(DECODED.get() + 1);
            u8::deserialize(deserializer).map(|_| Self)
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct List(#[serde(deserialize_with = "at_most::<_, _, 3>")] Vec<Counted>);

    #[derive(Debug, PartialEq, Deserialize)]
    struct OptionalList(
        #[serde(deserialize_with = "at_most_optional::<_, _, 3>")] Option<Vec<Counted>>,
    );

    #[test]
    fn decoding_a_list_stops_at_its_limit() {
        let decoded = |bytes: &[u8]| {
            DECODED.set(0);
            let list = postcard::from_bytes::<List>(bytes).map(|list| list.0.len());
            (list.ok(), DECODED.get())
        };
        assert_eq!(decoded(&[3, 0, 0, 0]), (Some(3), 3));
        assert_eq!(decoded(&[4, 0, 0, 0, 0]), (None, 0));
        // The input declares more elements than it contains. Decoding stops at the end of the input
        // or after `MAX + 1` elements.
        let declared = [0xff, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(decoded(&[declared.as_slice(), &[0; 2]].concat()), (None, 3));
        assert_eq!(decoded(&[declared.as_slice(), &[0; 100]].concat()), (None, 4));
        // JSON does not declare the length of a list, so the elements are counted during decoding.
        for (text, count, all) in [("[0,0,0]", 3, true), ("[0,0,0,0,0]", 4, false)] {
            DECODED.set(0);
            assert_eq!(serde_json::from_str::<List>(text).is_ok(), all);
            assert_eq!(DECODED.get(), count);
        }
    }

    #[test]
    fn an_optional_list_is_bounded() {
        let read = |bytes: &[u8]| postcard::from_bytes::<OptionalList>(bytes).map(|list| list.0);
        assert_eq!(read(&[0]), Ok(None));
        assert_eq!(read(&[1, 3, 0, 0, 0]).unwrap().map(|list| list.len()), Some(3));
        assert!(read(&[1, 4, 0, 0, 0, 0]).is_err());
    }
}
