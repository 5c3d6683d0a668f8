//! The last mutations of clients: what makes a repeated mutation known, however long ago its entry is.

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

/// A client's last mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMutation {
    /// Its id.
    pub id: u64,
    /// When its entry was made, Unix seconds.
    pub entry_s: u64,
}

/// The last mutation of each client that is not forgotten. One chunk: as many clients as
/// `MAX_ROOT_CLIENTS` fit, beyond which the longest idle are forgotten. Clients of sync groups have
/// names, because a pull answers with them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientMap {
    last: BTreeMap<ClientKey, LastMutation>,
    names: BTreeMap<ClientKey, ClientName>,
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
    /// Those of sync groups; absent if there is none.
    #[n(3)]
    named: Option<StoredNames>,
}

/// Clients with names, column by column.
#[derive(Encode, Decode)]
#[cbor(map)]
struct StoredNames {
    /// Which of the keys, ascending.
    #[cbor(n(0), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    clients: Vec<u32>,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    groups: Vec<String>,
    #[cbor(n(2), decode_with = "cbor::at_most::<_, _, MAX_ROOT_CLIENTS>")]
    own: Vec<String>,
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

    /// What a client is called, if it is one of a sync group.
    #[must_use]
    pub fn name(&self, client: ClientKey) -> Option<&ClientName> {
        self.names.get(&client)
    }

    /// The clients of sync groups that are called so, with their last mutations.
    pub fn named(&self) -> impl Iterator<Item = (ClientKey, &ClientName, LastMutation)> + '_ {
        self.names.iter().filter_map(|(client, name)| Some((*client, name, self.get(*client)?)))
    }

    /// Notes what a client is called: it never changes, because its key is made of it.
    pub fn note_name(&mut self, client: ClientKey, name: &ClientName) {
        if self.last.contains_key(&client) && !self.names.contains_key(&client) {
            self.names.insert(client, name.clone());
        }
    }

    /// Notes the last mutation of an entry. Neither an id nor a time goes back.
    pub fn note(&mut self, client: ClientKey, id: u64, entry_s: u64) {
        let last = self.last.entry(client).or_insert(LastMutation { id, entry_s });
        last.id = last.id.max(id);
        last.entry_s = last.entry_s.max(entry_s);
    }

    /// Forgets who was idle for more than `CLIENT_IDLE_S` at `now_s`, the time of the entry at which
    /// the snapshot is made; and then the longest idle until `MAX_ROOT_CLIENTS` are left, with
    /// `MAX_ROOT_CLIENT_NAME_BYTES` of names.
    pub fn prune(&mut self, now_s: u64) {
        self.last.retain(|_, last| now_s.saturating_sub(last.entry_s) <= CLIENT_IDLE_S);
        let beyond = self.last.len().saturating_sub(MAX_ROOT_CLIENTS);
        if beyond > 0 {
            let last = self.iter().map(|(client, last)| (last.entry_s, client));
            let longest_idle: BTreeSet<_> = last.collect();
            for (_, client) in longest_idle.into_iter().take(beyond) {
                self.last.remove(&client);
            }
        }
        self.names.retain(|client, _| self.last.contains_key(client));
        self.prune_names();
    }

    fn prune_names(&mut self) {
        let mut bytes = self.name_bytes();
        if bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
            return;
        }
        let named = self.named().map(|(client, name, last)| (last.entry_s, client, name.bytes()));
        let longest_idle: BTreeSet<_> = named.collect();
        for (_, client, of_name) in longest_idle {
            if bytes <= MAX_ROOT_CLIENT_NAME_BYTES {
                break;
            }
            bytes = bytes.saturating_sub(of_name);
            self.names.remove(&client);
            self.last.remove(&client);
        }
    }

    fn name_bytes(&self) -> usize {
        self.names.values().map(ClientName::bytes).fold(0, usize::saturating_add)
    }

    /// The chunk; none without clients.
    ///
    /// # Errors
    /// [`SnapshotError`] for more than `MAX_ROOT_CLIENTS`, or longer names: prune it first.
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
        let last = keys.iter().map(|key| ClientKey(*key)).zip(last).collect();
        let names =
            stored.named.as_ref().map_or_else(|| Ok(BTreeMap::new()), |named| named.read(keys));
        Ok(Self { last, names: names? })
    }

    fn stored_names(&self) -> StoredNames {
        let numbers = (0_u32..).zip(self.last.keys());
        let named = numbers.filter(|(_, client)| self.names.contains_key(client));
        StoredNames {
            clients: named.map(|(number, _)| number).collect(),
            groups: self.names.values().map(|name| name.group().to_owned()).collect(),
            own: self.names.values().map(|name| name.client().to_owned()).collect(),
        }
    }
}

impl StoredNames {
    fn check(&self) -> Result<(), SnapshotError> {
        let whole = self.clients.len() == self.groups.len() && self.clients.len() == self.own.len();
        let ascending = self.clients.is_sorted_by(|one, next| one < next);
        let bytes = self.groups.iter().chain(&self.own).map(String::len);
        let bytes = bytes.fold(0, usize::saturating_add);
        ensure(whole && ascending, "names of clients are not in order or not whole")?;
        ensure(bytes <= MAX_ROOT_CLIENT_NAME_BYTES, "the names of clients are too long")
    }

    fn read(&self, keys: &[[u8; 8]]) -> Result<BTreeMap<ClientKey, ClientName>, SnapshotError> {
        let names = self.clients.iter().zip(self.groups.iter().zip(&self.own));
        let named = names.map(|(number, (group, own))| {
            let key = usize::try_from(*number).ok().and_then(|number| keys.get(number));
            Some((ClientKey(*key?), ClientName::new(group, own).ok()?))
        });
        let named: Option<BTreeMap<_, _>> = named.collect();
        ensure(named.is_some(), "a name of a client is none")?;
        Ok(named.unwrap_or_default())
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
        ensure(ids && ascending && whole, "clients are not in order or not whole")?;
        self.named.as_ref().map_or(Ok(()), StoredNames::check)
    }
}
