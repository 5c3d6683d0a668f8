//! The manifest of a state directory, which contains the stack name and the resources that must
//! exist.

use serde::{Deserialize, Serialize};

use super::{DATABASE, MANIFEST, StateFolder};
use crate::error::LocalError;

const LAYOUT_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(super) layout: u32,
    pub(crate) stack: String,
    /// Random id of the local stack. Does not change if the stack uses another port.
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
        Ok(self.read_manifest()?.map(|manifest| manifest.stack))
    }

    /// Returns the local stack's random id, or `None` if the directory contains no state.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] if the state is damaged.
    pub fn identity(&self) -> Result<Option<String>, LocalError> {
        Ok(self.read_manifest()?.map(|manifest| manifest.identity))
    }

    fn read_manifest(&self) -> Result<Option<Manifest>, LocalError> {
        let Some(json) = self.read(MANIFEST)? else { return Ok(None) };
        let manifest: Manifest =
            serde_json::from_str(&json).map_err(|error| self.damaged(MANIFEST, error))?;
        if manifest.layout > LAYOUT_VERSION {
            let path = self.path.join(MANIFEST);
            return Err(LocalError::LaterVersion { path, version: manifest.layout });
        }
        Ok(Some(manifest))
    }

    /// Checks that the directory contains the complete state of the given stack, and returns its
    /// manifest. Creates a new manifest if the directory contains no state. Existing state is left
    /// unchanged.
    pub(crate) fn open_manifest(&self, stack: &str) -> Result<Manifest, LocalError> {
        let database_bytes = match self.database().metadata() {
            Ok(metadata) => Some(metadata.len()),
            Err(_) => None,
        };
        let Some(manifest) = self.read_manifest()? else {
            if database_bytes.is_some() {
                return Err(self.damaged(DATABASE, format!("{MANIFEST} is missing")));
            }
            return self.create_manifest(stack);
        };
        if manifest.stack != stack {
            return Err(LocalError::OtherStack {
                folder: self.path.clone(),
                theirs: manifest.stack,
                ours: stack.to_owned(),
            });
        }
        if manifest.tables.is_empty() {
            return Ok(manifest);
        }
        // The manifest lists tables, so the database existed at an earlier start. Without this
        // error, an empty database would replace it.
        match database_bytes {
            None => Err(self.damaged(DATABASE, "the file is missing")),
            Some(0) => Err(self.damaged(DATABASE, "the file is empty")),
            Some(_) => Ok(manifest),
        }
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

    pub(crate) fn record(&self, manifest: &Manifest) -> Result<(), LocalError> {
        self.write(MANIFEST, manifest)
    }
}
