//! Completions of uploads: those that become an entry, and those that are refused.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_becomes_one_entry_at_its_exact_cost() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let grant = fixture.grant(&bytes).await;
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::OK);
    assert_eq!(fixture.pending(grant.upload_id).await, Some(true));
    let request = fixture.completion(&bytes);
    let reply = fixture.complete(grant.upload_id, &request).await;
    assert_eq!(reply.status(), StatusCode::OK);
    let told = cost(&reply);
    // The client sent the PUT.
    let expected = Cost {
        object_puts: 0,
        table_requests: 1,
        object_bytes_received: told.object_bytes_received,
        ..budgets::LARGE_ENTRY.cost
    };
    assert_eq!(told, expected);
    let reply: AppendReply = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
    let results: Vec<_> =
        reply.results.iter().map(|result| (result.id, result.position, result.status)).collect();
    let appended = MutationStatus::Appended;
    assert_eq!(results, [(1, Some(at(1)), appended), (2, Some(at(1)), appended)]);
    assert_eq!(fixture.pending(grant.upload_id).await, Some(false));
    assert_eq!(fixture.shown("A1:A3").await, [(0, text(0)), (1, text(1)), (2, text(2))]);
    assert_eq!(fixture.shown("A1999:A2005").await, [(1_998, text(1_998)), (1_999, text(1_999))]);
    // A repeated completion returns the same positions and adds no entry.
    for ack in [0, 2] {
        let again = CompleteRequest { acked_id: ack, ..request.clone() };
        let reply = fixture.completed(grant.upload_id, &again).await;
        for result in reply.results {
            assert_eq!((result.position, result.status), (Some(at(1)), MutationStatus::Duplicate));
        }
        assert_eq!(fixture.head().await, at(1));
    }
    // The URL worked once: the object cannot be replaced.
    let other = vec![7; bytes.len()];
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::PRECONDITION_FAILED);
    assert!(fixture.put(&grant, &other).await.is_client_error());
    assert_eq!(fixture.shown("A1:A1").await, [(0, text(0))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_see_where_the_body_is_and_verify_it() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    fixture.completed(upload, &fixture.completion(&bytes)).await;
    let reader = fixture.cloud.client("somebody else");
    let loaded = reader.spreadsheet(fixture.created.id).load(None).await.unwrap().entries;
    let updated = reader.spreadsheet(fixture.created.id).entries_page(at(0)).await.unwrap().entries;
    for view in [&loaded[1], &updated[0]] {
        assert!(view.mutations.is_empty());
        let external = view.external_body.as_ref().unwrap();
        assert_eq!((external.first_id, external.count), (1, 2));
        assert!(external.axis_maps.is_empty());
        // The URL needs no token, and permits only reads.
        let url = external.url.as_deref().unwrap();
        let fetched = fixture.http.get(url).send().await.unwrap();
        assert_eq!(fetched.status(), StatusCode::OK);
        let fetched = fetched.bytes().await.unwrap();
        assert_eq!(u64::try_from(fetched.len()).unwrap(), external.bytes);
        assert_eq!(hexadecimal(&sha256(&fetched)), external.sha256);
        assert_eq!(decode_external_body(&fetched).unwrap(), [cells(0, 1_000), cells(1_000, 1_000)]);
        assert!(fixture.http.delete(url).send().await.unwrap().status().is_client_error());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_read_where_its_rows_have_moved_to() {
    let fixture = Fixture::start().await;
    let bytes = encode_external_body(&[cells(0, 5)]).unwrap();
    let upload = fixture.uploaded(&bytes).await;
    // Meanwhile another client inserts two rows after the third.
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 3, count: 2 };
    let insert = Operation::InsertRows(insert);
    let append = append_one(fixture.created, "other", 1, fixture.created.head, insert);
    fixture.cloud.client("bob").spreadsheet(fixture.created.id).append(&append).await.unwrap();
    let reply = fixture.completed(upload, &fixture.completion(&bytes)).await;
    assert_eq!(reply.results[0].position, Some(at(2)));
    assert_eq!(reply.entries.len(), 1, "the entry that the client lacked");
    let moved = [(0, text(0)), (1, text(1)), (2, text(2)), (5, text(3)), (6, text(4))];
    assert_eq!(fixture.shown("A1:A20").await, moved);
    let view =
        fixture.cloud.client("carol").spreadsheet(fixture.created.id).load(None).await.unwrap();
    let moved = &view.entries[2].external_body.as_ref().unwrap().axis_maps;
    assert_eq!((moved.len(), moved[0].rows[0], moved[0].rows[1].1), (1, (0, 0, 3), 5));
    // Later inserts move the edit as well.
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    let append = append_one(fixture.created, "other", 2, at(2), Operation::InsertRows(insert));
    fixture.cloud.client("bob").spreadsheet(fixture.created.id).append(&append).await.unwrap();
    assert_eq!(fixture.shown("A1:A3").await, [(1, text(0)), (2, text(1))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_what_was_announced_is_refused_and_changes_nothing() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let grant = fixture.grant(&bytes).await;
    // Nothing was uploaded yet.
    let good = fixture.completion(&bytes);
    assert_eq!(fixture.refused(grant.upload_id, &good).await.kind, ProblemKind::InvalidUpload);
    // Bytes that differ from the grant are refused.
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(fixture.put(&grant, &other).await.is_client_error());
    assert_eq!(fixture.refused(grant.upload_id, &good).await.kind, ProblemKind::InvalidUpload);
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::OK);
    let sha_of_other = hexadecimal(&sha256(&other));
    for (request, kind) in [
        (CompleteRequest { sha256: sha_of_other, ..good.clone() }, ProblemKind::InvalidUpload),
        (CompleteRequest { bytes: good.bytes + 1, ..good.clone() }, ProblemKind::InvalidUpload),
        (CompleteRequest { sha256: "x".into(), ..good.clone() }, ProblemKind::InvalidRequest),
        (CompleteRequest { first_id: 0, ..good.clone() }, ProblemKind::InvalidUpload),
        (CompleteRequest { first_id: 2, ..good.clone() }, ProblemKind::MutationGap),
        (CompleteRequest { base: at(99), ..good.clone() }, ProblemKind::UnknownBase),
        (
            CompleteRequest { incarnation: good.incarnation ^ 1, ..good.clone() },
            ProblemKind::ReloadRequired,
        ),
        (CompleteRequest { client_id: String::new(), ..good.clone() }, ProblemKind::InvalidRequest),
    ] {
        assert_eq!(fixture.refused(grant.upload_id, &request).await.kind, kind, "{request:?}");
    }
    assert_eq!(fixture.head().await, at(0));
    assert_eq!(fixture.pending(grant.upload_id).await, Some(true), "the object still expires");
    // An append has already committed a part of the mutations.
    let append = append_one(fixture.created, "client", 1, at(0), set_numbers(&[1.0]));
    fixture.cloud.client("alice").spreadsheet(fixture.created.id).append(&append).await.unwrap();
    assert_eq!(fixture.refused(grant.upload_id, &good).await.kind, ProblemKind::MutationOverlap);
    let behind = CompleteRequest { first_id: 2, acked_id: 1, ..good };
    assert_eq!(fixture.completed(grant.upload_id, &behind).await.results[0].position, Some(at(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_nobody_could_read_never_becomes_an_entry() {
    let fixture = Fixture::start().await;
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    let many = |count| vec![cells(0, 1); count];
    let beyond = cells(u32::MAX - 1, 1);
    for (name, bytes) in [
        ("garbage", b"garbage".to_vec()),
        ("one byte", vec![1]),
        ("zeros", vec![0; 100]),
        ("an insert", encode_external_body(&[Operation::InsertRows(insert)]).unwrap()),
        ("nothing", encode_external_body(&[]).unwrap()),
        ("a row beyond the last", encode_external_body(&[beyond]).unwrap()),
        ("cut", body()[..100].to_vec()),
    ] {
        let upload = fixture.uploaded(&bytes).await;
        let problem = fixture.refused(upload, &fixture.completion(&bytes)).await;
        assert_eq!(problem.kind, ProblemKind::InvalidUpload, "{name}: {problem:?}");
        assert_eq!(fixture.head().await, at(0), "{name}");
    }
    let most = encode_external_body(&many(MAX_MUTATIONS_PER_REQUEST)).unwrap();
    let upload = fixture.uploaded(&most).await;
    let reply = fixture.completed(upload, &fixture.completion(&most)).await;
    assert_eq!(reply.results.len(), MAX_MUTATIONS_PER_REQUEST);
    // The maximum length is granted; one byte more is refused.
    let sha = hexadecimal(&sha256(b""));
    let most = u64::try_from(MAX_UPLOAD_BYTES).unwrap();
    for (bytes, status) in [(most, 200), (most + 1, 413), (u64::MAX, 413)] {
        let reply = fixture.try_grant(fixture.created.id, bytes, &sha).await;
        assert_eq!(reply.status().as_u16(), status, "{bytes}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_of_one_spreadsheet_and_for_who_may_write_there() {
    let mut fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    let request = CreateRequest::new("another".to_owned());
    let other = fixture.cloud.client("alice").create(&request).await.unwrap();
    let good = fixture.completion(&bytes);
    let path = format!("{}/uploads/{upload}/complete", other.id);
    let refused = problem(fixture.post(&path, &good).await).await;
    assert_eq!(refused.kind, ProblemKind::InvalidUpload);
    let unknown = LogId::from_uuid(Uuid::from_bytes([9; 16]));
    let sha = good.sha256.clone();
    assert_eq!(fixture.try_grant(unknown, 1, &sha).await.status(), StatusCode::NOT_FOUND);
    let not_an_id = format!("{}/uploads/not-an-id/complete", fixture.created.id);
    assert_eq!(fixture.post(&not_an_id, &good).await.status(), StatusCode::NOT_FOUND);
    fixture.token = fixture.cloud.token("alice", Role::Viewer);
    assert_eq!(fixture.complete(upload, &good).await.status(), StatusCode::FORBIDDEN);
    let grant = fixture.try_grant(fixture.created.id, 1, &sha).await;
    assert_eq!(grant.status(), StatusCode::FORBIDDEN);
    fixture.token = fixture.cloud.token_for("alice", Role::Editor, vec![other.id]);
    assert_eq!(fixture.complete(upload, &good).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(fixture.head().await, at(0));
}

/// A body whose operations take `megabytes` of memory, but whose object is small.
fn body_of_memory(first_row: u32, megabytes: u32) -> Vec<u8> {
    let long_text = "long".repeat(MAX_TEXT_BYTES / 4);
    let edit = |row| CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(long_text.clone())),
        formula: None,
        format: None,
    };
    let rows = first_row..first_row + megabytes * 16;
    let set = SetCells { sheet: SheetId::FIRST, cells: rows.map(edit).collect() };
    encode_external_body(&[Operation::SetCells(set)]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_together_exceed_a_replay_stay_readable() {
    let fixture = Fixture::start().await;
    let mut head = fixture.created.head;
    for number in 0..3 {
        let bytes = body_of_memory(number * 1_000, 24);
        let upload = fixture.uploaded(&bytes).await;
        let request = CompleteRequest {
            acked_id: number.into(),
            first_id: u64::from(number) + 1,
            base: head,
            ..fixture.completion(&bytes)
        };
        fixture.completed(upload, &request).await;
        head = fixture.head().await;
        assert_eq!(head, at(2 * (number + 1)), "a Snapshot entry follows the upload");
    }
    let spreadsheet = fixture.cloud.client("alice").spreadsheet(fixture.created.id);
    let query = CellsQuery::of_range("A2001:A2001");
    let started = Instant::now();
    // The last snapshots may not be built yet.
    while let Err(error) = spreadsheet.cells_page(&query).await {
        assert!(started.elapsed() < SNAPSHOT_PATIENCE, "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
