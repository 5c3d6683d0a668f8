//! Uploads that are completed late, never or twice, or whose base was trimmed.

use super::*;

/// The real time plus an offset.
struct LaterClock {
    by_ms: u64,
}

#[async_trait]
impl Clock for LaterClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.by_ms
    }
    async fn sleep_ms(&self, delay_ms: u64) {
        SystemClock.sleep_ms(delay_ms).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_never_completed_disappears_and_one_that_was_stays() {
    let fixture = Fixture::start().await;
    let (never, kept) = (body(), encode_external_body(&[cells(0, 3)]).unwrap());
    let never_id = fixture.uploaded(&never).await;
    let kept_id = fixture.uploaded(&kept).await;
    fixture.completed(kept_id, &fixture.completion(&kept)).await;
    let Fixture { cloud, .. } = fixture;
    // Three days, until the next midnight.
    let clock = Arc::new(LaterClock { by_ms: 4 * DAY_MS });
    let cloud = cloud.kill_and_start(Ports { clock, ..Ports::default() }).await;
    let fixture = Fixture::on(cloud).await;
    let wait = async {
        while fixture.pending(never_id).await.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the object expires");
    assert_eq!(fixture.pending(kept_id).await, Some(false));
    let request = CompleteRequest { first_id: 2, acked_id: 1, ..fixture.completion(&never) };
    assert_eq!(fixture.refused(never_id, &request).await.kind, ProblemKind::InvalidUpload);
    assert_eq!(fixture.head().await, at(1));
    assert_eq!(fixture.shown("A1:A9").await, [(0, text(0)), (1, text(1)), (2, text(2))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_relay_removes_the_tag_after_a_crash_before_it() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    // The entry of a completion without any later request.
    let (tables, _) = fixture.cloud.tables_at(&fixture.cloud.database_url);
    let entry = Upload {
        object: fixture.key(upload).as_str().to_owned(),
        bytes: u64::try_from(bytes.len()).unwrap(),
        sha256: sha256(&bytes),
        operations: decode_external_body(&bytes).unwrap().into(),
        base: at(0),
    };
    let client = ClientKey([5; 8]);
    let log = fixture.created.id;
    let request = Request::of_upload(log, client, None, FIRST_INCARNATION, 0, 1, entry).unwrap();
    let appended = TestCloud::logs(&tables).append(request).await.unwrap();
    assert_eq!(appended.tail, at(1));
    let wait = async {
        while fixture.pending(upload).await != Some(false) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the relay removes the tag");
    assert_eq!(fixture.shown("A1:A1").await, [(0, text(0))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_later_only_what_was_completed_in_time_is_answered() {
    let world = OldLogs::start().await;
    let growing = world.create("a day later").await;
    let (log, logs, http) = (growing.log, world.logs(), reqwest::Client::new());
    let bytes = body();
    let length = u64::try_from(bytes.len()).unwrap();
    let uploaded = async || {
        let upload = Uuid::new_v4();
        let granted = logs.grant_upload(log, upload, length, sha256(&bytes)).await.unwrap();
        let mut request = http.put(&granted.url).body(bytes.clone());
        for (name, value) in granted.headers {
            request = request.header(name, value);
        }
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
        upload
    };
    let completion = |upload, client, first_id| Completion {
        upload,
        bytes: length,
        sha256: sha256(&bytes),
        client: ClientKey([client; 8]),
        author: None,
        incarnation: FIRST_INCARNATION,
        acknowledged: first_id - 1,
        first_id,
        base: at(0),
    };
    let (in_time, at_the_end, late) = (uploaded().await, uploaded().await, uploaded().await);
    let first = logs.complete_upload(log, completion(in_time, 1, 1)).await.unwrap();
    assert_eq!(first.results[0].position, Some(at(1)));
    let written_s = world.blobs.head(&key(log, late)).await.unwrap().unwrap().modified_s;
    let to = |now_s: u64| world.clock.advance_ms(now_s * 1_000 - world.clock.now_ms());
    // The objects were uploaded one after the other: the oldest one determines the age.
    let oldest_s = world.blobs.head(&key(log, at_the_end)).await.unwrap().unwrap().modified_s;
    to(oldest_s + MAX_UPLOAD_AGE_S);
    let second = logs.complete_upload(log, completion(at_the_end, 2, 1)).await.unwrap();
    assert_eq!(second.results[0].position, Some(at(2)));
    to(written_s + MAX_UPLOAD_AGE_S + 1);
    let refused = logs.complete_upload(log, completion(late, 3, 1)).await.unwrap_err();
    assert_eq!(refused, LogError::Upload(UploadFault::TooOld));
    for (upload, client, num) in [(in_time, 1, 1), (at_the_end, 2, 2)] {
        let again = completion(upload, client, 1);
        let again = world.logs().complete_upload(log, again).await.unwrap();
        assert!(again.results.iter().all(|result| result.duplicate));
        assert_eq!(again.results[0].position, Some(at(num)));
    }
    assert_eq!(logs.head(log, None).await.unwrap().head, at(2));
}

fn key(log: LogId, upload: Uuid) -> BlobKey {
    BlobKey::new(format!("uploads/{log}/{upload}")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_base_is_gone_is_handed_back_and_disappears() {
    let world = OldLogs::start().await;
    let mut growing = world.create("base of an upload").await;
    for _ in 0..3 {
        growing.append(set_numbers(&[1.0])).await;
        world.roll(&mut growing).await;
    }
    world.finish_snapshot(growing.log, 3).await;
    let log = growing.log;
    world.clock.advance_ms(DAY_MS);
    for planned in world.plans(log, cellar_tests::old_logs::AS_LITTLE_AS_ALLOWED).await {
        let done = world.offloader().execute(&planned).await.unwrap();
        if let Some(offload) = done.offloaded {
            world.blobs.delete(&BlobKey::new(offload).unwrap()).await.unwrap();
        }
    }
    let upload = Upload {
        object: format!("uploads/{log}/x"),
        bytes: 1,
        sha256: [0; 32],
        operations: (0..3).map(|row| cells(row, 1)).collect(),
        base: at(1),
    };
    let client = ClientKey([9; 8]);
    let request = Request::of_upload(log, client, None, FIRST_INCARNATION, 0, 1, upload).unwrap();
    let appended = world.logs().append(request).await.unwrap();
    assert_eq!(appended.results.len(), 3);
    for result in &appended.results {
        let rejection = result.rejection.as_ref().unwrap();
        assert_eq!(rejection.reason, RejectionReason::BaseGone);
    }
    let next = edit(log, 9, 4, appended.tail, set_numbers(&[2.0]));
    assert_eq!(world.logs().append(next).await.unwrap().results[0].rejection, None);
}
