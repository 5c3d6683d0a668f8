//! Reads and creates files with private keys. Only the owner of such a file can read it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use cellar::files::write_private;
use cellar_runtime::token::KeyPair;

use crate::error::SynthError;
use crate::project::Project;

const CREATE_KEY_ADVICE: &str = "create the key with `synth token init`, or pass --key FILE; for a local stack, start \
                                 the stack with `synth deploy --local`, and pass `--local`";
const USE_LOCAL_KEY_ADVICE: &str = "pass `--local` for the local stack; for a stack in AWS, create the key with \
                                    `synth token init`, or pass --key FILE";
const CREATE_LOCAL_KEY_ADVICE: &str =
    "start the local stack with `synth deploy --local`, which creates the key";

/// Returns the key of the local stack.
///
/// # Errors
///
/// Returns [`SynthError::NoKey`] if no local stack was started in this project.
pub(crate) fn read_local_key(project: &Project) -> Result<KeyPair, SynthError> {
    with_advice(read_key(&project.local_key()), CREATE_LOCAL_KEY_ADVICE)
}

/// Returns the operator's key for stacks in AWS.
///
/// # Errors
///
/// Returns [`SynthError::NoKey`] if the file does not exist. The error suggests the key of the local
/// stack if that key exists.
pub(crate) fn read_operator_key(project: &Project) -> Result<KeyPair, SynthError> {
    let has_local_key = project.local_key().exists();
    let advice = if has_local_key { USE_LOCAL_KEY_ADVICE } else { CREATE_KEY_ADVICE };
    with_advice(read_key(&project.operator_key()), advice)
}

fn with_advice(
    result: Result<KeyPair, SynthError>,
    advice: &'static str,
) -> Result<KeyPair, SynthError> {
    result.map_err(|error| match error {
        SynthError::NoKey { path, .. } => SynthError::NoKey { path, advice },
        other => other,
    })
}

/// Returns [`SynthError::NoKey`] if the file does not exist.
pub(crate) fn read_key(path: &Path) -> Result<KeyPair, SynthError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(KeyPair::from_pem(&text)?),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(SynthError::NoKey { path: path.to_owned(), advice: CREATE_KEY_ADVICE })
        }
        Err(cause) => Err(SynthError::Io { operation: "read", path: path.to_owned(), cause }),
    }
}

/// Returns `None` if the key file does not exist or if the public key is not configured.
pub(crate) fn operator_key(project: &Project) -> Result<Option<KeyPair>, SynthError> {
    let path = project.operator_key();
    if !path.exists() {
        return Ok(None);
    }
    let key_pair = read_key(&path)?;
    let public_key = key_pair.public();
    let is_listed = project.config.tokens.keys.iter().any(|key| key.id == public_key.id);
    Ok(if is_listed { Some(key_pair) } else { None })
}

fn create_key(path: &Path) -> Result<KeyPair, SynthError> {
    if path.exists() {
        return Err(SynthError::Exists { path: path.to_owned() });
    }
    let key_pair = KeyPair::generate()?;
    write_private(path, key_pair.to_pem().as_bytes())?;
    Ok(key_pair)
}

pub(crate) fn read_or_create_key(path: &Path) -> Result<KeyPair, SynthError> {
    match read_key(path) {
        Err(SynthError::NoKey { .. }) => create_key(path),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_a_private_key_file_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/token-key.pem");
        assert!(matches!(read_key(&path), Err(SynthError::NoKey { .. })));
        let created = read_or_create_key(&path).unwrap();
        assert_eq!(read_or_create_key(&path).unwrap().public(), created.public());
        assert!(matches!(create_key(&path), Err(SynthError::Exists { .. })));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn the_advice_begins_with_the_stack_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project {
            folder: folder.path().to_owned(),
            config_file: folder.path().join("cellar.yaml"),
            config: cellar_stacks::Config::default(),
            stage: None,
        };
        let advice = |result: Result<KeyPair, SynthError>| match result {
            Err(SynthError::NoKey { advice, .. }) => advice,
            _ => panic!("the key exists"),
        };
        assert!(
            advice(read_operator_key(&project))
                .starts_with("create the key with `synth token init`")
        );
        assert!(advice(read_local_key(&project)).starts_with("start the local stack"));
        let local_key = read_or_create_key(&project.local_key()).unwrap();
        assert!(advice(read_operator_key(&project)).starts_with("pass `--local`"));
        assert_eq!(read_local_key(&project).unwrap().public(), local_key.public());
    }

    #[test]
    fn does_not_replace_an_invalid_key_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token-key.pem");
        fs::write(&path, "not a key").unwrap();
        assert!(matches!(read_or_create_key(&path), Err(SynthError::Mint(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a key");
    }
}
