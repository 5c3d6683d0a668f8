//! Parses and formats object tags.

use std::collections::BTreeMap;

use s3s::dto::Tag;
use s3s::{S3Result, s3_error};

/// Matches S3's limit.
const MAX_TAGS: usize = 10;
/// Matches S3's limit.
const MAX_KEY_CHARS: usize = 128;
/// Matches S3's limit.
const MAX_VALUE_CHARS: usize = 256;

pub(super) fn from_header(header: Option<&str>) -> S3Result<BTreeMap<String, String>> {
    let pairs = form_urlencoded::parse(header.unwrap_or_default().as_bytes());
    collect_tags(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

pub(super) fn from_xml(tags: Vec<Tag>) -> S3Result<BTreeMap<String, String>> {
    let pairs =
        tags.into_iter().map(|tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default()));
    collect_tags(pairs)
}

pub(super) fn to_xml(tags: &BTreeMap<String, String>) -> Vec<Tag> {
    let mut xml_tags = Vec::new();
    for (key, value) in tags {
        xml_tags.push(Tag { key: Some(key.clone()), value: Some(value.clone()) });
    }
    xml_tags
}

/// Checks that the tags have unique keys and are within S3's limits.
fn collect_tags(
    key_value_pairs: impl Iterator<Item = (String, String)>,
) -> S3Result<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for (key, value) in key_value_pairs {
        let is_key_valid = (1..=MAX_KEY_CHARS).contains(&key.chars().count());
        let is_value_valid = value.chars().count() <= MAX_VALUE_CHARS;
        if !is_key_valid || !is_value_valid {
            return Err(s3_error!(InvalidTag, "A tag's key or value is too short or too long"));
        }
        let replaced_value = tags.insert(key, value);
        if replaced_value.is_some() {
            return Err(s3_error!(InvalidTag, "Two tags have the same key"));
        }
        if tags.len() > MAX_TAGS {
            return Err(s3_error!(InvalidTag, "Object tags cannot be greater than {MAX_TAGS}"));
        }
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_tags() {
        let pairs = |count: usize| {
            let pairs: Vec<String> = (0..count).map(|index| format!("k{index}=v")).collect();
            from_header(Some(&pairs.join("&")))
        };
        assert_eq!(pairs(MAX_TAGS).unwrap().len(), MAX_TAGS);
        assert!(pairs(MAX_TAGS + 1).is_err());
        let sized = |key: usize, value: usize| {
            from_header(Some(&format!("{}={}", "k".repeat(key), "v".repeat(value))))
        };
        assert!(sized(MAX_KEY_CHARS, MAX_VALUE_CHARS).is_ok());
        for (key, value) in [(0, 1), (MAX_KEY_CHARS + 1, 1), (1, MAX_VALUE_CHARS + 1)] {
            assert!(sized(key, value).is_err(), "{key} {value}");
        }
    }

    #[test]
    fn parses_url_encoded_headers_and_rejects_duplicates() {
        let tags = from_header(Some("state=pending&a%20b=c%26d")).unwrap();
        assert_eq!(tags["state"], "pending");
        assert_eq!(tags["a b"], "c&d");
        assert!(from_header(Some("a=1&a=2")).is_err());
        assert!(from_header(None).unwrap().is_empty());
        assert_eq!(from_xml(to_xml(&tags)).unwrap(), tags);
    }
}
