use super::*;

#[test]
fn reports_a_file_that_is_not_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dynamodb.sqlite");
    std::fs::write(&path, "x".repeat(10_000)).unwrap();
    let error = open(&path).err().unwrap();
    assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x".repeat(10_000));
}

#[test]
fn stream_queries_use_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dynamodb.sqlite");
    for _ in 0..2 {
        drop(open(&path).unwrap());
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    // Queries of dynoxide 3.2.
    for query in [
        "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records
         WHERE table_name = 'T'",
        "SELECT event_name FROM _stream_records WHERE table_name = 'T' AND shard_id = 's'
         AND CAST(sequence_number AS INTEGER) > 7
         ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9",
    ] {
        let plan = format!("EXPLAIN QUERY PLAN {query}");
        let plan: String = connection.query_row(&plan, [], |row| row.get(3)).unwrap();
        assert!(plan.contains("INDEX cellar_stream_order (table_name=?"), "{plan}");
    }
}

#[test]
fn finds_a_damaged_page_on_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dynamodb.sqlite");
    drop(open(&path).unwrap());
    assert!(open(&path).is_ok());
    let mut bytes = std::fs::read(&path).unwrap();
    // Header of the second database page.
    bytes[4_096..4_196].fill(0xa5);
    for extra in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("dynamodb.sqlite{extra}")));
    }
    std::fs::write(&path, &bytes).unwrap();
    let error = open(&path).err().unwrap();
    assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
}
