//! What a state folder says of itself: whose it is, and whether it is whole.

use serde::{Deserialize, Serialize};

use super::{DATABASE, StateFolder};
use crate::error::LocalError;

pub(super) const MANIFEST: &str = "cloud.json";
/// The layout of the folder; a later version of Cellar may write another.
const LAYOUT_VERSION: u32 = 1;

/// What the folder says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(super) layout: u32,
    /// The stack that it belongs to.
    pub(crate) stack: String,
    /// Random, made once: the name of this cloud wherever it listens.
    pub(crate) identity: String,
    /// The tables that were made: from then on they must be there.
    pub(crate) tables: Vec<String>,
    /// The buckets that were made: likewise.
    #[serde(default)]
    pub(crate) buckets: Vec<String>,
}

impl StateFolder {
    /// The stack that the state belongs to, if there is state.
    ///
    /// # Errors
    /// [`LocalError`] if the state is damaged.
    pub fn stack(&self) -> Result<Option<String>, LocalError> {
        Ok(self.manifest()?.map(|manifest| manifest.stack))
    }

    /// The name that this cloud keeps wherever it listens, if there is state.
    ///
    /// # Errors
    /// [`LocalError`] if the state is damaged.
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

    /// Checks what an earlier process left behind, or begins a new state. Nothing that is there
    /// is changed unless all is well.
    pub(crate) fn open(&self, stack: &str) -> Result<Manifest, LocalError> {
        let length = self.database().metadata().map(|file| file.len()).ok();
        let Some(manifest) = self.manifest()? else {
            if length.is_some() {
                return Err(
                    self.damaged(DATABASE, format!("there is no {MANIFEST} that says whose it is"))
                );
            }
            let identity = uuid::Uuid::new_v4().to_string();
            let (layout, stack) = (LAYOUT_VERSION, stack.to_owned());
            let (tables, buckets) = (Vec::new(), Vec::new());
            let manifest = Manifest { layout, stack, identity, tables, buckets };
            self.record(&manifest)?;
            return Ok(manifest);
        };
        if manifest.stack != stack {
            let (folder, theirs) = (self.path.clone(), manifest.stack);
            return Err(LocalError::OtherStack { folder, theirs, ours: stack.to_owned() });
        }
        // Going on would start an empty database where there was a full one.
        match length {
            None if !manifest.tables.is_empty() => Err(self.damaged(DATABASE, "it is gone")),
            Some(0) if !manifest.tables.is_empty() => Err(self.damaged(DATABASE, "it is empty")),
            _ => Ok(manifest),
        }
    }

    /// Records what the state consists of.
    pub(crate) fn record(&self, manifest: &Manifest) -> Result<(), LocalError> {
        self.write(MANIFEST, manifest)
    }
}
