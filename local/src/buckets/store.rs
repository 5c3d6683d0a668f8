//! Stores a bucket in a directory. Each object has a data file, which contains the object's bytes,
//! and a record file, which contains the metadata and the data file's name.
//!
//! The record is written last, atomically and durably. After a crash, the bucket therefore contains
//! either the complete old object or the complete new object. At startup, data files without a
//! record are deleted. Replaced and deleted objects are removed immediately; old versions are not
//! retained.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::markers::DeleteMarkers;
use super::record::{Record, file_name};
use crate::error::LocalError;

const RECORDS: &str = "objects";
const DATA: &str = "data";
const INCOMING: &str = "incoming";

/// A bucket whose objects are stored in a directory. An in-memory index contains all object
/// records.
#[derive(Debug)]
pub(super) struct Bucket {
    folder: PathBuf,
    index: Mutex<BTreeMap<String, Arc<Record>>>,
    delete_markers: DeleteMarkers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    CreateOnly,
    CreateOrReplace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreOutcome {
    /// The object is durable.
    Stored,
    Exists,
}

/// Returns a name for a new data file.
pub(super) fn new_data_name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// What a request deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deletion {
    /// The object, which leaves a delete marker.
    OfKey,
    /// The only version of the object, which leaves nothing.
    OfVersion,
}

impl Bucket {
    /// Opens the bucket directory, or creates it if it does not exist. Deletes incomplete files
    /// that an earlier process left behind.
    ///
    /// # Errors
    ///
    /// Returns [`LocalError::Damaged`] if a record cannot be read or its data file is missing.
    pub(super) fn open(folder: PathBuf) -> Result<Self, LocalError> {
        let file_error = |what, source| LocalError::File { what, path: folder.clone(), source };
        for subfolder in [RECORDS, DATA, INCOMING] {
            fs::create_dir_all(folder.join(subfolder))
                .map_err(|error| file_error("create", error))?;
        }
        let index = read_records(&folder)?;
        let data_names: BTreeSet<&str> =
            index.values().map(|record| record.data.as_str()).collect();
        let has_no_record = |file_name: &str| !data_names.contains(file_name);
        delete_files(&folder.join(INCOMING), |_| true)
            .map_err(|error| file_error("clear", error))?;
        delete_files(&folder.join(DATA), has_no_record)
            .map_err(|error| file_error("clear", error))?;
        Ok(Self { index: Mutex::new(index), delete_markers: DeleteMarkers::default(), folder })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Record>>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an empty data file. It does not belong to an object until a record contains its name.
    pub(super) fn create_data(&self, data_name: &str) -> io::Result<File> {
        File::create_new(self.data_path(data_name))
    }

    fn data_path(&self, data_name: &str) -> PathBuf {
        self.folder.join(DATA).join(data_name)
    }

    /// Deletes a data file without a record, if it exists.
    pub(super) fn delete_data(&self, data_name: &str) {
        // If the file cannot be deleted now, it is deleted when the bucket is opened again.
        let _ = fs::remove_file(self.data_path(data_name));
    }

    pub(super) fn record(&self, key: &str) -> Option<Arc<Record>> {
        self.lock().get(key).cloned()
    }

    /// The open file keeps its contents even if the object is replaced or deleted.
    pub(super) fn open_object(&self, key: &str) -> io::Result<Option<(Arc<Record>, File)>> {
        let index = self.lock();
        let Some(record) = index.get(key) else { return Ok(None) };
        let data_file = File::open(self.data_path(&record.data))?;
        Ok(Some((Arc::clone(record), data_file)))
    }

    /// The object's data file must already be complete and synced to disk. If the object exists and
    /// `write_mode` does not allow replacing it, the new data file is deleted instead.
    pub(super) fn store(&self, record: Record, write_mode: WriteMode) -> io::Result<StoreOutcome> {
        sync_folder(&self.folder.join(DATA))?;
        let record_file = self.write_record(&record)?;
        let mut index = self.lock();
        if write_mode == WriteMode::CreateOnly && index.contains_key(&record.key) {
            self.delete_data(&record.data);
            return Ok(StoreOutcome::Exists);
        }
        self.publish_record(record_file, &record.key)?;
        self.delete_markers.remove(&record.key);
        let replaced_record = index.insert(record.key.clone(), Arc::new(record));
        if let Some(replaced_record) = replaced_record {
            self.delete_data(&replaced_record.data);
        }
        Ok(StoreOutcome::Stored)
    }

    /// Returns `false` if the object does not exist.
    pub(super) fn set_tags(&self, key: &str, tags: BTreeMap<String, String>) -> io::Result<bool> {
        let mut index = self.lock();
        let Some(record) = index.get(key) else { return Ok(false) };
        let changed_record = Record { tags, ..Record::clone(record) };
        self.publish_record(self.write_record(&changed_record)?, key)?;
        index.insert(key.to_owned(), Arc::new(changed_record));
        Ok(true)
    }

    /// Other requests continue meanwhile, because the index need not be locked.
    fn write_record(&self, record: &Record) -> io::Result<NamedTempFile> {
        let mut file = NamedTempFile::new_in(self.folder.join(INCOMING))?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.as_file().sync_all()?;
        Ok(file)
    }

    /// Makes a record durable. The index must be locked.
    fn publish_record(&self, file: NamedTempFile, key: &str) -> io::Result<()> {
        let records_folder = self.folder.join(RECORDS);
        file.persist(records_folder.join(file_name(key)))?;
        sync_folder(&records_folder)
    }

    /// Deletes an object if it exists and `condition` returns true for its record. Returns whether
    /// the object was deleted.
    pub(super) fn delete(
        &self,
        key: &str,
        deletion: Deletion,
        condition: impl Fn(&Record) -> bool,
    ) -> io::Result<bool> {
        let mut index = self.lock();
        let record = match index.get(key) {
            Some(record) if condition(record) => Arc::clone(record),
            _ => return Ok(false),
        };
        let records_folder = self.folder.join(RECORDS);
        fs::remove_file(records_folder.join(file_name(key)))?;
        index.remove(key);
        if deletion == Deletion::OfKey {
            self.delete_markers.insert(key);
        }
        sync_folder(&records_folder)?;
        self.delete_data(&record.data);
        Ok(true)
    }

    /// Returns whether the object was deleted and not stored again since the server started.
    pub(super) fn has_delete_marker(&self, key: &str) -> bool {
        self.delete_markers.contains(key)
    }

    /// Calls `visit` for each object whose key starts with `prefix` and is greater than `after`.
    /// Visits the objects in key order, and stops when `visit` returns `Break`.
    pub(super) fn scan_prefix(
        &self,
        prefix: &str,
        after: Option<&str>,
        mut visit: impl FnMut(&Arc<Record>) -> ControlFlow<()>,
    ) {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.scan(start, |record| {
            if record.key.starts_with(prefix) { visit(record) } else { ControlFlow::Break(()) }
        });
    }

    /// Calls `visit` for each object whose key is at or after `start`. Visits the objects in key
    /// order, and stops when `visit` returns `Break`.
    pub(super) fn scan(
        &self,
        start: Bound<&str>,
        mut visit: impl FnMut(&Arc<Record>) -> ControlFlow<()>,
    ) {
        let index = self.lock();
        for (_key, record) in index.range::<str, _>((start, Bound::Unbounded)) {
            if visit(record).is_break() {
                return;
            }
        }
    }
}

/// Syncs a directory to disk, so that created, renamed and deleted files in it survive a crash.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn delete_files(folder: &Path, condition: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if condition(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn read_records(folder: &Path) -> Result<BTreeMap<String, Arc<Record>>, LocalError> {
    let records_folder = folder.join(RECORDS);
    let read_error =
        |source| LocalError::File { what: "read", path: records_folder.clone(), source };
    let mut records_by_key = BTreeMap::new();
    for entry in fs::read_dir(&records_folder).map_err(read_error)? {
        let path = entry.map_err(read_error)?.path();
        let record = read_record(folder, &path)
            .map_err(|why| LocalError::Damaged { path: path.clone(), why })?;
        records_by_key.insert(record.key.clone(), Arc::new(record));
    }
    Ok(records_by_key)
}

fn read_record(folder: &Path, record_path: &Path) -> Result<Record, String> {
    let bytes = fs::read(record_path).map_err(|error| error.to_string())?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if record_path.file_name() != Some(OsStr::new(&file_name(&record.key))) {
        return Err(format!("the record belongs to another object, `{}`", record.key));
    }
    // Reject names with other characters, because they could refer to a file outside the directory.
    if !record.data.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("the record contains the invalid data file name `{}`", record.data));
    }
    let metadata = folder
        .join(DATA)
        .join(&record.data)
        .metadata()
        .map_err(|error| format!("the data file of the object cannot be read: {error}"))?;
    if metadata.len() != record.length {
        return Err(format!(
            "the data file of the object has {} bytes instead of {}",
            metadata.len(),
            record.length
        ));
    }
    Ok(record)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::buckets::record::Headers;

    /// Stores an object with the given tags.
    pub(in crate::buckets) fn store(
        bucket: &Bucket,
        key: &str,
        bytes: &[u8],
        modified_s: u64,
        tags: &[(&str, &str)],
    ) -> Record {
        let data = new_data_name();
        let mut file = bucket.create_data(&data).unwrap();
        file.write_all(bytes).unwrap();
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let record = Record {
            key: key.to_owned(),
            data,
            length: bytes.len() as u64,
            modified_s,
            etag: String::new(),
            sha256: None,
            headers: Headers::default(),
            tags: tags.iter().map(text).collect(),
        };
        assert_eq!(
            bucket.store(record.clone(), WriteMode::CreateOrReplace).unwrap(),
            StoreOutcome::Stored
        );
        record
    }

    /// Returns all keys in ascending order.
    pub(in crate::buckets) fn keys(bucket: &Bucket) -> Vec<String> {
        let mut keys = vec![];
        bucket.scan(Bound::Unbounded, |record| {
            keys.push(record.key.clone());
            ControlFlow::Continue(())
        });
        keys
    }

    fn files(folder: &Path, name: &str) -> usize {
        fs::read_dir(folder.join(name)).unwrap().count()
    }

    #[test]
    fn stored_objects_survive_a_restart_and_unfinished_files_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let kept = store(&bucket, "../kept", b"kept", 7, &[("state", "pending")]);
        store(&bucket, "replaced", b"old", 7, &[]);
        let replaced = store(&bucket, "replaced", b"newer", 8, &[]);
        store(&bucket, "deleted", b"x", 7, &[]);
        assert!(bucket.delete("deleted", Deletion::OfKey, |_| true).unwrap());
        assert_eq!(
            files(folder.path(), DATA),
            2,
            "data of replaced and deleted objects is deleted"
        );
        // A crash left a data file without a record, and an incomplete record.
        let mut unfinished = bucket.create_data(&new_data_name()).unwrap();
        unfinished.write_all(b"half").unwrap();
        fs::write(folder.path().join(INCOMING).join("half"), "{").unwrap();
        drop(bucket);
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        assert_eq!(keys(&bucket), ["../kept", "replaced"]);
        assert_eq!(*bucket.record("../kept").unwrap(), kept);
        assert_eq!(*bucket.record("replaced").unwrap(), replaced);
        assert_eq!((files(folder.path(), DATA), files(folder.path(), INCOMING)), (2, 0));
    }

    #[test]
    fn does_not_replace_an_object_if_only_new_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let first = store(&bucket, "key", b"first", 7, &[]);
        let again = Record { data: new_data_name(), ..first.clone() };
        bucket.create_data(&again.data).unwrap();
        assert_eq!(bucket.store(again, WriteMode::CreateOnly).unwrap(), StoreOutcome::Exists);
        assert_eq!(*bucket.record("key").unwrap(), first);
    }

    #[test]
    fn reports_damage_without_changes() {
        let damages: [fn(&Path, &Record); 4] = [
            |folder, record| fs::write(folder.join(DATA).join(&record.data), "shor").unwrap(),
            |folder, record| fs::remove_file(folder.join(DATA).join(&record.data)).unwrap(),
            |folder, _| fs::write(folder.join(RECORDS).join(file_name("key")), "{").unwrap(),
            |folder, _| {
                let records = folder.join(RECORDS);
                fs::rename(records.join(file_name("key")), records.join(file_name("k"))).unwrap();
            },
        ];
        for damage in damages {
            let folder = tempfile::tempdir().unwrap();
            let bucket = Bucket::open(folder.path().to_owned()).unwrap();
            let record = store(&bucket, "key", b"bytes", 7, &[]);
            let name = new_data_name();
            let unfinished = bucket.create_data(&name).unwrap();
            drop((bucket, unfinished));
            damage(folder.path(), &record);
            let error = Bucket::open(folder.path().to_owned()).unwrap_err();
            assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
            assert!(folder.path().join(DATA).join(name).exists(), "an unfinished file was deleted");
        }
    }
}
