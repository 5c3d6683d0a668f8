//! The last mutations of clients: what makes a repeated mutation known, however long ago its entry is.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::identity::ClientKey;
use crate::limits::{CLIENT_IDLE_S, MAX_MUTATION_ID, MAX_ROOT_CLIENTS};
use crate::snapshot::SnapshotError;
use crate::snapshot::cbor::{self, Kind};
use crate::snapshot::index::ensure;
use crate::snapshot::packed::{Bounds, PackedObject, pack};

/// A client's last mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMutation {
    /// Its id.
    pub id: u64,
    /// When its entry was made, Unix seconds.
    pub entry_s: u64,
}

/// The last mutation of each client that is not forgotten. One chunk: as many clients as
/// `MAX_ROOT_CLIENTS` fit, beyond which the longest idle are forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientMap {
    last: BTreeMap<ClientKey, LastMutation>,
}

/// Column by column: so it compresses.
#[derive(Encode, Decode)]
#[cbor(map)]
struct StoredClients {
    /// The keys, 8 bytes each, ascending.
    #[cbor(n(0), with = "minicbor::bytes")]
    keys: Vec<u8>,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    ids: Vec<u64>,
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    entries_s: Vec<u64>,
}

impl ClientMap {
    /// A client's last mutation.
    #[must_use]
    pub fn get(&self, client: ClientKey) -> Option<LastMutation> {
        self.last.get(&client).copied()
    }

    /// How many clients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.last.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// All clients by key.
    pub fn iter(&self) -> impl Iterator<Item = (ClientKey, LastMutation)> + '_ {
        self.last.iter().map(|(client, last)| (*client, *last))
    }

    /// Notes the last mutation of an entry. Neither an id nor a time goes back.
    pub fn note(&mut self, client: ClientKey, id: u64, entry_s: u64) {
        let last = self.last.entry(client).or_insert(LastMutation { id, entry_s });
        last.id = last.id.max(id);
        last.entry_s = last.entry_s.max(entry_s);
    }

    /// Forgets who was idle for more than `CLIENT_IDLE_S` at `now_s`, the time of the entry at which
    /// the snapshot is made; and then the longest idle until `MAX_ROOT_CLIENTS` are left.
    pub fn prune(&mut self, now_s: u64) {
        self.last.retain(|_, last| now_s.saturating_sub(last.entry_s) <= CLIENT_IDLE_S);
        let beyond = self.last.len().saturating_sub(MAX_ROOT_CLIENTS);
        if beyond > 0 {
            let mut idle: Vec<_> =
                self.iter().map(|(client, last)| (last.entry_s, client)).collect();
            idle.sort_unstable();
            for (_, client) in idle.into_iter().take(beyond) {
                self.last.remove(&client);
            }
        }
    }

    /// The chunk; none without clients.
    ///
    /// # Errors
    /// [`SnapshotError`] for more than `MAX_ROOT_CLIENTS`: prune it first.
    pub fn pack(&self) -> Result<Option<PackedObject>, SnapshotError> {
        if self.last.is_empty() {
            return Ok(None);
        }
        let stored = StoredClients {
            keys: self.last.keys().flat_map(|client| client.0).collect(),
            ids: self.last.values().map(|last| last.id).collect(),
            entries_s: self.last.values().map(|last| last.entry_s).collect(),
        };
        stored.check()?;
        pack(&cbor::encode(Kind::Clients, &stored), Bounds::CHUNK).map(Some)
    }

    /// Reads a chunk, unpacked; total.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let stored: StoredClients = cbor::decode(Kind::Clients, bytes)?;
        stored.check()?;
        let (keys, _) = stored.keys.as_chunks::<8>();
        let last = stored.ids.iter().zip(&stored.entries_s);
        let last = last.map(|(id, entry_s)| LastMutation { id: *id, entry_s: *entry_s });
        Ok(Self { last: keys.iter().map(|key| ClientKey(*key)).zip(last).collect() })
    }
}

impl StoredClients {
    fn check(&self) -> Result<(), SnapshotError> {
        let (keys, rest) = self.keys.as_chunks::<8>();
        ensure(keys.len() <= MAX_ROOT_CLIENTS, "there are too many clients")?;
        let ids = self.ids.iter().all(|id| *id <= MAX_MUTATION_ID);
        let ascending = keys.is_sorted_by(|one, next| one < next);
        let whole =
            rest.is_empty() && keys.len() == self.ids.len() && keys.len() == self.entries_s.len();
        ensure(ids && ascending && whole, "clients are not in order or not whole")
    }
}
