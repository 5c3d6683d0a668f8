//! The `If-None-Match` header (RFC 9110, section 13.1.2): which representations a client has.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::IF_NONE_MATCH;
use axum::http::request::Parts;

/// The values of the `If-None-Match` headers of a request, in order.
///
/// A malformed value, such as a tag without quotes, makes the header as a whole have no effect: the
/// condition only saves the client a reply that it has. The server's limit of the size of all
/// headers limits the number of tags.
#[derive(Debug, Clone, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(names("If-None-Match"), parameter_in = Header))]
pub(super) struct IfNoneMatch(
    /// `ETag`s of earlier responses, separated by commas, or `*`; 304 if the current one is among them.
    /// A weak tag (`W/"…"`) matches a strong one. A malformed value has no effect.
    #[cfg_attr(test, param(value_type = Option<String>))]
    Vec<HeaderValue>,
);

impl<S: Send + Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.headers.get_all(IF_NONE_MATCH).iter().cloned().collect()))
    }
}

impl IfNoneMatch {
    /// Returns whether the client has the representation with this `ETag`.
    pub(super) fn includes(&self, etag: &str) -> bool {
        let current = etag.strip_prefix(WEAK).unwrap_or(etag).as_bytes();
        let mut tags = TagList::default();
        for value in &self.0 {
            if tags.add(value.as_bytes(), current).is_none() {
                return false;
            }
        }
        if tags.has_any { tags.members == 1 } else { tags.has_current }
    }
}

/// Prefix of a weak tag. It is case-sensitive.
const WEAK: &str = "W/";

#[derive(Default)]
struct TagList {
    members: usize,
    /// Whether `*` is a member. It must be the only one.
    has_any: bool,
    has_current: bool,
}

impl TagList {
    /// Returns `None` if the value is malformed. `current` is a tag with quotes, without `W/`.
    fn add(&mut self, value: &[u8], current: &[u8]) -> Option<()> {
        let mut rest = value.trim_ascii_start();
        while let Some((first, after_first)) = rest.split_first() {
            // Members of a list may be empty.
            if *first != b',' {
                self.members += 1;
                let after_member = if *first == b'*' {
                    self.has_any = true;
                    after_first
                } else {
                    let (tag, after_tag) = split_tag(rest)?;
                    self.has_current |= tag == current;
                    after_tag
                };
                rest = after_member.trim_ascii_start();
            }
            rest = match rest.split_first() {
                None => return Some(()),
                Some((b',', next_member)) => next_member.trim_ascii_start(),
                Some(_) => return None,
            };
        }
        Some(())
    }
}

/// Returns the first tag of a list with its quotes and without `W/`, and the rest of the list.
fn split_tag(list: &[u8]) -> Option<(&[u8], &[u8])> {
    let quoted = list.strip_prefix(WEAK.as_bytes()).unwrap_or(list);
    let content = quoted.strip_prefix(b"\"")?;
    let content_length = content.iter().position(|byte| *byte == b'"')?;
    let (tag, rest) = quoted.split_at_checked(content_length + 2)?;
    let is_allowed = |byte: &u8| matches!(byte, 0x21..=0x7e | 0x80..);
    if tag.iter().all(is_allowed) { Some((tag, rest)) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn includes(values: &[&str], etag: &str) -> bool {
        let header = |value: &&str| HeaderValue::from_bytes(value.as_bytes()).unwrap();
        IfNoneMatch(values.iter().map(header).collect()).includes(etag)
    }

    #[test]
    fn finds_the_current_tag() {
        for values in [
            &["\"1-2\""][..],
            &["W/\"1-2\""],
            &["*"],
            &[" * "],
            &[",,*,"],
            &["\"0\", \"1-2\""],
            &["\"0\",W/\"1-2\"\t,\"a,b\""],
            &[", ,\"1-2\",,"],
            &["\"0\"", "\"1-2\""],
            &["\"\u{fc}\", \"1-2\""],
        ] {
            assert!(includes(values, "\"1-2\""), "{values:?}");
            assert!(includes(values, "W/\"1-2\""), "{values:?}");
        }
    }

    #[test]
    fn other_tags_have_no_effect() {
        for values in [
            &[][..],
            &[""],
            &[" , "],
            &["\"1-3\""],
            &["\"1-2 \""],
            &["\"\""],
            &["\"x\"", "W/\"y\""],
        ] {
            assert!(!includes(values, "\"1-2\""), "{values:?}");
        }
        assert!(includes(&["\"\""], "\"\""), "a tag may be empty");
    }

    #[test]
    fn a_malformed_header_has_no_effect() {
        for values in [
            &["1-2"][..],
            &["\"1-2"],
            &["\"1-2\" x"],
            &["\"1-2\" \"3\""],
            &["w/\"1-2\""],
            &["W/ \"1-2\""],
            &["W/"],
            &["W/W/\"1-2\""],
            &["\"1-2\", \"a b\""],
            &["\"1-2\", x"],
            &["\"1-2\"", "x"],
            &["*, \"1-2\""],
            &["\"1-2\", *"],
            &["*", "*"],
            &["**"],
        ] {
            assert!(!includes(values, "\"1-2\""), "{values:?}");
        }
    }

    /// A list of as many tags as fit into the headers of a request takes no time or memory to speak of.
    #[test]
    fn a_long_list_is_searched_to_its_end() {
        let long = "\"0\",".repeat(100_000);
        assert!(includes(&[&format!("{long}\"1-2\"")], "\"1-2\""));
        assert!(!includes(&[&long], "\"1-2\""));
        assert!(!includes(&[&",".repeat(100_000)], "\"1-2\""));
    }

    fn tag() -> impl Strategy<Value = (bool, String)> {
        (any::<bool>(), "[!#-~]{0,3}")
    }

    proptest! {
        #[test]
        fn a_list_includes_exactly_its_tags(
            tags in prop::collection::vec(tag(), 0..6),
            separators in prop::collection::vec("[ \t]{0,2},[ \t,]{0,3}", 6),
            split in 0..6_usize,
            current in tag(),
        ) {
            let text = |(is_weak, content): &(bool, String)| {
                format!("{}\"{content}\"", if *is_weak { "W/" } else { "" })
            };
            let join = |tags: &[(bool, String)]| -> String {
                tags.iter().zip(&separators).map(|(tag, separator)| text(tag) + separator).collect()
            };
            let (first, second) = tags.split_at(split.min(tags.len()));
            let listed = includes(&[&join(first), &join(second)], &text(&current));
            prop_assert_eq!(listed, tags.iter().any(|(_, content)| *content == current.1));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let included = IfNoneMatch(vec![value]).includes("\"1-2\"");
                let has_current = bytes.windows(5).any(|window| window == b"\"1-2\"");
                prop_assert!(!included || has_current || bytes.trim_ascii().contains(&b'*'));
            }
        }
    }
}
