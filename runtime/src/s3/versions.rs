//! Versions of objects, which only commands of an operator delete: not in [`super::blobs`], since functions would
//! carry it.

use async_trait::async_trait;
use aws_sdk_s3::operation::list_object_versions::ListObjectVersionsOutput;
use aws_sdk_s3::primitives::DateTime;
use cellar_base::limits::MAX_LISTED_BLOBS;
use cellar_engine::meter::ObjectRequest;
use cellar_engine::ports::{
    BlobKey, BlobVersions, ListedVersion, PortError, VersionMarker, VersionPage,
};

use super::S3Blobs;
use super::head::{is_absent, seconds};
use crate::outcome::port_error;

#[async_trait]
impl BlobVersions for S3Blobs {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        self.meter.count_object(ObjectRequest::Put, 0);
        let answer = self
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
        page(&answer).ok_or_else(|| PortError::permanent("S3 listed half a version"))
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

/// A page as S3 answers it: versions and what says that an object was deleted, apart.
fn page(answer: &ListObjectVersionsOutput) -> Option<VersionPage> {
    let mut versions = Vec::new();
    for version in answer.versions() {
        let length = u64::try_from(version.size()?).ok()?;
        let listed = listed(version.key(), version.version_id(), version.last_modified(), length)?;
        versions.push((version.is_latest() == Some(true), listed));
    }
    for marker in answer.delete_markers() {
        let listed = listed(marker.key(), marker.version_id(), marker.last_modified(), 0)?;
        versions.push((marker.is_latest() == Some(true), listed));
    }
    let order = |(is_latest, listed): &(bool, ListedVersion)| {
        (listed.key.clone(), std::cmp::Reverse((*is_latest, listed.modified_s)))
    };
    versions.sort_by_key(order);
    let is_more = answer.is_truncated() == Some(true);
    let next = answer.next_key_marker().filter(|_| is_more).map(|key| VersionMarker {
        key: key.to_owned(),
        version: answer.next_version_id_marker().map(str::to_owned),
    });
    if is_more && next.is_none() {
        return None;
    }
    Some(VersionPage { versions: versions.into_iter().map(|(_, listed)| listed).collect(), next })
}

fn listed(
    key: Option<&str>,
    version: Option<&str>,
    modified: Option<&DateTime>,
    length: u64,
) -> Option<ListedVersion> {
    Some(ListedVersion {
        key: key?.to_owned(),
        version: version?.to_owned(),
        length,
        modified_s: seconds(modified?)?,
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
    fn versions_and_what_deletes_them_are_one_list() {
        let marker = DeleteMarkerEntry::builder().key("b").version_id("m").is_latest(true);
        let marker = marker.last_modified(DateTime::from_secs(9)).build();
        let answer = ListObjectVersionsOutput::builder()
            .versions(version("a", "new", 5, true))
            .versions(version("a", "old", 5, false))
            .versions(version("b", "before", 9, false))
            .versions(version("b", "first", 1, false))
            .delete_markers(marker);
        let whole = page(&answer.clone().build()).unwrap();
        let names: Vec<_> = whole.versions.iter().map(|listed| listed.version.as_str()).collect();
        assert_eq!(names, ["new", "old", "m", "before", "first"]);
        assert_eq!(whole.versions.iter().map(|listed| listed.length).sum::<u64>(), 4 * 7);
        assert_eq!(whole.next, None);
        let answer = answer.is_truncated(true);
        assert_eq!(page(&answer.clone().build()), None, "more, and nobody says where");
        let next = page(&answer.next_key_marker("b").build()).unwrap().next;
        assert_eq!(next, Some(VersionMarker { key: "b".to_owned(), version: None }));
        let half = ListObjectVersionsOutput::builder().versions(ObjectVersion::builder().build());
        assert_eq!(page(&half.build()), None);
    }
}
