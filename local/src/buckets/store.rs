//! One bucket, as a folder: a file for each object's bytes, and a record that names it.
//!
//! The record is the object: it is written last, whole and durably, so that a process that is
//! killed leaves the old object or the new one, and never half of one. What no record names is
//! removed at the next start. Replaced and deleted objects are gone at once: there are no versions
//! but the newest.

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

/// A bucket; the index in memory says the same as the records on the disk.
#[derive(Debug)]
pub(super) struct Bucket {
    folder: PathBuf,
    index: Mutex<BTreeMap<String, Arc<Record>>>,
}

/// What came of storing an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// It is there, durably.
    Stored,
    /// It was only to be stored where no object is.
    Exists,
}

impl Bucket {
    /// Makes the folder if it is not there, or checks what is in it and clears away what an ended
    /// process has not finished.
    ///
    /// # Errors
    /// [`LocalError::Damaged`] for a record that cannot be read or whose bytes are gone.
    pub(super) fn open(folder: PathBuf) -> Result<Self, LocalError> {
        let fault = |what, source| LocalError::File { what, path: folder.clone(), source };
        for name in [RECORDS, DATA, INCOMING] {
            fs::create_dir_all(folder.join(name)).map_err(|error| fault("create", error))?;
        }
        let index = read_records(&folder)?;
        let named: BTreeSet<&str> = index.values().map(|record| record.data.as_str()).collect();
        let unfinished = |name: &str| !named.contains(name);
        clear(&folder.join(INCOMING), |_| true).map_err(|error| fault("clear", error))?;
        clear(&folder.join(DATA), unfinished).map_err(|error| fault("clear", error))?;
        Ok(Self { index: Mutex::new(index), folder })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Record>>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new file for bytes, and its name; it counts for nothing until a record names it.
    pub(super) fn new_data(&self) -> io::Result<(File, String)> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        Ok((File::create_new(self.data(&name))?, name))
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.join(DATA).join(name)
    }

    /// Removes bytes that no record names.
    pub(super) fn drop_data(&self, name: &str) {
        // What stays is removed at the next start.
        let _ = fs::remove_file(self.data(name));
    }

    /// The record of an object.
    pub(super) fn record(&self, key: &str) -> Option<Arc<Record>> {
        self.lock().get(key).cloned()
    }

    /// The record of an object and its bytes: those that belong to it, whatever comes after.
    pub(super) fn read(&self, key: &str) -> io::Result<Option<(Arc<Record>, File)>> {
        let index = self.lock();
        let Some(record) = index.get(key) else { return Ok(None) };
        Ok(Some((Arc::clone(record), File::open(self.data(&record.data))?)))
    }

    /// Makes a record the object of its key. Its bytes are in their file, and durable.
    pub(super) fn store(&self, record: Record, only_new: bool) -> io::Result<Stored> {
        sync(&self.folder.join(DATA))?;
        let mut index = self.lock();
        if only_new && index.contains_key(&record.key) {
            return Ok(Stored::Exists);
        }
        self.write(&record)?;
        if let Some(replaced) = index.insert(record.key.clone(), Arc::new(record)) {
            self.drop_data(&replaced.data);
        }
        Ok(Stored::Stored)
    }

    /// Changes the tags of an object; says whether there is one.
    pub(super) fn set_tags(&self, key: &str, tags: BTreeMap<String, String>) -> io::Result<bool> {
        let mut index = self.lock();
        let Some(record) = index.get(key) else { return Ok(false) };
        let changed = Record { tags, ..Record::clone(record) };
        self.write(&changed)?;
        index.insert(key.to_owned(), Arc::new(changed));
        Ok(true)
    }

    fn write(&self, record: &Record) -> io::Result<()> {
        let records = self.folder.join(RECORDS);
        let mut file = tempfile::NamedTempFile::new_in(self.folder.join(INCOMING))?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.as_file().sync_all()?;
        file.persist(records.join(file_name(&record.key)))?;
        sync(&records)
    }

    /// Deletes an object, if it is there and `due` says so of it.
    pub(super) fn delete(&self, key: &str, due: impl Fn(&Record) -> bool) -> io::Result<bool> {
        let mut index = self.lock();
        let Some(record) = index.get(key).filter(|record| due(record)).cloned() else {
            return Ok(false);
        };
        let records = self.folder.join(RECORDS);
        fs::remove_file(records.join(file_name(key)))?;
        index.remove(key);
        sync(&records)?;
        self.drop_data(&record.data);
        Ok(true)
    }

    /// Objects whose keys begin with `prefix`, in their order, behind `after`; `take` says when it has enough.
    pub(super) fn scan_below(
        &self,
        prefix: &str,
        after: Option<&str>,
        mut take: impl FnMut(&Arc<Record>) -> bool,
    ) {
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.scan(from, |record| record.key.starts_with(prefix) && take(record));
    }

    /// Objects in the order of their keys, from a key on; `take` says when it has enough.
    pub(super) fn scan(&self, from: Bound<&str>, mut take: impl FnMut(&Arc<Record>) -> bool) {
        for record in self.lock().range::<str, _>((from, Bound::Unbounded)).map(|(_, it)| it) {
            if !take(record) {
                return;
            }
        }
    }
}

/// Makes what happened to the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn clear(folder: &Path, unfinished: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if unfinished(&entry.file_name().to_string_lossy()) {
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
        return Err(format!("it is the record of another object, `{}`", record.key));
    }
    // Names that were given here have no other characters, and so lead nowhere else.
    if !record.data.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err("it names a file that is not of this bucket".to_owned());
    }
    match folder.join(DATA).join(&record.data).metadata() {
        Ok(data) if data.len() == record.length => Ok(record),
        Ok(data) => Err(format!("its object has {} bytes, not {}", data.len(), record.length)),
        Err(error) => Err(format!("its object cannot be read: {error}")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::buckets::record::Headers;

    /// Stores an object with these tags.
    pub(in crate::buckets) fn store(
        bucket: &Bucket,
        key: &str,
        bytes: &[u8],
        modified_s: u64,
        tags: &[(&str, &str)],
    ) -> Record {
        let (mut file, data) = bucket.new_data().unwrap();
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
        assert_eq!(bucket.store(record.clone(), false).unwrap(), Stored::Stored);
        record
    }

    /// All keys, ascending.
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
    fn what_was_stored_is_there_after_a_restart_and_what_was_not_finished_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let kept = store(&bucket, "../kept", b"kept", 7, &[("state", "pending")]);
        store(&bucket, "replaced", b"old", 7, &[]);
        let replaced = store(&bucket, "replaced", b"newer", 8, &[]);
        store(&bucket, "deleted", b"x", 7, &[]);
        assert!(bucket.delete("deleted", |_| true).unwrap());
        assert_eq!(files(folder.path(), DATA), 2, "replaced and deleted bytes are gone");
        // As a killed process leaves them: bytes that no record names, and half a record.
        let (mut unfinished, _) = bucket.new_data().unwrap();
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
    fn an_object_is_only_stored_where_none_is_if_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let first = store(&bucket, "key", b"first", 7, &[]);
        let again = Record { data: bucket.new_data().unwrap().1, ..first.clone() };
        assert_eq!(bucket.store(again, true).unwrap(), Stored::Exists);
        assert_eq!(*bucket.record("key").unwrap(), first);
    }

    #[test]
    fn damage_is_named_and_nothing_is_changed() {
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
            let (unfinished, name) = bucket.new_data().unwrap();
            drop((bucket, unfinished));
            damage(folder.path(), &record);
            let error = Bucket::open(folder.path().to_owned()).unwrap_err();
            assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
            assert!(folder.path().join(DATA).join(name).exists(), "something was cleared");
        }
    }
}
