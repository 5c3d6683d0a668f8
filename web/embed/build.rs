//! Compresses the files of `web/dist`, and writes the table that `lib.rs` includes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const DIST: &str = "dist";
const INDEX: &str = "index.html";
/// Names in this folder contain a hash of the contents.
const ASSETS: &str = "assets";
/// Minimum length of the hash in a name, as esbuild makes it.
const HASH_CHARS_MIN: usize = 8;
/// Number of hexadecimal digits of an entity tag.
const TAG_CHARS: usize = 16;
const BROTLI_QUALITY: u32 = 11;
const BROTLI_WINDOW: u32 = 22;
const BROTLI_BUFFER_BYTES: usize = 4096;

#[derive(Debug, thiserror::Error)]
enum BuildError {
    #[error("cannot read or write {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("cannot compress {path}: {source}")]
    Compress { path: PathBuf, source: io::Error },
    #[error("{0} is missing; build the page with `npm run build` in web/")]
    NoIndex(PathBuf),
    #[error("{0} has a name that cannot be part of a URL; use letters, digits, `.`, `_` and `-`")]
    Name(PathBuf),
    #[error("{0} has an unknown extension; add its content type to web/embed/build.rs")]
    Extension(PathBuf),
    #[error("{0} has no hash in its name, as in main-1a2b3c4d.js; browsers would keep it forever")]
    NoHash(PathBuf),
    #[error("{0} is a folder; the page has only the folder `assets`")]
    Folder(PathBuf),
    #[error("the environment variable {0} is not set; build with Cargo")]
    Variable(&'static str),
}

fn main() -> Result<(), BuildError> {
    println!("cargo::rerun-if-changed={DIST}");
    println!("cargo::rerun-if-changed=embed/build.rs");
    let variable = |name| env::var(name).map_err(|_| BuildError::Variable(name));
    let dist = Path::new(&variable("CARGO_MANIFEST_DIR")?).join(DIST);
    let output = PathBuf::from(variable("OUT_DIR")?);
    if !dist.join(INDEX).is_file() {
        return Err(BuildError::NoIndex(dist.join(INDEX)));
    }
    let mut table = String::from("&[\n");
    let mut number = 0;
    for path in list(&dist)? {
        let is_asset_folder = path.file_name().is_some_and(|name| name == ASSETS);
        if path.is_dir() && !is_asset_folder {
            return Err(BuildError::Folder(path));
        }
        let files = if path.is_dir() { list(&path)? } else { vec![path] };
        for file in files {
            number += 1;
            table += &describe(&dist, &file, &output.join(number.to_string()))?;
        }
    }
    table += "]\n";
    write(&output.join("files.rs"), table.as_bytes())
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let file_error = |source| BuildError::File { path: folder.to_owned(), source };
    let mut paths = vec![];
    for entry in fs::read_dir(folder).map_err(file_error)? {
        paths.push(entry.map_err(file_error)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Writes the shorter encoding of a file to `output`, and returns a line of the table.
fn describe(dist: &Path, file: &Path, output: &Path) -> Result<String, BuildError> {
    let (name, is_immutable) = (url_path(dist, file)?, is_in_assets(dist, file));
    if is_immutable && !has_hash(&name) {
        return Err(BuildError::NoHash(file.to_owned()));
    }
    let content_type = content_type(&name).ok_or_else(|| BuildError::Extension(file.to_owned()))?;
    let path = if name == INDEX { "/".to_owned() } else { format!("/{name}") };
    let plain =
        fs::read(file).map_err(|source| BuildError::File { path: file.to_owned(), source })?;
    let compress_error = |source| BuildError::Compress { path: file.to_owned(), source };
    let brotli = brotli(&plain).map_err(compress_error)?;
    let (kind, bytes) =
        if brotli.len() < plain.len() { ("Brotli", &brotli) } else { ("Plain", &plain) };
    write(output, bytes)?;
    let hash = blake3::hash(&plain).to_hex();
    let hash = hash.as_str().get(..TAG_CHARS).unwrap_or_default();
    let (etag, brotli_etag) = (format!("\"{hash}\""), format!("\"{hash}-br\""));
    Ok(format!(
        "File {{ path: {path:?}, content_type: {content_type:?}, is_immutable: {is_immutable}, \
         contents: Contents::{kind}(include_bytes!({output:?})), etag: {etag:?}, \
         brotli_etag: {brotli_etag:?} }},\n"
    ))
}

fn is_in_assets(dist: &Path, file: &Path) -> bool {
    file.parent() == Some(&dist.join(ASSETS))
}

/// Returns the path of a file below `dist`, with slashes.
fn url_path(dist: &Path, file: &Path) -> Result<String, BuildError> {
    let name_error = || BuildError::Name(file.to_owned());
    if file.is_dir() {
        return Err(BuildError::Folder(file.to_owned()));
    }
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(name_error)?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.starts_with('.') || !name.bytes().all(is_allowed) {
        return Err(name_error());
    }
    Ok(if is_in_assets(dist, file) { format!("{ASSETS}/{name}") } else { name.to_owned() })
}

/// Returns whether a name looks like `main-1a2b3c4d.js`.
fn has_hash(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, end)| {
        let hash = end.split('.').next().unwrap_or_default();
        hash.len() >= HASH_CHARS_MIN && hash.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn content_type(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressed = vec![];
    let mut encoder = brotli::CompressorWriter::new(
        &mut compressed,
        BROTLI_BUFFER_BYTES,
        BROTLI_QUALITY,
        BROTLI_WINDOW,
    );
    encoder.write_all(bytes)?;
    drop(encoder);
    Ok(compressed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    fs::write(path, bytes).map_err(|source| BuildError::File { path: path.to_owned(), source })
}
