//! The template's buckets, as folders.

use std::fs;

use cellar_stacks::template::Template;

use crate::error::LocalError;
use crate::names::Names;
use crate::state::StateFolder;

const BUCKET: &str = "AWS::S3::Bucket";

/// Makes the folders of the template's buckets.
pub(crate) fn create(
    folder: &StateFolder,
    template: &Template,
    names: &Names<'_>,
) -> Result<(), LocalError> {
    for (logical_id, resource) in template.resources() {
        if resource.resource_type == BUCKET {
            let path = folder.buckets().join(names.physical(logical_id));
            fs::create_dir_all(&path).map_err(|source| LocalError::File {
                what: "create",
                path,
                source,
            })?;
        }
    }
    Ok(())
}
