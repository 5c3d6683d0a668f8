//! Records of the Entry table.

use crate::entry::{
    Content, Edits, Entry, ExternalEdits, Header, decode_edits, decode_external, decode_header,
    decode_name, decode_old_header, encode_edits_body, encode_external, encode_header, encode_name,
};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{
    AUTHOR, BODY, CLIENT, CLIENT_NAME, CREATED, EXTERNAL, HEADER, MUTATION, OLD_HEADER,
    PARTITION_KEY, SORT_KEY, TRIMMED, TYPE, VERSION,
};

const RECORD: &str = "entry";
/// Value of [`TYPE`] for a Snapshot entry.
pub const SNAPSHOT: &str = "S";
/// Value of [`TYPE`] for an End Segment.
pub const END_SEGMENT: &str = "X";
/// Value of [`TYPE`] for edits.
pub const EDITS: &str = "E";
/// Value of [`TYPE`] for an import.
pub const IMPORT: &str = "I";
const DEFAULT_VERSION: u64 = 1;

/// Returns the partition key of a segment's entries: the log UUID, followed by the segment number
/// in big-endian order.
#[must_use]
pub fn partition(log: LogId, segment: u32) -> Vec<u8> {
    [log.as_bytes().as_slice(), &segment.to_be_bytes()].concat()
}

/// Returns the key of the entry at `position`.
#[must_use]
pub fn key(log: LogId, position: Position) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, partition(log, position.segment()));
    put_number(&mut item, SORT_KEY, u64::from(position.entry_number()));
    item
}

/// Decodes only the key of an entry record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_key(item: &Item) -> Result<(LogId, Position), RecordError> {
    read_key(&Reader { record: RECORD, item })
}

/// Decodes only the key and type of an entry record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_key_and_type(item: &Item) -> Result<(LogId, Position, String), RecordError> {
    let reader = Reader { record: RECORD, item };
    let (log, position) = read_key(&reader)?;
    Ok((log, position, reader.text(TYPE)?))
}

/// Encodes an entry as a record.
///
/// # Errors
/// Returns an error if the encoder fails, which never happens for these types.
pub fn encode(entry: &Entry) -> Result<Item, RecordError> {
    let mut item = key(entry.log, entry.position);
    put_number(&mut item, CREATED, entry.created_s);
    put_text(&mut item, AUTHOR, entry.author.as_deref());
    put_bytes(&mut item, HEADER, encode_header(&entry.header)?);
    match &entry.content {
        Content::Snapshot { root, trimmed_s } => {
            put_snapshot(&mut item, root.as_deref(), *trimmed_s);
        }
        Content::EndSegment => put_text(&mut item, TYPE, Some(END_SEGMENT)),
        Content::Edits(edits) => put_edits(&mut item, entry.position, edits)?,
        Content::External(external) => put_external_edits(&mut item, entry.position, external)?,
    }
    Ok(item)
}

fn put_snapshot(item: &mut Item, root_key: Option<&str>, trimmed_s: Option<u64>) {
    put_text(item, TYPE, Some(SNAPSHOT));
    put_text(item, EXTERNAL, root_key);
    if let Some(trimmed_s) = trimmed_s {
        put_number(item, TRIMMED, trimmed_s);
    }
}

fn put_edits(item: &mut Item, position: Position, edits: &Edits) -> Result<(), RecordError> {
    put_text(item, TYPE, Some(EDITS));
    put_bytes(item, CLIENT, edits.client.0.to_vec());
    if let Some(client_name) = &edits.name {
        put_bytes(item, CLIENT_NAME, encode_name(client_name)?);
    }
    put_number(item, MUTATION, edits.first_id);
    put_body(item, encode_edits_body(position, edits)?);
    Ok(())
}

fn put_external_edits(
    item: &mut Item,
    position: Position,
    external: &ExternalEdits,
) -> Result<(), RecordError> {
    put_text(item, TYPE, Some(EDITS));
    put_text(item, EXTERNAL, Some(&external.object));
    put_bytes(item, CLIENT, external.client.0.to_vec());
    put_number(item, MUTATION, external.first_id);
    put_body(item, encode_external(position, external)?);
    Ok(())
}

/// The default version is omitted.
fn put_body(item: &mut Item, (version, body): (u64, Vec<u8>)) {
    if version != DEFAULT_VERSION {
        put_number(item, VERSION, version);
    }
    put_bytes(item, BODY, body);
}

/// Decodes an entry record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<Entry, RecordError> {
    let reader = Reader { record: RECORD, item };
    let (log, position) = read_key(&reader)?;
    Ok(Entry {
        log,
        position,
        created_s: reader.number(CREATED)?,
        author: reader.optional_text(AUTHOR)?,
        header: read_header(&reader)?,
        content: read_content(&reader, position)?,
    })
}

fn read_key(reader: &Reader<'_>) -> Result<(LogId, Position), RecordError> {
    const LOG_ID_BYTES: usize = 16;
    const SEGMENT_BYTES: usize = 4;
    let invalid_key = || reader.attribute_error(PARTITION_KEY, "a log UUID and a segment number");
    let key: [u8; LOG_ID_BYTES + SEGMENT_BYTES] = reader.array(PARTITION_KEY)?;
    let (log_id, segment) = key.split_first_chunk::<LOG_ID_BYTES>().ok_or_else(invalid_key)?;
    let segment = u32::from_be_bytes(segment.try_into().map_err(|_| invalid_key())?);
    let entry_number = reader.number_u32(SORT_KEY)?;
    let position = Position::new(segment, entry_number).map_err(|_| invalid_key())?;
    Ok((LogId::from_uuid(uuid::Uuid::from_bytes(*log_id)), position))
}

fn read_header(reader: &Reader<'_>) -> Result<Header, RecordError> {
    match reader.optional_bytes(OLD_HEADER)? {
        Some(old_header) => Ok(decode_old_header(old_header)?),
        None => Ok(decode_header(reader.bytes(HEADER)?)?),
    }
}

fn read_content(reader: &Reader<'_>, position: Position) -> Result<Content, RecordError> {
    match reader.text(TYPE)?.as_str() {
        SNAPSHOT => Ok(Content::Snapshot {
            root: reader.optional_text(EXTERNAL)?,
            trimmed_s: reader.optional_number(TRIMMED)?,
        }),
        END_SEGMENT => Ok(Content::EndSegment),
        EDITS => read_edits(reader, position),
        unknown_letter => Err(RecordError::UnknownType { letter: unknown_letter.to_owned() }),
    }
}

fn read_edits(reader: &Reader<'_>, position: Position) -> Result<Content, RecordError> {
    let version = reader.optional_number(VERSION)?.unwrap_or(DEFAULT_VERSION);
    let client = ClientKey(reader.array(CLIENT)?);
    let first_id = reader.number(MUTATION)?;
    let body = reader.bytes(BODY)?;
    if let Some(object) = reader.optional_text(EXTERNAL)? {
        let external = decode_external(version, position, client, first_id, object, body)?;
        return Ok(Content::External(external));
    }
    let edits = decode_edits(version, position, client, first_id, body)?;
    let client_name = reader.optional_bytes(CLIENT_NAME)?.map(decode_name).transpose()?;
    Ok(Content::Edits(Edits { name: client_name, ..edits }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Mutation;
    use crate::transform::SpaceMap;
    use cellar_base::identity::{ClientName, SubjectKey};
    use cellar_base::record::Attribute;
    use cellar_sheet::operation::{Operation, Undo};

    fn log() -> LogId {
        LogId::derive(&SubjectKey::new("cellar", "alice"), "budget").unwrap()
    }

    fn first() -> Entry {
        Entry::first(log(), Some("alice".into()), 1_795_246_133)
    }

    #[test]
    fn entries_without_a_body_round_trip() {
        let snapshot = Content::Snapshot { root: Some("sheets/a/roots/b".into()), trimmed_s: None };
        let trimmed = Content::Snapshot { root: None, trimmed_s: Some(1_795_246_133) };
        for content in [first().content, snapshot, trimmed, Content::EndSegment] {
            let entry = Entry { content, ..first() };
            assert_eq!(decode(&encode(&entry).unwrap()).unwrap(), entry);
        }
    }

    #[test]
    fn entries_of_edits_round_trip() {
        let (client, base) = (ClientKey([7; 8]), Position::FIRST);
        let undo = Operation::Undo(Undo { position: base });
        let blank = Mutation { base, authored: undo, committed: None };
        let other = Mutation { committed: Some(vec![]), ..blank.clone() };
        let plain =
            Edits { client, name: None, merged: None, first_id: 3, mutations: vec![blank, other] };
        let name = Some(ClientName::new("group", "tab").unwrap());
        let named = Content::Edits(Edits { name, ..plain.clone() });
        let external = Content::External(ExternalEdits {
            client,
            first_id: 3,
            count: 2,
            base,
            object: "uploads/a/b".into(),
            bytes: 9,
            sha256: [8; 32],
            map: SpaceMap::default(),
        });
        for content in [Content::Edits(plain), named, external] {
            let position = Position::new(0, 9).unwrap();
            let entry = Entry { content, position, ..first() };
            assert_eq!(decode(&encode(&entry).unwrap()).unwrap(), entry);
        }
    }

    #[test]
    fn omits_the_default_version() {
        assert!(!encode(&first()).unwrap().contains_key(VERSION));
    }

    #[test]
    fn reads_an_old_entry_without_a_summary() {
        let mut item = encode(&first()).unwrap();
        item.remove(HEADER);
        item.insert(OLD_HEADER.to_owned(), Attribute::Bytes(vec![9, 8]));
        let header = decode(&item).unwrap().header;
        assert_eq!((header.segment_bytes, header.incarnation, header.summary), (9, 8, None));
    }

    #[test]
    fn names_every_missing_attribute() {
        let whole = encode(&first()).unwrap();
        for name in [PARTITION_KEY, SORT_KEY, CREATED, TYPE, HEADER] {
            let mut item = whole.clone();
            item.remove(name);
            let error = decode(&item).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
    }

    #[test]
    fn rejects_an_unknown_type() {
        let mut item = encode(&first()).unwrap();
        item.insert(TYPE.to_owned(), Attribute::Text("Z".to_owned()));
        assert_eq!(decode(&item), Err(RecordError::UnknownType { letter: "Z".to_owned() }));
    }
}
