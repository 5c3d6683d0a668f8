//! The built page, `web/dist`, as static bytes. The build script compresses each file once, so that a
//! request and the start of a function compress nothing, and building Cellar needs no Node.

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Path of the file's URL, such as `/assets/main-1a2b3c4d.js`. The path of `index.html` is `/`.
    pub path: &'static str,
    pub content_type: &'static str,
    /// Whether the name contains a hash of the contents, so that the bytes under the name never change.
    pub is_immutable: bool,
    pub plain: Representation,
    /// `None` if the compressed bytes are not shorter.
    pub gzip: Option<Representation>,
    /// `None` if the compressed bytes are not shorter.
    pub brotli: Option<Representation>,
}

/// The bytes of a file in one encoding.
#[derive(Debug, Clone, Copy)]
pub struct Representation {
    pub bytes: &'static [u8],
    /// Entity tag with its quotes. It differs between the encodings of a file.
    pub etag: &'static str,
}

/// All files of the page.
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Returns `index.html`. The build script guarantees that it exists.
#[must_use]
pub fn index() -> Option<&'static File> {
    FILES.iter().find(|file| file.path == "/")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Read as _;

    use super::*;

    fn gunzip(bytes: &[u8]) -> Vec<u8> {
        let mut text = vec![];
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
        text
    }

    fn unbrotli(bytes: &[u8]) -> Vec<u8> {
        let mut text = vec![];
        brotli::Decompressor::new(bytes, 4096).read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn every_encoding_has_the_same_contents_and_is_shorter() {
        for file in FILES {
            for (encoded, decode) in
                [(file.gzip, gunzip as fn(&[u8]) -> Vec<u8>), (file.brotli, unbrotli)]
            {
                let Some(encoded) = encoded else { continue };
                assert_eq!(decode(encoded.bytes), file.plain.bytes, "{}", file.path);
                assert!(encoded.bytes.len() < file.plain.bytes.len(), "{}", file.path);
            }
        }
        assert!(index().unwrap().brotli.is_some(), "the page is long enough to compress");
    }

    #[test]
    fn paths_and_tags_are_unique() {
        let paths: BTreeSet<_> = FILES.iter().map(|file| file.path).collect();
        assert_eq!(paths.len(), FILES.len());
        for file in FILES {
            let encodings = [Some(file.plain), file.gzip, file.brotli];
            let tags: Vec<_> = encodings.iter().flatten().map(|encoding| encoding.etag).collect();
            assert_eq!(tags.iter().collect::<BTreeSet<_>>().len(), tags.len(), "{tags:?}");
            assert!(tags.iter().all(|tag| tag.starts_with('"') && tag.ends_with('"')), "{tags:?}");
            assert_eq!(file.is_immutable, file.path.starts_with("/assets/"), "{}", file.path);
        }
    }

    #[test]
    fn the_page_loads_only_files_that_exist() {
        let html = str::from_utf8(index().unwrap().plain.bytes).unwrap();
        for attribute in ["src=\"", "href=\""] {
            for reference in html.split(attribute).skip(1) {
                let path = reference.split('"').next().unwrap().trim_start_matches('/');
                assert!(FILES.iter().any(|file| file.path == format!("/{path}")), "{path}");
            }
        }
        assert!(!html.contains(" style=\"") && !html.contains("<style"), "refused by the policy");
    }
}
