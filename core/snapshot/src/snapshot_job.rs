//! The job of making one snapshot: what the relay puts into the queue.

use serde::Deserialize;

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_SEGMENTS, MAX_SNAPSHOT_JOB_BYTES};
use cellar_base::position::Position;

/// The version of the body that this build writes. A released version is read for ever.
const VERSION: u32 = 1;

/// Make the snapshot of one Snapshot entry. It may come twice, late and out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnapshotJob {
    /// The log.
    pub log: LogId,
    /// Where its Snapshot entry stands.
    pub position: Position,
}

/// A message that is not a snapshot job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotJobError {
    /// Longer than any job.
    #[error("a snapshot job has at most {MAX_SNAPSHOT_JOB_BYTES} bytes, this message has {bytes}")]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// Not the JSON of a job.
    #[error("the message is not a snapshot job: {why}")]
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// A job of a later Cellar.
    #[error("the snapshot job has version {version}, this build reads {VERSION}: upgrade it")]
    LaterVersion {
        /// The version.
        version: u32,
    },
    /// A segment that no log has.
    #[error("the snapshot job is for segment {segment}, segments are below {MAX_SEGMENTS}")]
    Segment {
        /// The segment.
        segment: u32,
    },
}

/// The version alone, to tell a later job from a malformed one.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version1 {
    #[serde(rename = "version")]
    _version: u32,
    log: LogId,
    segment: u32,
    num: u32,
}

impl SnapshotJob {
    /// The message's body: compact JSON, the same for the same job.
    #[must_use]
    pub fn encode(&self) -> String {
        let Self { log, position } = self;
        let (segment, num) = (position.segment(), position.num());
        // Three numbers and a UUID need no escapes.
        format!(r#"{{"version":{VERSION},"log":"{log}","segment":{segment},"num":{num}}}"#)
    }

    /// Reads a message's body.
    ///
    /// # Errors
    /// [`SnapshotJobError`] for anything that [`SnapshotJob::encode`] does not write.
    pub fn decode(body: &str) -> Result<Self, SnapshotJobError> {
        if body.len() > MAX_SNAPSHOT_JOB_BYTES {
            return Err(SnapshotJobError::TooLong { bytes: body.len() });
        }
        let malformed =
            |error: serde_json::Error| SnapshotJobError::Malformed { why: error.to_string() };
        let Versioned { version } = serde_json::from_str(body).map_err(malformed)?;
        match version {
            VERSION => {
                let Version1 { log, segment, num, .. } =
                    serde_json::from_str(body).map_err(malformed)?;
                let position = Position::new(segment, num)
                    .map_err(|_| SnapshotJobError::Segment { segment })?;
                Ok(Self { log, position })
            }
            0 => Err(SnapshotJobError::Malformed { why: "versions begin at 1".to_owned() }),
            version => Err(SnapshotJobError::LaterVersion { version }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef))
    }

    #[test]
    fn the_released_body_does_not_change() {
        let job = SnapshotJob { log: log(), position: Position::new(7, 1_000).unwrap() };
        let body =
            r#"{"version":1,"log":"01234567-89ab-cdef-0123-456789abcdef","segment":7,"num":1000}"#;
        assert_eq!(job.encode(), body);
        assert_eq!(SnapshotJob::decode(body), Ok(job));
    }

    #[test]
    fn what_is_no_job_is_told_apart() {
        let body = SnapshotJob { log: log(), position: Position::FIRST }.encode();
        let later = body.replace("\"version\":1", "\"version\":2,\"more\":true");
        assert_eq!(SnapshotJob::decode(&later), Err(SnapshotJobError::LaterVersion { version: 2 }));
        let far = body.replace("\"segment\":0", &format!("\"segment\":{MAX_SEGMENTS}"));
        let error = SnapshotJobError::Segment { segment: MAX_SEGMENTS };
        assert_eq!(SnapshotJob::decode(&far), Err(error));
        for broken in [
            body.replace("\"num\":0", "\"num\":-1"),
            body.replace("\"num\":0", "\"num\":0,\"more\":1"),
            body.replace("\"num\":0", "\"nim\":0"),
            body.replace("0123", "xyz0"),
            body.replace("\"version\":1", "\"version\":0"),
            format!("{body}{body}"),
            String::new(),
            "[]".to_owned(),
        ] {
            let error = SnapshotJob::decode(&broken).unwrap_err();
            assert!(matches!(error, SnapshotJobError::Malformed { .. }), "{broken}: {error}");
        }
    }

    #[test]
    fn the_length_ends_at_its_limit() {
        let body = SnapshotJob { log: log(), position: Position::FIRST }.encode();
        let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
        assert!(SnapshotJob::decode(&padded(MAX_SNAPSHOT_JOB_BYTES)).is_ok());
        let bytes = MAX_SNAPSHOT_JOB_BYTES + 1;
        assert_eq!(SnapshotJob::decode(&padded(bytes)), Err(SnapshotJobError::TooLong { bytes }));
    }

    proptest! {
        #[test]
        fn every_job_reads_back(id: u128, segment in 0..MAX_SEGMENTS, num: u32) {
            let log = LogId::from_uuid(uuid::Uuid::from_u128(id));
            let job = SnapshotJob { log, position: Position::new(segment, num).unwrap() };
            prop_assert_eq!(SnapshotJob::decode(&job.encode()), Ok(job));
        }

        #[test]
        fn any_text_is_a_job_or_an_error(text: String) {
            let _ = SnapshotJob::decode(&text);
        }
    }
}
