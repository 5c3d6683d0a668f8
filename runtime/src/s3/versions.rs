//! Implements the [`BlobVersions`] port with S3. Only operator commands use this adapter. Separate
//! from [`super::blobs`], so that the Lambda bundle does not include it.

use async_trait::async_trait;
use aws_sdk_s3::operation::list_object_versions::ListObjectVersionsOutput;
use aws_sdk_s3::primitives::DateTime;
use cellar_base::limits::MAX_LISTED_BLOBS;
use cellar_engine::meter::ObjectRequest;
use cellar_engine::ports::{
    BlobKey, BlobVersions, ListedVersion, PortError, VersionMarker, VersionPage,
};

use super::S3Blobs;
use super::head::{is_absent, unix_seconds};
use crate::outcome::port_error;

#[async_trait]
impl BlobVersions for S3Blobs {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        self.meter.count_object(ObjectRequest::Put, 0);
        let reply = self
            .client
            .list_object_versions()
            .bucket(&self.bucket)
            .prefix(prefix)
            .set_key_marker(after.map(|after| after.key.clone()))
            .set_version_id_marker(after.and_then(|after| after.version.clone()))
            .max_keys(MAX_LISTED_BLOBS.into())
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        to_page(&reply)
            .ok_or_else(|| PortError::permanent("S3 returned an incomplete version list"))
    }

    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        self.meter.count_object(ObjectRequest::Delete, 0);
        let object = self.client.delete_object().bucket(&self.bucket).key(key.as_str());
        match object.version_id(version).send().await {
            Err(error) if !is_absent(&error) => Err(port_error(&error)),
            _ => Ok(()),
        }
    }
}

/// Merges S3's separate lists of versions and delete markers into one sorted list. Returns `None`
/// if a required field is missing.
fn to_page(reply: &ListObjectVersionsOutput) -> Option<VersionPage> {
    let mut versions = Vec::new();
    for version in reply.versions() {
        let (key, id, modified) = (version.key(), version.version_id(), version.last_modified());
        let length = u64::try_from(version.size()?).ok()?;
        let is_latest = version.is_latest() == Some(true);
        versions.push((is_latest, to_listed_version(key, id, modified, length)?));
    }
    for marker in reply.delete_markers() {
        let (key, id, modified) = (marker.key(), marker.version_id(), marker.last_modified());
        let is_latest = marker.is_latest() == Some(true);
        versions.push((is_latest, to_listed_version(key, id, modified, 0)?));
    }
    // Sort by key, newest version first.
    versions.sort_by_key(|(is_latest, listed)| {
        (listed.key.clone(), std::cmp::Reverse((*is_latest, listed.modified_s)))
    });
    let mut next = None;
    if reply.is_truncated() == Some(true) {
        let key = reply.next_key_marker()?.to_owned();
        let version = reply.next_version_id_marker().map(str::to_owned);
        next = Some(VersionMarker { key, version });
    }
    Some(VersionPage { versions: versions.into_iter().map(|(_, listed)| listed).collect(), next })
}

fn to_listed_version(
    key: Option<&str>,
    version: Option<&str>,
    modified: Option<&DateTime>,
    length: u64,
) -> Option<ListedVersion> {
    Some(ListedVersion {
        key: key?.to_owned(),
        version: version?.to_owned(),
        length,
        modified_s: unix_seconds(modified?)?,
    })
}

#[cfg(test)]
mod tests {
    use aws_sdk_s3::types::{DeleteMarkerEntry, ObjectVersion};

    use super::*;

    fn version(key: &str, id: &str, modified_s: i64, is_latest: bool) -> ObjectVersion {
        let version = ObjectVersion::builder().key(key).version_id(id).is_latest(is_latest).size(7);
        version.last_modified(DateTime::from_secs(modified_s)).build()
    }

    #[test]
    fn lists_versions_and_delete_markers_together() {
        let marker = DeleteMarkerEntry::builder().key("b").version_id("m").is_latest(true);
        let marker = marker.last_modified(DateTime::from_secs(9)).build();
        let reply = ListObjectVersionsOutput::builder()
            .versions(version("a", "new", 5, true))
            .versions(version("a", "old", 5, false))
            .versions(version("b", "before", 9, false))
            .versions(version("b", "first", 1, false))
            .delete_markers(marker);
        let whole = to_page(&reply.clone().build()).unwrap();
        let names: Vec<_> = whole.versions.iter().map(|listed| listed.version.as_str()).collect();
        assert_eq!(names, ["new", "old", "m", "before", "first"]);
        assert_eq!(whole.versions.iter().map(|listed| listed.length).sum::<u64>(), 4 * 7);
        assert_eq!(whole.next, None);
        let reply = reply.is_truncated(true);
        assert_eq!(to_page(&reply.clone().build()), None, "truncated without a marker");
        let next = to_page(&reply.next_key_marker("b").build()).unwrap().next;
        assert_eq!(next, Some(VersionMarker { key: "b".to_owned(), version: None }));
        let incomplete =
            ListObjectVersionsOutput::builder().versions(ObjectVersion::builder().build());
        assert_eq!(to_page(&incomplete.build()), None);
    }
}
