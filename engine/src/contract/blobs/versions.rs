//! Contract tests for object versions.

use std::collections::BTreeSet;

use super::{contract_blob, contract_key, stored_bytes};
use crate::ports::{BlobVersions, Blobs, ListedVersion};

/// Checks an object store that lists and deletes versions. A store that retains only the latest
/// version of each object also passes. Before the check, the store must not contain keys that start
/// with `contract/versions`. The check removes the keys that it creates.
pub async fn blob_versions<S: Blobs + BlobVersions>(store: &S) {
    each_write_creates_a_version(store).await;
    only_the_requested_version_is_deleted(store).await;
    lists_are_complete(store).await;
}

async fn list_all(store: &dyn BlobVersions, prefix: &str) -> Vec<ListedVersion> {
    let mut versions = Vec::new();
    let mut next_page = None;
    loop {
        let page = store.list_versions(prefix, next_page.as_ref()).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        versions.extend(page.versions);
        next_page = page.next;
        if next_page.is_none() {
            return versions;
        }
    }
}

async fn delete_all(store: &dyn BlobVersions, prefix: &str) {
    for ListedVersion { key, version, .. } in list_all(store, prefix).await {
        let key = super::BlobKey::new(key);
        let Ok(key) = key else { continue };
        assert_eq!(store.delete_version(&key, &version).await, Ok(()));
    }
}

async fn each_write_creates_a_version<S: Blobs + BlobVersions>(store: &S) {
    let prefix = "contract/versions/1";
    assert_eq!(list_all(store, prefix).await, []);
    let mut version_ids = BTreeSet::new();
    for bytes in ["once", "twice", "twice"] {
        assert_eq!(store.put(contract_blob("versions/1", bytes)).await, Ok(()));
        let versions = list_all(store, prefix).await;
        let newest_version = versions
            .first()
            .map(|newest_version| (newest_version.key.as_str(), newest_version.length));
        assert_eq!(newest_version, Some((prefix, bytes.len() as u64)), "the newest is first");
        version_ids.extend(versions.into_iter().map(|version| version.version));
    }
    assert_eq!(version_ids.len(), 3, "identical bytes create another version");
    delete_all(store, prefix).await;
    assert_eq!(stored_bytes(store, &contract_key("versions/1")).await, None);
}

async fn only_the_requested_version_is_deleted<S: Blobs + BlobVersions>(store: &S) {
    let prefix = "contract/versions/2";
    let object_key = contract_key("versions/2");
    assert_eq!(store.put(contract_blob("versions/2", "x")).await, Ok(()));
    let old_versions = list_all(store, prefix).await;
    assert_eq!(store.put(contract_blob("versions/2", "x")).await, Ok(()));
    for _ in 0..2 {
        for ListedVersion { version, .. } in &old_versions {
            assert_eq!(
                store.delete_version(&object_key, version).await,
                Ok(()),
                "a repeated delete succeeds"
            );
        }
        assert!(stored_bytes(store, &object_key).await.is_some(), "the newer version is kept");
    }
    let new_versions = list_all(store, prefix).await;
    assert_eq!(new_versions.len(), 1);
    assert!(new_versions.iter().all(|version| !old_versions.contains(version)));
    delete_all(store, prefix).await;
    assert_eq!(list_all(store, prefix).await, [], "all versions are deleted");
    assert_eq!(stored_bytes(store, &object_key).await, None);
}

async fn lists_are_complete<S: Blobs + BlobVersions>(store: &S) {
    let names = ["versions-apart", "versions/A", "versions/a", "versions/a/b", "versions/b"];
    for name in names {
        assert_eq!(store.put(contract_blob(name, "x")).await, Ok(()));
    }
    let listed_keys =
        list_all(store, "contract/versions/").await.into_iter().map(|version| version.key);
    let expected_names = names.iter().filter(|name| name.starts_with("versions/"));
    assert!(
        listed_keys.eq(expected_names.map(|name| contract_key(name).as_str().to_owned())),
        "sorted"
    );
    delete_all(store, "contract/versions").await;
    assert_eq!(list_all(store, "contract/versions").await, []);
}
