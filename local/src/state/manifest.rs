//! The manifest of a state directory: the stack name and the resources that must exist.

use serde::{Deserialize, Serialize};

use super::{DATABASE, MANIFEST, StateFolder};
use crate::error::LocalError;

/// Layout version of the state directory.
const LAYOUT_VERSION: u32 = 1;

/// The manifest of a state directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(super) layout: u32,
    /// Name of the stack that owns the directory.
    pub(crate) stack: String,
    /// Random id of the local stack, stable across port changes.
    pub(crate) identity: String,
    /// Names of previously created tables, which must exist at every later start.
    pub(crate) tables: Vec<String>,
    /// Names of previously created buckets, which must exist at every later start.
    #[serde(default)]
    pub(crate) buckets: Vec<String>,
}

impl StateFolder {
    /// Returns the name of the stack that owns the directory, or `None` if the directory contains
    /// no state.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] if the state is damaged.
    pub fn stack(&self) -> Result<Option<String>, LocalError> {
        Ok(self.manifest()?.map(|manifest| manifest.stack))
    }

    /// Returns the local stack's random id, or `None` if the directory contains no state.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] if the state is damaged.
    pub fn identity(&self) -> Result<Option<String>, LocalError> {
        Ok(self.manifest()?.map(|manifest| manifest.identity))
    }

    fn manifest(&self) -> Result<Option<Manifest>, LocalError> {
        let Some(text) = self.read(MANIFEST)? else {
            return Ok(None);
        };
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| self.damaged(MANIFEST, error))?;
        if manifest.layout > LAYOUT_VERSION {
            let (path, version) = (self.path.join(MANIFEST), manifest.layout);
            return Err(LocalError::LaterVersion { path, version });
        }
        Ok(Some(manifest))
    }

    /// Checks the state of an earlier process, or creates a new manifest. Existing state is left
    /// unchanged.
    pub(crate) fn open(&self, stack: &str) -> Result<Manifest, LocalError> {
        let database_bytes = self.database().metadata().map(|file| file.len()).ok();
        let Some(manifest) = self.manifest()? else {
            if database_bytes.is_some() {
                return Err(self.damaged(DATABASE, format!("{MANIFEST} is missing")));
            }
            return self.create_manifest(stack);
        };
        if manifest.stack != stack {
            let (folder, theirs) = (self.path.clone(), manifest.stack);
            return Err(LocalError::OtherStack { folder, theirs, ours: stack.to_owned() });
        }
        if !manifest.tables.is_empty() {
            // Continuing would replace a database with data by an empty one.
            match database_bytes {
                None => return Err(self.damaged(DATABASE, "the file is missing")),
                Some(0) => return Err(self.damaged(DATABASE, "the file is empty")),
                Some(_) => {}
            }
        }
        Ok(manifest)
    }

    fn create_manifest(&self, stack: &str) -> Result<Manifest, LocalError> {
        let manifest = Manifest {
            layout: LAYOUT_VERSION,
            stack: stack.to_owned(),
            identity: uuid::Uuid::new_v4().to_string(),
            tables: Vec::new(),
            buckets: Vec::new(),
        };
        self.record(&manifest)?;
        Ok(manifest)
    }

    /// Stores the manifest.
    pub(crate) fn record(&self, manifest: &Manifest) -> Result<(), LocalError> {
        self.write(MANIFEST, manifest)
    }
}
