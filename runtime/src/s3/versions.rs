//! Implements the [`BlobVersions`] port with S3. Only operator commands use this adapter. The
//! adapter is separate from [`super::blobs`] so that the Lambda bundle does not include it.

use std::cmp::Reverse;

use async_trait::async_trait;
use aws_sdk_s3::operation::list_object_versions::ListObjectVersionsOutput;
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
        marker: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        self.meter.count_object(ObjectRequest::Put, 0);
        let reply = self
            .client
            .list_object_versions()
            .bucket(&self.bucket)
            .prefix(prefix)
            .set_key_marker(marker.map(|marker| marker.key.clone()))
            .set_version_id_marker(marker.and_then(|marker| marker.version.clone()))
            .max_keys(MAX_LISTED_BLOBS.into())
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        to_version_page(&reply)
            .ok_or_else(|| PortError::permanent("S3 returned an incomplete version list"))
    }

    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        self.meter.count_object(ObjectRequest::Delete, 0);
        let delete = self.client.delete_object().bucket(&self.bucket).key(key.as_str());
        match delete.version_id(version).send().await {
            Ok(_) => Ok(()),
            Err(error) if is_absent(&error) => Ok(()),
            Err(error) => Err(port_error(&error)),
        }
    }
}

/// Merges S3's separate lists of versions and delete markers into one sorted list. Returns `None`
/// if a required field is missing.
fn to_version_page(reply: &ListObjectVersionsOutput) -> Option<VersionPage> {
    let mut ranked_versions = Vec::new();
    for version in reply.versions() {
        ranked_versions.push(RankedVersion {
            is_latest: version.is_latest() == Some(true),
            version: ListedVersion {
                key: version.key()?.to_owned(),
                version: version.version_id()?.to_owned(),
                length: u64::try_from(version.size()?).ok()?,
                modified_s: unix_seconds(version.last_modified()?)?,
            },
        });
    }
    for delete_marker in reply.delete_markers() {
        ranked_versions.push(RankedVersion {
            is_latest: delete_marker.is_latest() == Some(true),
            version: ListedVersion {
                key: delete_marker.key()?.to_owned(),
                version: delete_marker.version_id()?.to_owned(),
                length: 0,
                modified_s: unix_seconds(delete_marker.last_modified()?)?,
            },
        });
    }
    ranked_versions.sort_by_key(RankedVersion::key_then_newest_first);
    let mut next = None;
    if reply.is_truncated() == Some(true) {
        let key = reply.next_key_marker()?.to_owned();
        let version = reply.next_version_id_marker().map(str::to_owned);
        next = Some(VersionMarker { key, version });
    }
    let versions = ranked_versions.into_iter().map(|ranked| ranked.version).collect();
    Some(VersionPage { versions, next })
}

struct RankedVersion {
    is_latest: bool,
    version: ListedVersion,
}

impl RankedVersion {
    fn key_then_newest_first(&self) -> (String, Reverse<(bool, u64)>) {
        (self.version.key.clone(), Reverse((self.is_latest, self.version.modified_s)))
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_s3::primitives::DateTime;
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
        let whole = to_version_page(&reply.clone().build()).unwrap();
        let names: Vec<_> = whole.versions.iter().map(|listed| listed.version.as_str()).collect();
        assert_eq!(names, ["new", "old", "m", "before", "first"]);
        assert_eq!(whole.versions.iter().map(|listed| listed.length).sum::<u64>(), 4 * 7);
        assert_eq!(whole.next, None);
        let reply = reply.is_truncated(true);
        assert_eq!(to_version_page(&reply.clone().build()), None, "truncated without a marker");
        let next = to_version_page(&reply.next_key_marker("b").build()).unwrap().next;
        assert_eq!(next, Some(VersionMarker { key: "b".to_owned(), version: None }));
        let incomplete =
            ListObjectVersionsOutput::builder().versions(ObjectVersion::builder().build());
        assert_eq!(to_version_page(&incomplete.build()), None);
    }
}
