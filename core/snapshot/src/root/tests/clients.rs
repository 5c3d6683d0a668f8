//! Tests of the last mutations of clients.

use proptest::collection::btree_map;

use super::*;

/// Returns clients whose keys and ids are incompressible.
fn many_clients(count: usize) -> ClientMap {
    let mut map = ClientMap::default();
    for client in 0..count as u64 {
        let hash = blake3::hash(&client.to_le_bytes());
        let part = |at: usize| hash.as_bytes()[at..at + 8].try_into().unwrap();
        let id = u64::from_le_bytes(part(8)) & MAX_MUTATION_ID;
        let entry_s = 2_000_000_000 + u64::from_le_bytes(part(16)) % CLIENT_IDLE_S;
        map.record_mutation(ClientKey(part(0)), id, entry_s);
    }
    map
}

#[test]
fn the_maximum_number_of_clients_fits_into_a_chunk() {
    let most = many_clients(MAX_ROOT_CLIENTS);
    let object = most.pack().unwrap().unwrap();
    assert!(object.stored.len() <= MAX_STORED_CHUNK_BYTES);
    let mut more = many_clients(MAX_ROOT_CLIENTS + 1);
    assert!(more.pack().is_err());
    let longest_idle = more.iter().min_by_key(|(client, last)| (last.entry_s, *client)).unwrap().0;
    more.prune(2_000_000_000);
    assert_eq!((more.len(), more.get(longest_idle)), (MAX_ROOT_CLIENTS, None));
    assert!(more.pack().is_ok());
    // Decoding also rejects more than the maximum number of clients.
    let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
    assert_eq!(ClientMap::decode(&bytes).unwrap(), most);
}

#[test]
fn idle_clients_are_dropped_after_ninety_days() {
    let (idle, active) = (ClientKey([1; 8]), ClientKey([2; 8]));
    let mut map = ClientMap::default();
    map.record_mutation(idle, 5, 1_000);
    map.record_mutation(active, 7, 1_001);
    // Recording an older mutation never decreases the id or the time.
    map.record_mutation(active, 6, 900);
    assert_eq!(map.get(active), Some(LastMutation { id: 7, entry_s: 1_001 }));
    map.prune(1_000 + CLIENT_IDLE_S);
    assert_eq!(map.len(), 2);
    map.prune(1_000 + CLIENT_IDLE_S + 1);
    assert_eq!((map.get(idle), map.len()), (None, 1));
    map.prune(u64::MAX);
    assert!(map.is_empty());
    assert_eq!(map.pack(), Ok(None));
}

#[test]
fn the_names_of_clients_are_bounded() {
    let longest = 2 * MAX_CLIENT_ID_BYTES;
    let count = MAX_ROOT_CLIENT_NAME_BYTES / longest;
    let mut map = many_clients(count + 1);
    let clients: Vec<ClientKey> = map.iter().map(|(client, _)| client).collect();
    let name = |number: usize, bytes: usize| {
        let own = format!("{number:0>bytes$}");
        ClientName::new(&"g".repeat(bytes), &own).unwrap()
    };
    for (number, client) in clients.iter().enumerate().skip(1) {
        map.record_name(*client, &name(number, MAX_CLIENT_ID_BYTES));
    }
    assert!(map.pack().is_ok(), "as many as may be");
    let before = map.clone();
    map.prune(2_000_000_000);
    assert_eq!(map, before, "nothing is forgotten");
    map.record_name(clients[0], &name(0, 1));
    assert!(map.pack().is_err(), "two bytes more");
    map.prune(2_000_000_000);
    assert_eq!(map.len(), count, "the client that was idle longest is dropped");
    assert!(map.pack().is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_clients_read_back(clients in btree_map(any::<[u8; 8]>(), (0..=MAX_MUTATION_ID, any::<u64>()), 1..40)) {
        let mut map = ClientMap::default();
        clients.iter().for_each(|(key, (id, entry_s))| map.record_mutation(ClientKey(*key), *id, *entry_s));
        let object = map.pack().unwrap().unwrap();
        let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
        prop_assert_eq!(ClientMap::decode(&bytes).unwrap(), map);
        prop_assert!((0..bytes.len()).all(|cut| ClientMap::decode(&bytes[..cut]).is_err()));
    }
}
