//! Last mutation of each client. Makes it possible to recognize a repeated mutation, regardless of
//! the age of the original entry.

use std::collections::{BTreeMap, BTreeSet};

use minicbor::{Decode, Encode};

use crate::cbor::{self, Kind};
use crate::error::SnapshotError;
use crate::index::ensure;
use crate::packed::{Bounds, PackedObject, pack};
use cellar_base::identity::{ClientKey, ClientName};
use cellar_base::limits::{
    CLIENT_IDLE_S, MAX_MUTATION_ID, MAX_ROOT_CLIENT_NAME_BYTES, MAX_ROOT_CLIENTS,
};

/// The last mutation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMutation {
    /// Id of the mutation.
    pub id: u64,
    /// Creation time of the entry that contains the mutation, in seconds since the Unix epoch.
    pub entry_s: u64,
}

/// Last mutation of each known client, stored in one chunk. Above `MAX_ROOT_CLIENTS` clients, those
/// idle the longest are dropped. Clients in sync groups also have names, which pull responses
/// contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientMap {
    last: BTreeMap<ClientKey, LastMutation>,
    names: BTreeMap<ClientKey, ClientName>,
}

/// Encoded clients, stored column by column for better compression.
#[derive(Encode, Decode)]
#[cbor(map)]
struct StoredClients {
    /// Sorted client keys of 8 bytes each.
    #[cbor(n(0), with = "minicbor::bytes")]
    keys: Vec<u8>,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    ids: Vec<u64>,
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    entries_s: Vec<u64>,
    /// Names of clients in sync groups; absent if no client has a name.
    #[n(3)]
    named: Option<StoredNames>,
}

/// Encoded client names, stored column by column.
#[derive(Encode, Decode)]
#[cbor(map)]
struct StoredNames {
    /// Indices of named clients among the keys, in ascending order.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    clients: Vec<u32>,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    groups: Vec<String>,
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    own: Vec<String>,
}

impl ClientMap {
    /// Returns the last mutation of a client.
    #[must_use]
    pub fn get(&self, client: ClientKey) -> Option<LastMutation> {
        self.last.get(&client).copied()
    }

    /// Returns the number of clients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.last.len()
    }

    /// Returns whether there are no clients.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Iterates over all clients, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (ClientKey, LastMutation)> + '_ {
        self.last.iter().map(|(client, last)| (*client, *last))
    }

    /// Returns the name of a client, or `None` if it is not in a sync group.
    #[must_use]
    pub fn name(&self, client: ClientKey) -> Option<&ClientName> {
        self.names.get(&client)
    }

    /// Iterates over all clients in sync groups, with names and last mutations.
    pub fn named(&self) -> impl Iterator<Item = (ClientKey, &ClientName, LastMutation)> + '_ {
        self.names.iter().filter_map(|(client, name)| Some((*client, name, self.get(*client)?)))
    }

    /// Records the name of a client. The client key is derived from the name, so a client's name
    /// never changes.
    pub fn note_name(&mut self, client: ClientKey, name: &ClientName) {
        if self.last.contains_key(&client) && !self.names.contains_key(&client) {
            self.names.insert(client, name.clone());
        }
    }

    /// Records an entry's last mutation. Ids and times never decrease.
    pub fn note(&mut self, client: ClientKey, id: u64, entry_s: u64) {
        let last = self.last.entry(client).or_insert(LastMutation { id, entry_s });
        last.id = last.id.max(id);
        last.entry_s = last.entry_s.max(entry_s);
    }

    /// Drops clients that have been idle for more than `CLIENT_IDLE_S` at `now_s`, the creation
    /// time of the snapshot's last entry. Afterwards drops the clients idle the longest, until at
    /// most `MAX_ROOT_CLIENTS` clients and at most `MAX_ROOT_CLIENT_NAME_BYTES` of names remain.
    pub fn prune(&mut self, now_s: u64) {
        self.last.retain(|_, last| now_s.saturating_sub(last.entry_s) <= CLIENT_IDLE_S);
        let excess = self.last.len().saturating_sub(MAX_ROOT_CLIENTS);
        if excess > 0 {
            let by_time: BTreeSet<_> =
                self.iter().map(|(client, last)| (last.entry_s, client)).collect();
            for (_, client) in by_time.into_iter().take(excess) {
                self.last.remove(&client);
            }
        }
        self.names.retain(|client, _| self.last.contains_key(client));
        self.prune_names();
    }

    fn prune_names(&mut self) {
        let mut total_bytes = self.name_bytes();
        if total_bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
            return;
        }
        let named = self.named().map(|(client, name, last)| (last.entry_s, client, name.bytes()));
        let by_time: BTreeSet<_> = named.collect();
        for (_, client, name_bytes) in by_time {
            if total_bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
                break;
            }
            total_bytes = total_bytes.saturating_sub(name_bytes);
            self.names.remove(&client);
            self.last.remove(&client);
        }
    }

    fn name_bytes(&self) -> usize {
        self.names.values().map(ClientName::bytes).fold(0, usize::saturating_add)
    }

    /// Packs the clients into a chunk, or returns `None` if there are no clients.
    ///
    /// # Errors
    /// [`SnapshotError`] if the map exceeds the limits on clients or names; call
    /// [`ClientMap::prune`] first.
    pub fn pack(&self) -> Result<Option<PackedObject>, SnapshotError> {
        if self.last.is_empty() {
            return Ok(None);
        }
        let stored = StoredClients {
            keys: self.last.keys().flat_map(|client| client.0).collect(),
            ids: self.last.values().map(|last| last.id).collect(),
            entries_s: self.last.values().map(|last| last.entry_s).collect(),
            named: (!self.names.is_empty()).then(|| self.stored_names()),
        };
        stored.check()?;
        pack(&cbor::encode(Kind::Clients, &stored), Bounds::CHUNK).map(Some)
    }

    /// Decodes an uncompressed chunk. Accepts arbitrary input.
    ///
    /// # Errors
    /// [`SnapshotError`] if the chunk is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let stored: StoredClients = cbor::decode(Kind::Clients, bytes)?;
        stored.check()?;
        let (keys, _) = stored.keys.as_chunks::<8>();
        let ids_and_times = stored.ids.iter().zip(&stored.entries_s);
        let mutations =
            ids_and_times.map(|(id, entry_s)| LastMutation { id: *id, entry_s: *entry_s });
        let last = keys.iter().map(|key| ClientKey(*key)).zip(mutations).collect();
        let names = match &stored.named {
            Some(named) => named.decode_names(keys)?,
            None => BTreeMap::new(),
        };
        Ok(Self { last, names })
    }

    fn stored_names(&self) -> StoredNames {
        let indices = (0_u32..).zip(self.last.keys());
        let named = indices.filter(|(_, client)| self.names.contains_key(client));
        StoredNames {
            clients: named.map(|(index, _)| index).collect(),
            groups: self.names.values().map(|name| name.group().to_owned()).collect(),
            own: self.names.values().map(|name| name.client().to_owned()).collect(),
        }
    }
}

impl StoredNames {
    fn check(&self) -> Result<(), SnapshotError> {
        let has_equal_lengths =
            self.clients.len() == self.groups.len() && self.clients.len() == self.own.len();
        let ascending = self.clients.is_sorted_by(|one, next| one < next);
        let bytes = self.groups.iter().chain(&self.own).map(String::len);
        let bytes = bytes.fold(0, usize::saturating_add);
        ensure(has_equal_lengths && ascending, "client names are unsorted or incomplete")?;
        ensure(bytes <= MAX_ROOT_CLIENT_NAME_BYTES, "client names are too long in total")
    }

    fn decode_names(
        &self,
        keys: &[[u8; 8]],
    ) -> Result<BTreeMap<ClientKey, ClientName>, SnapshotError> {
        const INVALID: SnapshotError = SnapshotError::Shape("a client name is invalid");
        let mut names = BTreeMap::new();
        for (index, (group, own)) in self.clients.iter().zip(self.groups.iter().zip(&self.own)) {
            let key = usize::try_from(*index).ok().and_then(|index| keys.get(index));
            let key = ClientKey(*key.ok_or(INVALID)?);
            names.insert(key, ClientName::new(group, own).map_err(|_| INVALID)?);
        }
        Ok(names)
    }
}

impl StoredClients {
    fn check(&self) -> Result<(), SnapshotError> {
        let (keys, rest) = self.keys.as_chunks::<8>();
        ensure(keys.len() <= MAX_ROOT_CLIENTS, "the root has too many clients")?;
        let has_valid_ids = self.ids.iter().all(|id| *id <= MAX_MUTATION_ID);
        let ascending = keys.is_sorted_by(|one, next| one < next);
        let has_equal_lengths =
            rest.is_empty() && keys.len() == self.ids.len() && keys.len() == self.entries_s.len();
        ensure(
            has_valid_ids && ascending && has_equal_lengths,
            "clients are unsorted or incomplete",
        )?;
        self.named.as_ref().map_or(Ok(()), StoredNames::check)
    }
}
