//! Private keys in files that only their owner may read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use cellar::files::write_private;
use cellar_runtime::token::KeyPair;

use crate::error::SynthError;
use crate::project::Project;

/// The key pair in a file.
pub(crate) fn read_key(path: &Path) -> Result<KeyPair, SynthError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(KeyPair::from_pem(&text)?),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(SynthError::NoKey { path: path.to_owned() })
        }
        Err(cause) => Err(SynthError::Io { what: "read", path: path.to_owned(), cause }),
    }
}

/// The operator's key for stacks in AWS, if it is here and the stack's configuration lists it.
pub(crate) fn own_key(project: &Project) -> Result<Option<KeyPair>, SynthError> {
    let path = project.operator_key();
    if !path.exists() {
        return Ok(None);
    }
    let pair = read_key(&path)?;
    let public = pair.public();
    let known = project.config.tokens.keys.iter().any(|key| key.id == public.id);
    Ok(known.then_some(pair))
}

/// A new key pair, in a file that did not exist.
fn write_new_key(path: &Path) -> Result<KeyPair, SynthError> {
    if path.exists() {
        return Err(SynthError::Exists { path: path.to_owned() });
    }
    let pair = KeyPair::generate()?;
    write_private(path, pair.to_pem().as_bytes())?;
    Ok(pair)
}

/// The key pair in a file, which is made if it is not there. A deploy to AWS never calls this.
pub(crate) fn read_or_make_key(path: &Path) -> Result<KeyPair, SynthError> {
    match read_key(path) {
        Err(SynthError::NoKey { .. }) => write_new_key(path),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/token-key.pem");
        assert!(matches!(read_key(&path), Err(SynthError::NoKey { .. })));
        let made = read_or_make_key(&path).unwrap();
        assert_eq!(read_or_make_key(&path).unwrap().public(), made.public());
        assert!(matches!(write_new_key(&path), Err(SynthError::Exists { .. })));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token-key.pem");
        fs::write(&path, "not a key").unwrap();
        assert!(matches!(read_or_make_key(&path), Err(SynthError::Mint(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a key");
    }
}
