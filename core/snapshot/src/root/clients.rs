//! Last mutation of each client. It identifies repeated mutations, no matter how old the original
//! entry is.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::cbor::{self, Body, Kind};
use crate::error::SnapshotError;
use crate::index::ensure;
use crate::packed::{Bounds, PackedObject, pack};
use crate::saturate::to_usize;
use cellar_base::identity::{ClientKey, ClientName};
use cellar_base::limits::{
    CLIENT_IDLE_S, MAX_MUTATION_ID, MAX_ROOT_CLIENT_NAME_BYTES, MAX_ROOT_CLIENTS,
};

const CLIENT_KEY_BYTES: usize = 8;

/// Last mutation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMutation {
    /// Id of the mutation.
    pub id: u64,
    /// Creation time of the entry that contains the mutation, in seconds since the Unix epoch.
    pub entry_s: u64,
}

/// Last mutation of each known client, stored in one chunk. If there are more than
/// `MAX_ROOT_CLIENTS` clients, the longest idle clients are dropped. Clients that belong to a
/// client group also have names, which are part of pull responses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientMap {
    last_mutations: BTreeMap<ClientKey, LastMutation>,
    names: BTreeMap<ClientKey, ClientName>,
}

/// Each field is stored as a separate list, which compresses better.
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
    /// Names of the clients that belong to a client group, or `None` if no client has a name.
    #[n(3)]
    names: Option<StoredNames>,
}

#[derive(Encode, Decode)]
#[cbor(map)]
struct StoredNames {
    /// Indices of the named clients in the list of keys, in ascending order.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    clients: Vec<u32>,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    groups: Vec<String>,
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    client_names: Vec<String>,
}

impl Body for StoredClients {}

impl ClientMap {
    /// Returns the last mutation of a client.
    #[must_use]
    pub fn get(&self, client: ClientKey) -> Option<LastMutation> {
        self.last_mutations.get(&client).copied()
    }

    /// Returns the number of clients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.last_mutations.len()
    }

    /// Returns whether there are no clients.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last_mutations.is_empty()
    }

    /// Iterates over all clients, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (ClientKey, LastMutation)> + '_ {
        self.last_mutations.iter().map(|(client, mutation)| (*client, *mutation))
    }

    /// Returns the name of a client, or `None` if the client belongs to no client group.
    #[must_use]
    pub fn name(&self, client: ClientKey) -> Option<&ClientName> {
        self.names.get(&client)
    }

    /// Iterates over the clients that belong to a client group, with their names and last
    /// mutations.
    pub fn named(&self) -> impl Iterator<Item = (ClientKey, &ClientName, LastMutation)> + '_ {
        self.names.iter().filter_map(|(client, name)| Some((*client, name, self.get(*client)?)))
    }

    /// Records the name of a client. A client's name never changes, because the client key is
    /// derived from the name.
    pub fn record_name(&mut self, client: ClientKey, name: &ClientName) {
        let is_known_client = self.last_mutations.contains_key(&client);
        if is_known_client && !self.names.contains_key(&client) {
            self.names.insert(client, name.clone());
        }
    }

    /// Records the last mutation of an entry for its client. A smaller mutation id or creation time
    /// never replaces a larger one.
    pub fn record_mutation(&mut self, client: ClientKey, id: u64, entry_s: u64) {
        let mutation = self.last_mutations.entry(client).or_insert(LastMutation { id, entry_s });
        mutation.id = mutation.id.max(id);
        mutation.entry_s = mutation.entry_s.max(entry_s);
    }

    /// Drops clients that have been idle for more than `CLIENT_IDLE_S` at `now_s`, which is the
    /// creation time of the snapshot's last entry. Then drops the longest idle clients until at
    /// most `MAX_ROOT_CLIENTS` clients and `MAX_ROOT_CLIENT_NAME_BYTES` of names remain.
    pub fn prune(&mut self, now_s: u64) {
        self.last_mutations
            .retain(|_, mutation| now_s.saturating_sub(mutation.entry_s) <= CLIENT_IDLE_S);
        self.drop_excess_clients();
        self.names.retain(|client, _| self.last_mutations.contains_key(client));
        self.drop_clients_with_excess_names();
    }

    fn drop_excess_clients(&mut self) {
        let excess_count = self.last_mutations.len().saturating_sub(MAX_ROOT_CLIENTS);
        if excess_count == 0 {
            return;
        }
        let mut clients_by_time: Vec<(u64, ClientKey)> =
            self.iter().map(|(client, mutation)| (mutation.entry_s, client)).collect();
        clients_by_time.sort_unstable();
        for (_, client) in clients_by_time.into_iter().take(excess_count) {
            self.last_mutations.remove(&client);
        }
    }

    fn drop_clients_with_excess_names(&mut self) {
        let mut total_name_bytes: usize = self.names.values().map(ClientName::bytes).sum();
        if total_name_bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
            return;
        }
        let mut clients_by_time: Vec<(u64, ClientKey, usize)> = self
            .named()
            .map(|(client, name, mutation)| (mutation.entry_s, client, name.bytes()))
            .collect();
        clients_by_time.sort_unstable();
        for (_, client, name_bytes) in clients_by_time {
            if total_name_bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
                break;
            }
            total_name_bytes -= name_bytes;
            self.names.remove(&client);
            self.last_mutations.remove(&client);
        }
    }

    /// Packs the clients into a chunk. Returns `None` if there are no clients.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the clients or their names exceed the limits. Call
    /// [`ClientMap::prune`] first.
    pub fn pack(&self) -> Result<Option<PackedObject>, SnapshotError> {
        if self.last_mutations.is_empty() {
            return Ok(None);
        }
        let names = if self.names.is_empty() { None } else { Some(self.to_stored_names()) };
        let stored_clients = StoredClients {
            keys: self.last_mutations.keys().flat_map(|client| client.0).collect(),
            ids: self.last_mutations.values().map(|mutation| mutation.id).collect(),
            entries_s: self.last_mutations.values().map(|mutation| mutation.entry_s).collect(),
            names,
        };
        stored_clients.check()?;
        pack(&cbor::encode(Kind::Clients, &stored_clients), Bounds::CHUNK).map(Some)
    }

    /// Decodes an uncompressed chunk. Never panics on malformed bytes.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the chunk is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let stored_clients: StoredClients = cbor::decode(Kind::Clients, bytes)?;
        stored_clients.check()?;
        let StoredClients { keys, ids, entries_s, names: stored_names } = stored_clients;
        let (keys, _) = keys.as_chunks::<CLIENT_KEY_BYTES>();
        let mut last_mutations = BTreeMap::new();
        for (key, (id, entry_s)) in keys.iter().zip(ids.into_iter().zip(entries_s)) {
            last_mutations.insert(ClientKey(*key), LastMutation { id, entry_s });
        }
        let names = match stored_names {
            Some(stored_names) => stored_names.decode_names(keys)?,
            None => BTreeMap::new(),
        };
        Ok(Self { last_mutations, names })
    }

    fn to_stored_names(&self) -> StoredNames {
        let indexed_clients = (0_u32..).zip(self.last_mutations.keys());
        let named_clients = indexed_clients.filter(|(_, client)| self.names.contains_key(client));
        StoredNames {
            clients: named_clients.map(|(index, _)| index).collect(),
            groups: self.names.values().map(|name| name.group().to_owned()).collect(),
            client_names: self.names.values().map(|name| name.client().to_owned()).collect(),
        }
    }
}

impl StoredNames {
    fn check(&self) -> Result<(), SnapshotError> {
        let has_equal_lengths = self.clients.len() == self.groups.len()
            && self.clients.len() == self.client_names.len();
        let is_sorted = self.clients.is_sorted_by(|index, next_index| index < next_index);
        let name_lengths = self.groups.iter().chain(&self.client_names).map(String::len);
        let total_name_bytes: usize = name_lengths.sum();
        ensure(has_equal_lengths && is_sorted, "client names are unsorted or incomplete")?;
        ensure(total_name_bytes <= MAX_ROOT_CLIENT_NAME_BYTES, "client names are too long in total")
    }

    fn decode_names(
        &self,
        keys: &[[u8; CLIENT_KEY_BYTES]],
    ) -> Result<BTreeMap<ClientKey, ClientName>, SnapshotError> {
        const INVALID_NAME: SnapshotError = SnapshotError::Shape("a client name is invalid");
        let groups_and_names = self.groups.iter().zip(&self.client_names);
        let mut names = BTreeMap::new();
        for (client_index, (group, client_name)) in self.clients.iter().zip(groups_and_names) {
            let key = keys.get(to_usize(*client_index)).ok_or(INVALID_NAME)?;
            let name = ClientName::new(group, client_name).map_err(|_| INVALID_NAME)?;
            names.insert(ClientKey(*key), name);
        }
        Ok(names)
    }
}

impl StoredClients {
    fn check(&self) -> Result<(), SnapshotError> {
        let (keys, trailing_bytes) = self.keys.as_chunks::<CLIENT_KEY_BYTES>();
        ensure(keys.len() <= MAX_ROOT_CLIENTS, "the root has too many clients")?;
        let has_valid_ids = self.ids.iter().all(|id| *id <= MAX_MUTATION_ID);
        let is_sorted = keys.is_sorted_by(|key, next_key| key < next_key);
        let has_equal_lengths = trailing_bytes.is_empty()
            && keys.len() == self.ids.len()
            && keys.len() == self.entries_s.len();
        let is_valid = has_valid_ids && is_sorted && has_equal_lengths;
        ensure(is_valid, "clients are unsorted or incomplete")?;
        match &self.names {
            Some(stored_names) => stored_names.check(),
            None => Ok(()),
        }
    }
}
