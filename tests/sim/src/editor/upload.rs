//! Large edits. The client uploads an object, which then becomes an entry.

use bytes::Bytes;
use cellar_engine::contract::UrlRequest;
use cellar_engine::logs::{Completion, LogError, UploadFault};
use cellar_engine::ports::{PresignedRequest, Random as _, Sha256};
use cellar_engine::sha256::sha256;
use cellar_log::append::Appended;
use cellar_log::entry::encode_external_body;
use uuid::Uuid;

use super::{Editor, REPEAT_RATE};
use crate::fleet::{Server, complete};
use crate::operations::draw_cells;
use crate::random::Rate;
use crate::rare::RareEvent;

/// Probability that an upload is never completed.
const ABANDON_RATE: Rate = Rate(1_500);
/// Probability that a client waits between an upload and its completion.
const SLEEP_RATE: Rate = Rate(1_000);
/// Probability that a client disappears after requesting a completion.
const VANISH_RATE: Rate = Rate(1_000);
/// Maximum wait before a completion, in milliseconds. Longer than the bucket keeps pending uploads.
const MAX_SLEEP_MS: u64 = 5 * 24 * 60 * 60 * 1_000;

/// The object that contains a large edit.
struct Body {
    bytes: Bytes,
    sha256: Sha256,
}

impl Editor {
    /// Uploads an edit and either completes or abandons the upload. A permanent failure is a
    /// violation and returns `None`.
    pub(super) async fn edit_large(&mut self) -> Option<()> {
        let operation_count = self.random().draw_in(1..=self.habits.batch.max(1));
        let operations: Vec<_> = (0..operation_count)
            .map(|_| draw_cells(self.random(), self.habits.text_bytes))
            .collect();
        let bytes: Bytes = encode_external_body(&operations).ok()?.into();
        let body = Body { sha256: sha256(&bytes), bytes };
        let first_id = self.next_id;
        if self.random().happens(ABANDON_RATE) {
            self.upload(&body).await?;
            self.process.world().count(RareEvent::UploadAbandoned);
            return Some(());
        }
        self.next_id += operation_count;
        loop {
            let upload_id = self.upload(&body).await?;
            if self.random().happens(SLEEP_RATE) {
                let sleep_ms = self.random().draw_mostly_small(MAX_SLEEP_MS);
                self.process.world().sleep_ms(sleep_ms).await;
            }
            let completion = self.completion(upload_id, &body, first_id);
            if self.random().happens(VANISH_RATE) {
                return self.vanish(completion).await;
            }
            match self.complete_until_answered(&completion).await {
                Ok(appended) => {
                    self.process.world().count(RareEvent::Uploaded);
                    self.record_answer(&appended);
                    return self.repeat_completion(&completion, &appended).await;
                }
                Err(LogError::Upload(UploadFault::Absent | UploadFault::TooOld)) => {
                    self.process.world().count(RareEvent::UploadAgain);
                }
                Err(error) => return self.report_failure("complete", &error),
            }
        }
    }

    /// Requests the completion once, ignores the response and disappears. The upload must either
    /// become an entry's body or be deleted.
    async fn vanish(&self, completion: Completion) -> Option<()> {
        let log = self.log;
        let complete_upload = |server| complete(server, log, completion);
        drop(
            self.fleet.ask(&self.process, "complete, and leaves".to_owned(), complete_upload).await,
        );
        self.process.world().count(RareEvent::ClientVanished);
        None
    }

    fn completion(&self, upload: Uuid, body: &Body, first_id: u64) -> Completion {
        Completion {
            upload,
            bytes: u64::try_from(body.bytes.len()).unwrap_or(u64::MAX),
            sha256: body.sha256,
            client: self.key,
            author: None,
            incarnation: 0,
            acknowledged: self.acknowledged,
            first_id,
            base: self.base,
        }
    }

    async fn complete_until_answered(&self, completion: &Completion) -> Result<Appended, LogError> {
        let (log, completion) = (self.log, completion.clone());
        let complete_upload = |server| complete(server, log, completion.clone());
        self.retry_until_final(&format!("complete upload {}", completion.upload), complete_upload)
            .await
    }

    /// Checks I14 for completions.
    async fn repeat_completion(&self, completion: &Completion, first: &Appended) -> Option<()> {
        if !self.random().happens(REPEAT_RATE) {
            return Some(());
        }
        match self.complete_until_answered(completion).await {
            Ok(again) => self.check_same_answer(first, &again),
            Err(error) => return self.report_failure("repeat the completion", &error),
        }
        Some(())
    }

    /// Uploads an object under a new name. Retries until the upload succeeds.
    async fn upload(&self, body: &Body) -> Option<Uuid> {
        let random = self.random();
        let upload_id = Uuid::from_u64_pair(random.next(), random.next());
        let (log, hash) = (self.log, body.sha256);
        let bytes = u64::try_from(body.bytes.len()).ok()?;
        loop {
            let asks = |server: Server| async move {
                server.logs.grant_upload(log, upload_id, bytes, hash).await
            };
            match self.retry_until_final("a grant to upload", asks).await {
                Ok(grant) if self.send(&grant, body).await => return Some(upload_id),
                // The URL has expired, or no response arrived.
                Ok(_) => {}
                Err(error) => return self.report_failure("be granted an upload", &error),
            }
        }
    }

    /// Uploads the object. Returns whether the object exists now.
    async fn send(&self, grant: &PresignedRequest, body: &Body) -> bool {
        let PresignedRequest { method, url, headers, .. } = grant.clone();
        let request = UrlRequest { method, url, headers, body: body.bytes.clone() };
        let process = self.process.clone();
        let effect = async move { process.world().blobs.send(&request) };
        let reply = self.process.call_bucket("upload an object".to_owned(), effect).await;
        // Status 412 means that an earlier attempt has stored the object.
        reply.is_ok_and(|reply| matches!(reply.status, 200 | 412))
    }

    fn report_failure<T>(&self, what: &str, error: &LogError) -> Option<T> {
        let name = self.process.name();
        self.process.world().report_violation(format_args!("{name} cannot {what}: {error}"));
        None
    }
}
