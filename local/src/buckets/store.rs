//! Stores a bucket in a directory. Each object has a data file with its bytes, and a record file
//! with its metadata and the data file's name.
//!
//! The record is written last, atomically and durably. After a crash, the bucket therefore contains
//! either the complete old object or the complete new one. Data files without a record are deleted
//! at the next start. Replaced and deleted objects are removed immediately; old versions are not
//! retained.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::{Record, file_name};
use crate::error::LocalError;

const RECORDS: &str = "objects";
const DATA: &str = "data";
const INCOMING: &str = "incoming";

/// A bucket with an in-memory index of its records.
#[derive(Debug)]
pub(super) struct Bucket {
    folder: PathBuf,
    index: Mutex<BTreeMap<String, Arc<Record>>>,
}

/// Outcome of storing an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreOutcome {
    /// The object is durable.
    Stored,
    /// The object already exists, and the request may only create a new object.
    Exists,
}

impl Bucket {
    /// Opens or creates the bucket directory. Deletes unfinished files of earlier processes.
    ///
    /// # Errors
    ///
    /// Returns [`LocalError::Damaged`] if a record cannot be read or its data file is missing.
    pub(super) fn open(folder: PathBuf) -> Result<Self, LocalError> {
        let fault = |what, source| LocalError::File { what, path: folder.clone(), source };
        for name in [RECORDS, DATA, INCOMING] {
            fs::create_dir_all(folder.join(name)).map_err(|error| fault("create", error))?;
        }
        let index = read_records(&folder)?;
        let named: BTreeSet<&str> = index.values().map(|record| record.data.as_str()).collect();
        let is_unnamed = |name: &str| !named.contains(name);
        delete_files(&folder.join(INCOMING), |_| true).map_err(|error| fault("clear", error))?;
        delete_files(&folder.join(DATA), is_unnamed).map_err(|error| fault("clear", error))?;
        Ok(Self { index: Mutex::new(index), folder })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Record>>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an empty data file and returns it with its name. The file belongs to no object until
    /// a record refers to it.
    pub(super) fn create_data(&self) -> io::Result<(File, String)> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        Ok((File::create_new(self.data_path(&name))?, name))
    }

    fn data_path(&self, name: &str) -> PathBuf {
        self.folder.join(DATA).join(name)
    }

    /// Deletes a data file without a record.
    pub(super) fn delete_data(&self, name: &str) {
        // On failure, the next start deletes the file.
        let _ = fs::remove_file(self.data_path(name));
    }

    /// Returns an object's record.
    pub(super) fn record(&self, key: &str) -> Option<Arc<Record>> {
        self.lock().get(key).cloned()
    }

    /// Returns an object's record and its open data file. Later writes do not affect the open file.
    pub(super) fn read(&self, key: &str) -> io::Result<Option<(Arc<Record>, File)>> {
        let index = self.lock();
        let Some(record) = index.get(key) else { return Ok(None) };
        Ok(Some((Arc::clone(record), File::open(self.data_path(&record.data))?)))
    }

    /// Stores an object's record. The data file must be complete and durable.
    pub(super) fn store(&self, record: Record, only_new: bool) -> io::Result<StoreOutcome> {
        sync_folder(&self.folder.join(DATA))?;
        let mut index = self.lock();
        if only_new && index.contains_key(&record.key) {
            return Ok(StoreOutcome::Exists);
        }
        self.write_record(&record)?;
        if let Some(replaced) = index.insert(record.key.clone(), Arc::new(record)) {
            self.delete_data(&replaced.data);
        }
        Ok(StoreOutcome::Stored)
    }

    /// Replaces an object's tags. Returns whether the object exists.
    pub(super) fn set_tags(&self, key: &str, tags: BTreeMap<String, String>) -> io::Result<bool> {
        let mut index = self.lock();
        let Some(record) = index.get(key) else { return Ok(false) };
        let changed = Record { tags, ..Record::clone(record) };
        self.write_record(&changed)?;
        index.insert(key.to_owned(), Arc::new(changed));
        Ok(true)
    }

    fn write_record(&self, record: &Record) -> io::Result<()> {
        let records = self.folder.join(RECORDS);
        let mut file = tempfile::NamedTempFile::new_in(self.folder.join(INCOMING))?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.as_file().sync_all()?;
        file.persist(records.join(file_name(&record.key)))?;
        sync_folder(&records)
    }

    /// Deletes an object that exists and meets `condition`. Returns whether the object was deleted.
    pub(super) fn delete(
        &self,
        key: &str,
        condition: impl Fn(&Record) -> bool,
    ) -> io::Result<bool> {
        let mut index = self.lock();
        let Some(record) = index.get(key).filter(|record| condition(record)).cloned() else {
            return Ok(false);
        };
        let records = self.folder.join(RECORDS);
        fs::remove_file(records.join(file_name(key)))?;
        index.remove(key);
        sync_folder(&records)?;
        self.delete_data(&record.data);
        Ok(true)
    }

    /// Visits the objects whose keys start with `prefix` and are greater than `after`, in key
    /// order, until `visit` returns `false`.
    pub(super) fn scan_prefix(
        &self,
        prefix: &str,
        after: Option<&str>,
        mut visit: impl FnMut(&Arc<Record>) -> bool,
    ) {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.scan(start, |record| record.key.starts_with(prefix) && visit(record));
    }

    /// Visits objects in key order, from `start` until `visit` returns `false`.
    pub(super) fn scan(&self, start: Bound<&str>, mut visit: impl FnMut(&Arc<Record>) -> bool) {
        let index = self.lock();
        for (_, record) in index.range::<str, _>((start, Bound::Unbounded)) {
            if !visit(record) {
                return;
            }
        }
    }
}

/// Syncs a directory to make file creations, renames and deletions durable.
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
    let records = folder.join(RECORDS);
    let mut index = BTreeMap::new();
    let fault = |source| LocalError::File { what: "read", path: records.clone(), source };
    for entry in fs::read_dir(&records).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let record = read_record(folder, &path)
            .map_err(|why| LocalError::Damaged { path: path.clone(), why })?;
        index.insert(record.key.clone(), Arc::new(record));
    }
    Ok(index)
}

fn read_record(folder: &Path, path: &Path) -> Result<Record, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if path.file_name().is_none_or(|name| name != file_name(&record.key).as_str()) {
        return Err(format!("it is the record of another object: `{}`", record.key));
    }
    // Other characters could refer to a file outside the directory.
    if !record.data.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("it names the invalid data file `{}`", record.data));
    }
    match folder.join(DATA).join(&record.data).metadata() {
        Ok(data) if data.len() == record.length => Ok(record),
        Ok(data) => Err(format!("its data file has {} bytes, not {}", data.len(), record.length)),
        Err(error) => Err(format!("its data file cannot be read: {error}")),
    }
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
        let (mut file, data) = bucket.create_data().unwrap();
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
        assert_eq!(bucket.store(record.clone(), false).unwrap(), StoreOutcome::Stored);
        record
    }

    /// Returns all keys in ascending order.
    pub(in crate::buckets) fn keys(bucket: &Bucket) -> Vec<String> {
        let mut keys = vec![];
        bucket.scan(Bound::Unbounded, |record| {
            keys.push(record.key.clone());
            true
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
        assert!(bucket.delete("deleted", |_| true).unwrap());
        assert_eq!(
            files(folder.path(), DATA),
            2,
            "data of replaced and deleted objects is deleted"
        );
        // A crash leaves a data file without a record, and an incomplete record.
        let (mut unfinished, _) = bucket.create_data().unwrap();
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
        let again = Record { data: bucket.create_data().unwrap().1, ..first.clone() };
        assert_eq!(bucket.store(again, true).unwrap(), StoreOutcome::Exists);
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
            let (unfinished, name) = bucket.create_data().unwrap();
            drop((bucket, unfinished));
            damage(folder.path(), &record);
            let error = Bucket::open(folder.path().to_owned()).unwrap_err();
            assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
            assert!(folder.path().join(DATA).join(name).exists(), "an unfinished file was deleted");
        }
    }
}
