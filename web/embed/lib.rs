//! The built page, `web/dist`, as static bytes. The build script compresses each file once, so that a
//! request and the start of a function compress nothing, and building Cellar needs no Node.

use std::borrow::Cow;
use std::io;

const DECODE_BUFFER_BYTES: usize = 4096;

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Path of the file's URL, such as `/assets/main-1a2b3c4d.js`. The path of `index.html` is `/`.
    pub path: &'static str,
    pub content_type: &'static str,
    /// Whether the name contains a hash of the contents, so that the bytes under the name never change.
    pub is_immutable: bool,
    pub contents: Contents,
    /// Entity tag of the plain bytes, with its quotes.
    pub etag: &'static str,
    /// Entity tag of the compressed bytes.
    pub brotli_etag: &'static str,
}

/// The embedded bytes of a file.
#[derive(Debug, Clone, Copy)]
pub enum Contents {
    /// The file is not shorter when it is compressed.
    Plain(&'static [u8]),
    Brotli(&'static [u8]),
}

impl File {
    /// Returns the plain bytes. Decompresses them if necessary, which few clients need: the plain
    /// bytes would make the function larger.
    ///
    /// # Errors
    ///
    /// Returns an error if the embedded bytes are damaged.
    pub fn plain(&self) -> io::Result<Cow<'static, [u8]>> {
        let compressed = match self.contents {
            Contents::Plain(bytes) => return Ok(Cow::Borrowed(bytes)),
            Contents::Brotli(bytes) => bytes,
        };
        let mut plain = Vec::new();
        let mut decoder = brotli_decompressor::Decompressor::new(compressed, DECODE_BUFFER_BYTES);
        io::Read::read_to_end(&mut decoder, &mut plain)?;
        Ok(Cow::Owned(plain))
    }
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
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_contents_are_those_of_the_files() {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
        for file in FILES {
            let name = match file.path.trim_start_matches('/') {
                "" => "index.html",
                name => name,
            };
            let original = fs::read(dist.join(name)).unwrap();
            assert_eq!(file.plain().unwrap(), original, "{name}");
            if let Contents::Brotli(compressed) = file.contents {
                assert!(compressed.len() < original.len(), "{name}");
            }
        }
        let index = index().unwrap();
        assert!(matches!(index.contents, Contents::Brotli(_)), "the page is long enough");
    }

    #[test]
    fn paths_and_tags_are_unique() {
        let paths: BTreeSet<_> = FILES.iter().map(|file| file.path).collect();
        assert_eq!(paths.len(), FILES.len());
        for file in FILES {
            let tags = [file.etag, file.brotli_etag];
            assert_ne!(tags[0], tags[1]);
            assert!(tags.iter().all(|tag| tag.starts_with('"') && tag.ends_with('"')), "{tags:?}");
            assert_eq!(file.is_immutable, file.path.starts_with("/assets/"), "{}", file.path);
        }
    }

    #[test]
    fn the_page_loads_only_files_that_exist() {
        let html = String::from_utf8(index().unwrap().plain().unwrap().into_owned()).unwrap();
        for attribute in ["src=\"", "href=\""] {
            for reference in html.split(attribute).skip(1) {
                let path = reference.split('"').next().unwrap().trim_start_matches('/');
                assert!(FILES.iter().any(|file| file.path == format!("/{path}")), "{path}");
            }
        }
        assert!(!html.contains(" style=\"") && !html.contains("<style"), "refused by the policy");
    }
}
