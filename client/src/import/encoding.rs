//! From bytes to text: UTF-8, with or without a byte order mark.

use super::ImportError;

/// The first bytes of a ZIP archive, which a workbook is.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The text of a file, without its byte order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    if bytes.starts_with(ZIP_MAGIC) {
        return Err(ImportError::Workbook);
    }
    if UTF16_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(ImportError::Utf16);
    }
    let (mark_bytes, content) = match bytes.strip_prefix(UTF8_MARK) {
        Some(content) => (UTF8_MARK.len(), content),
        None => (0, bytes),
    };
    std::str::from_utf8(content).map_err(|error| {
        let before = content.iter().take(error.valid_up_to());
        let line_ends = before.filter(|byte| **byte == b'\n').count();
        let line = u64::try_from(line_ends).unwrap_or(u64::MAX).saturating_add(1);
        ImportError::NotUtf8 { line, byte: error.valid_up_to().saturating_add(mark_bytes) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_stripped() {
        assert_eq!(text(b"\xef\xbb\xbfa,b").unwrap(), "a,b");
        assert_eq!(text("ä".as_bytes()).unwrap(), "ä");
    }

    #[test]
    fn other_encodings_are_named_with_line_and_byte() {
        for (bytes, at) in [
            (&b"a\nb\ncaf\xe9\n"[..], (3, 7)),
            (&b"\xef\xbb\xbf\xe9"[..], (1, 3)),
            (&b"ok\ntruncated \xc3"[..], (2, 13)),
        ] {
            let Err(ImportError::NotUtf8 { line, byte }) = text(bytes) else {
                panic!("{bytes:?}");
            };
            assert_eq!((line, byte), at);
        }
        assert!(matches!(text(b"\xff\xfea\0"), Err(ImportError::Utf16)));
        assert!(matches!(text(b"PK\x03\x04..."), Err(ImportError::Workbook)));
    }
}
