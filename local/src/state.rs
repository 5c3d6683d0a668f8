//! The state folder: what is in it, who may use it, and whether it is whole.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::LocalError;

/// The layout of the folder; a later version of Cellar may write another.
const LAYOUT_VERSION: u32 = 1;
const MANIFEST: &str = "cloud.json";
const RUNNING: &str = "running.json";
const LOCK: &str = "lock";
const DATABASE: &str = "dynamodb.sqlite";
const EVENTS: &str = "events.sqlite";
const BUCKETS: &str = "buckets";
const BUCKET_CREDENTIALS: &str = "bucket-credentials.json";
const TEMPLATE: &str = "template.json";
const ENDPOINTS: &str = "endpoints.json";
const STOP: &str = "stop";
const PRIVATE_MODE: u32 = 0o700;
/// How often, and after which pause, a lock is tried again that somebody may only be asking for.
const LOCK_TRIES: u32 = 15;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A folder that holds all that a local cloud knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

/// What the folder says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    layout: u32,
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

/// What signs requests to the buckets; made once, random, known to this cloud only.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BucketCredentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
}

/// Not the secret: what is printed may be kept.
impl fmt::Debug for BucketCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BucketCredentials").finish_non_exhaustive()
    }
}

/// The process that runs a local cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// The URL of its API.
    pub url: String,
    /// When it started, Unix seconds.
    pub started_s: u64,
}

/// Where the parts of a running cloud are, for commands that work on them directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// The embedded DynamoDB.
    pub database_url: String,
    /// Name of its Entry table.
    pub entry_table: String,
    /// Name of its Segment table.
    pub segment_table: String,
    /// The embedded S3.
    pub buckets_url: String,
    /// Name of its bucket.
    pub bucket: String,
}

/// Who uses a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// Nobody.
    Free,
    /// A local cloud that is ready.
    By(Running),
    /// Some process that has not said who it is: a cloud that starts or ends.
    Unknown,
}

/// The exclusive right to run on a folder; ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl StateFolder {
    /// The folder at this path, whether or not it exists yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a local cloud was ever started here.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.join(MANIFEST).exists()
    }

    /// The database's file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Bytes of the database, with what is not merged into its file yet.
    #[must_use]
    pub fn database_bytes(&self) -> Option<u64> {
        let bytes = |name: String| self.path.join(name).metadata().map(|file| file.len());
        let journal = bytes(format!("{DATABASE}-wal")).unwrap_or(0);
        Some(bytes(DATABASE.to_owned()).ok()? + journal)
    }

    /// The file of the queues, and of how far each source has read its stream.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.path.join(EVENTS)
    }

    /// The template that the running cloud was started with.
    #[must_use]
    pub fn template(&self) -> PathBuf {
        self.path.join(TEMPLATE)
    }

    /// The folder of the buckets.
    #[must_use]
    pub fn buckets(&self) -> PathBuf {
        self.path.join(BUCKETS)
    }

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

    /// Who uses the folder now. The lock decides, not what is written: a killed process leaves its
    /// record behind, and process ids are used again.
    ///
    /// # Errors
    /// [`LocalError::File`] if the lock cannot be asked.
    pub fn occupancy(&self) -> Result<Occupancy, LocalError> {
        let file = match File::open(self.path.join(LOCK)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupancy::Free),
            Err(source) => return Err(self.fault("open", LOCK, source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Occupancy::Free),
            Err(TryLockError::WouldBlock) => {
                Ok(self.read_running().map_or(Occupancy::Unknown, Occupancy::By))
            }
            Err(TryLockError::Error(source)) => Err(self.fault("lock", LOCK, source)),
        }
    }

    fn read_running(&self) -> Option<Running> {
        let text = fs::read_to_string(self.path.join(RUNNING)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Asks the process that runs here to end. No signal is sent: a record may be old, and its
    /// process id somebody else's.
    ///
    /// # Errors
    /// [`LocalError::File`] if that cannot be written.
    pub fn request_stop(&self) -> Result<(), LocalError> {
        self.write_bytes(STOP, b"stop\n")
    }

    /// Whether the process that runs here is asked to end.
    pub(crate) fn stop_requested(&self) -> bool {
        self.path.join(STOP).exists()
    }

    /// Deletes everything.
    ///
    /// # Errors
    /// [`LocalError::AlreadyRunning`] if a process uses it: then nothing is deleted.
    pub fn delete(&self) -> Result<(), LocalError> {
        let lock = self.lock()?;
        let deleted = fs::remove_dir_all(&self.path);
        drop(lock);
        deleted.map_err(|source| self.fault("delete", "", source))
    }

    /// Takes the folder for this process; makes it if it is not there. What an earlier process
    /// said of itself is gone from then on.
    pub(crate) fn lock(&self) -> Result<Lock, LocalError> {
        // Other users of the machine have no business in a cloud's data.
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(PRIVATE_MODE);
        folder.create(&self.path).map_err(|source| self.fault("create", "", source))?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(PRIVATE_MODE))
            .map_err(|source| self.fault("protect", "", source))?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path.join(LOCK))
            .map_err(|source| self.fault("open", LOCK, source))?;
        self.try_lock(&file)?;
        for name in [RUNNING, ENDPOINTS, STOP] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.fault("remove", name, error));
                }
                _ => {}
            }
        }
        Ok(Lock { _file: file })
    }

    /// Somebody who only asks holds the lock for a moment: that is not "in use".
    fn try_lock(&self, file: &File) -> Result<(), LocalError> {
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(source)) => return Err(self.fault("lock", LOCK, source)),
            }
        }
        let url = self.read_running().map(|running| running.url);
        Err(LocalError::AlreadyRunning { folder: self.path.clone(), url })
    }

    fn manifest(&self) -> Result<Option<Manifest>, LocalError> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.fault("read", MANIFEST, source)),
        };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|error| LocalError::Damaged { path: path.clone(), why: error.to_string() })?;
        if manifest.layout > LAYOUT_VERSION {
            return Err(LocalError::LaterVersion { path, version: manifest.layout });
        }
        Ok(Some(manifest))
    }

    /// Checks what an earlier process left behind, or begins a new state. Nothing that is there
    /// is changed unless all is well.
    pub(crate) fn open(&self, stack: &str) -> Result<Manifest, LocalError> {
        let damaged = |why: String| LocalError::Damaged { path: self.database(), why };
        let length = self.database().metadata().map(|file| file.len()).ok();
        let Some(manifest) = self.manifest()? else {
            if length.is_some() {
                return Err(damaged(format!("there is no {MANIFEST} that says whose it is")));
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
            None if !manifest.tables.is_empty() => Err(damaged("it is gone".to_owned())),
            Some(0) if !manifest.tables.is_empty() => Err(damaged("it is empty".to_owned())),
            _ => Ok(manifest),
        }
    }

    /// Records what the state consists of.
    pub(crate) fn record(&self, manifest: &Manifest) -> Result<(), LocalError> {
        self.write(MANIFEST, manifest)
    }

    /// Records the running process, for `status` and `destroy`.
    pub(crate) fn record_running(&self, running: &Running) -> Result<(), LocalError> {
        self.write(RUNNING, running)
    }

    /// Records where the parts of the running cloud are.
    pub(crate) fn record_endpoints(&self, endpoints: &Endpoints) -> Result<(), LocalError> {
        self.write(ENDPOINTS, endpoints)
    }

    /// Where the parts of the running cloud are, with the access key and the secret key of its S3;
    /// none if none runs. Ask [`StateFolder::occupancy`] first: a killed process leaves its record
    /// behind.
    ///
    /// # Errors
    /// [`LocalError`] if the state is damaged.
    pub fn endpoints(&self) -> Result<Option<(Endpoints, String, String)>, LocalError> {
        let path = self.path.join(ENDPOINTS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.fault("read", ENDPOINTS, source)),
        };
        let endpoints = serde_json::from_str(&text)
            .map_err(|error| LocalError::Damaged { path, why: error.to_string() })?;
        let BucketCredentials { access_key, secret_key } = self.bucket_credentials()?;
        Ok(Some((endpoints, access_key, secret_key)))
    }

    /// The credentials of the buckets; makes them the first time. Whoever may read the folder may
    /// use them: the file is this user's only, like the folder.
    pub(crate) fn bucket_credentials(&self) -> Result<BucketCredentials, LocalError> {
        let path = self.path.join(BUCKET_CREDENTIALS);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| LocalError::Damaged { path, why: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let random = || uuid::Uuid::new_v4().simple().to_string();
                let (access_key, secret_key) = (random(), random() + &random());
                let made = BucketCredentials { access_key, secret_key };
                self.write(BUCKET_CREDENTIALS, &made)?;
                Ok(made)
            }
            Err(source) => Err(self.fault("read", BUCKET_CREDENTIALS, source)),
        }
    }

    /// Records the template that runs.
    pub(crate) fn record_template(&self, json: &str) -> Result<(), LocalError> {
        self.write_bytes(TEMPLATE, json.as_bytes())
    }

    fn write(&self, name: &'static str, value: &impl Serialize) -> Result<(), LocalError> {
        let mut json = serde_json::to_vec_pretty(value)
            .map_err(|error| self.fault("write", name, error.into()))?;
        json.push(b'\n');
        self.write_bytes(name, &json)
    }

    /// Writes a file whole or not at all, durably.
    fn write_bytes(&self, name: &'static str, bytes: &[u8]) -> Result<(), LocalError> {
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(self.path.join(name))?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| self.fault("write", name, source))
    }

    fn fault(&self, what: &'static str, name: &str, source: io::Error) -> LocalError {
        LocalError::File { what, path: self.path.join(name), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, StateFolder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = StateFolder::new(temporary.path().join("local"));
        (temporary, folder)
    }

    fn begun() -> (tempfile::TempDir, StateFolder) {
        let (temporary, folder) = folder();
        drop(folder.lock().unwrap());
        let manifest = folder.open("cellar").unwrap();
        fs::write(folder.database(), "x").unwrap();
        folder.record(&Manifest { tables: vec!["t".into()], ..manifest }).unwrap();
        (temporary, folder)
    }

    fn running() -> Running {
        Running { pid: 1, url: "http://127.0.0.1:1/".into(), started_s: 2 }
    }

    #[test]
    fn only_one_process_runs_on_a_folder() {
        let (_temporary, folder) = folder();
        assert_eq!(folder.occupancy().unwrap(), Occupancy::Free);
        let lock = folder.lock().unwrap();
        folder.record_running(&running()).unwrap();
        assert_eq!(folder.occupancy().unwrap(), Occupancy::By(running()));
        let error = folder.lock().unwrap_err();
        assert!(error.to_string().ends_with(", at http://127.0.0.1:1/"), "{error}");
        assert!(folder.delete().is_err());
        assert!(folder.path().exists());
        drop(lock);
        assert_eq!(folder.occupancy().unwrap(), Occupancy::Free);
        assert!(folder.lock().is_ok());
    }

    #[test]
    fn what_an_earlier_process_said_is_not_believed() {
        let (_temporary, folder) = folder();
        drop(folder.lock().unwrap());
        folder.record_running(&running()).unwrap();
        folder.request_stop().unwrap();
        let lock = folder.lock().unwrap();
        assert_eq!(folder.occupancy().unwrap(), Occupancy::Unknown);
        assert!(!folder.stop_requested());
        fs::write(folder.path().join(RUNNING), "garbage").unwrap();
        assert_eq!(folder.occupancy().unwrap(), Occupancy::Unknown);
        drop(lock);
        folder.delete().unwrap();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_question_does_not_keep_a_process_from_starting() {
        let (_temporary, folder) = folder();
        drop(folder.lock().unwrap());
        let asking = File::open(folder.path().join(LOCK)).unwrap();
        asking.lock_shared().unwrap();
        let starting = std::thread::spawn(move || folder.lock().map(drop));
        std::thread::sleep(LOCK_PAUSE * 3);
        drop(asking);
        assert!(starting.join().unwrap().is_ok());
    }

    #[test]
    fn the_folder_is_private_even_if_it_was_not() {
        let (_temporary, folder) = folder();
        fs::create_dir_all(folder.path()).unwrap();
        drop(folder.lock().unwrap());
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_was_left_behind_is_opened_again() {
        let (_temporary, folder) = begun();
        assert!(folder.exists());
        let identity = folder.identity().unwrap();
        assert_eq!(Some(folder.open("cellar").unwrap().identity), identity);
        assert_eq!(folder.stack().unwrap().as_deref(), Some("cellar"));
    }

    #[test]
    fn a_first_start_that_was_killed_can_be_repeated() {
        let (_temporary, folder) = folder();
        drop(folder.lock().unwrap());
        folder.open("cellar").unwrap();
        folder.open("cellar").unwrap();
        fs::write(folder.database(), "").unwrap();
        folder.open("cellar").unwrap();
    }

    #[test]
    fn damage_is_named_and_nothing_is_written() {
        for (name, content) in [
            (MANIFEST, Some("{")),
            (MANIFEST, Some(r#"{"layout":1,"stack":"other","identity":"x","tables":[]}"#)),
            (MANIFEST, Some(r#"{"layout":2,"stack":"cellar","identity":"x","tables":[]}"#)),
            (MANIFEST, None),
            (DATABASE, None),
            (DATABASE, Some("")),
        ] {
            let (_temporary, folder) = begun();
            let path = folder.path().join(name);
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let error = folder.open("cellar").unwrap_err();
            assert!(error.help().is_some(), "{error}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), content, "{error}");
        }
    }
}
